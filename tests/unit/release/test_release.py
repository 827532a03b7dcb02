"""The steps of a release, run here: what they write, what they refuse, and which tags move."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

Step = Callable[..., "subprocess.CompletedProcess[str]"]
FILES = ("pyproject.toml", "nl2sql_gate/__init__.py", "CHANGELOG.md", "action.yml", ".github/workflows/gate.yml")


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A repository with the files that carry a version, and a remote."""
    folder = tmp_path / "checkout"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "remote"], check=True)
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", str(tmp_path / "remote"))
    commit(folder, "before")
    return folder


@pytest.fixture
def step(root: Path, checkout: Path) -> Step:
    """Run one step in the checkout, with the standard library alone."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(root / "tools/release"), *arguments]
        return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)

    return run


def git(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


def commit(folder: Path, message: str, tag: str = "") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    if tag:
        git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


def test_a_release_is_prepared_checked_and_undone(step: Step, checkout: Path) -> None:
    before = {name: (checkout / name).read_text() for name in FILES}
    assert step("check", "v1.2.3").returncode == 1
    prepared = step("prepare", "1.2.3", "2026-12-01")
    assert prepared.returncode == 0, prepared.stdout + prepared.stderr
    assert step("check", "v1.2.3").stdout == "the checkout is 1.2.3\n"
    action = yaml.safe_load((checkout / "action.yml").read_text())
    assert action["runs"]["image"] == "docker://ghcr.io/nl2sql-gate/nl2sql-gate:1.2.3"
    assert "uses: nl2sql-gate/nl2sql-gate@v1.2.3" in (checkout / ".github/workflows/gate.yml").read_text()
    assert "## 1.2.3, 2026-12-01" in (checkout / "CHANGELOG.md").read_text()
    notes = step("notes", "v1.2.3").stdout
    assert notes.startswith("- ")
    assert "## " not in notes
    assert step("reopen").returncode == 0
    for name in ("action.yml", ".github/workflows/gate.yml"):
        assert (checkout / name).read_text() == before[name]
    assert "## Unreleased\n\n## 1.2.3, 2026-12-01" in (checkout / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", FILES)
def test_a_tag_on_a_commit_that_is_not_prepared_is_refused_with_the_file(step: Step, checkout: Path, name: str) -> None:
    before = (checkout / name).read_text()
    step("prepare", "1.2.3")
    (checkout / name).write_text(before)
    refused = step("check", "v1.2.3")
    assert refused.returncode == 1
    assert Path(name).name in refused.stdout


@pytest.mark.parametrize("version", ["1.2", "1.2.3.4", "v1.2.3-rc1", "01.2.3", "latest", ""])
def test_what_is_no_version_is_refused(step: Step, version: str) -> None:
    refused = step("prepare", version)
    assert refused.returncode == 2
    assert "is no version" in refused.stderr


def test_a_release_that_says_nothing_is_refused(step: Step, checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("# Changes\n\n## Unreleased\n\n## 1.0.0, 2026-01-01\n\n- x\n")
    assert "says nothing under Unreleased" in step("prepare", "1.1.0").stderr
    assert "has a section 1.0.0 already" in step("prepare", "1.0.0").stderr


@pytest.mark.parametrize(
    ("tag", "names"),
    [("v1.2.3", ["1.2.3", "1.2", "1"]), ("v0.4.0", ["0.4.0", "0.4"]), ("v2.0.0rc1", ["2.0.0rc1"]), ("v1.2.3a1", ["1.2.3a1"])],
)
def test_names_of_the_image(step: Step, tag: str, names: list[str]) -> None:
    assert step("image-tags", tag).stdout.split() == [f"ghcr.io/nl2sql-gate/nl2sql-gate:{name}" for name in names]


def test_moving_tags_follow_the_newest_of_their_line_and_never_go_back(step: Step, checkout: Path) -> None:
    commits = {}
    for version in ("1.2.0", "1.3.0", "2.0.0rc1"):
        commits[version] = commit(checkout, version, f"v{version}")
        moved = step("move-tags", f"v{version}")
        assert moved.returncode == 0, moved.stderr
    commits["1.2.1"] = commit(checkout, "an old line's patch", "v1.2.1")
    assert "v1 stays: a newer version has it" in step("move-tags", "v1.2.1").stdout
    remote = dict(reversed(line.split("\t")) for line in git(checkout, "ls-remote", "--tags", "origin").splitlines())
    assert remote["refs/tags/v1"] == commits["1.3.0"]
    assert remote["refs/tags/v1.3"] == commits["1.3.0"]
    assert remote["refs/tags/v1.2"] == commits["1.2.1"]
    assert "refs/tags/v2" not in remote


def test_moving_to_a_tag_that_is_not_there_fails(step: Step) -> None:
    assert step("move-tags", "v9.9.9").returncode == 2


def _program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def _script(root: Path, name: str, *arguments: str, programs: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(programs / "log")}
    command = ["bash", str(root / "tools/release" / name), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_only_a_digest_is_signed_and_the_signature_is_verified(root: Path, tmp_path: Path) -> None:
    _program(tmp_path / "bin", "cosign", 'echo "$@" >> "$LOG"')
    image = "ghcr.io/nl2sql-gate/nl2sql-gate@sha256:" + "a" * 64
    assert _script(root, "sign_image.sh", "ghcr.io/x/y:1", "x/y", programs=tmp_path / "bin").returncode == 2
    assert _script(root, "sign_image.sh", image, "nl2sql-gate/nl2sql-gate", programs=tmp_path / "bin").returncode == 0
    signed, verified = (tmp_path / "bin/log").read_text().splitlines()
    assert signed == f"sign --yes {image}"
    assert verified.endswith(image)
    assert "release\\.yml@refs/tags/v" in verified


def test_the_base_is_named_by_digest(root: Path, tmp_path: Path) -> None:
    _program(tmp_path / "bin", "docker", 'echo "sha256:0123"')
    said = _script(root, "base_image.sh", str(root / "Dockerfile"), programs=tmp_path / "bin").stdout.strip()
    assert said == "python:3.13-slim-trixie@sha256:0123"
    _program(tmp_path / "bin", "docker", "exit 1")
    assert _script(root, "base_image.sh", str(root / "Dockerfile"), programs=tmp_path / "bin").returncode != 0


@pytest.mark.parametrize(("tag", "flag"), [("v1.2.3", ""), ("v1.2.3rc1", "--prerelease --latest=false")])
def test_a_release_is_made_once_and_a_preview_is_marked(root: Path, tmp_path: Path, tag: str, flag: str) -> None:
    _program(tmp_path / "bin", "gh", 'echo "$@" >> "$LOG"; [ "$2" != view ]')
    assert _script(root, "publish_release.sh", tag, "notes.md", programs=tmp_path / "bin").returncode == 0
    said = (tmp_path / "bin/log").read_text().splitlines()[-1]
    assert said.startswith(f"release create {tag} --verify-tag")
    assert flag in said
    _program(tmp_path / "bin", "gh", 'echo "$@" >> "$LOG"')
    assert "there already" in _script(root, "publish_release.sh", tag, "notes.md", programs=tmp_path / "bin").stdout
