"""A baseline in a branch: a commit for every blessing, nothing lost to others who push, the workspace untouched."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.baselines.branch import BranchStore
from nl2sql_gate.errors import BaselineError


def _git(folder: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
        cwd=folder,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository with one commit on main."""
    remote = tmp_path / "remote.git"
    _git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    first = _clone(tmp_path, remote, "first")
    (first / "items.json").write_text("[]")
    _git(first, "add", ".")
    _git(first, "commit", "-qm", "start")
    _git(first, "push", "-q", "origin", "HEAD:main")
    return remote


def _clone(tmp_path: Path, remote: Path, name: str) -> Path:
    _git(tmp_path, "clone", "-q", str(remote), name)
    return tmp_path / name


def _store(folder: Path, location: str = "baselines", **more: Any) -> BranchStore:
    return BranchStore(location, folder=folder, wait=lambda _: None, **more)


def test_the_first_blessing_makes_the_branch_without_touching_the_checkout(tmp_path: Path, remote: Path, content: Any) -> None:
    work = _clone(tmp_path, remote, "work")
    (work / "edited").write_text("mine")
    store = _store(work)
    assert store.fetch() is None
    where = store.store(content("1"), message="Bless orders at abc")
    assert "branch baselines, nl2sql/baseline.json" in where
    assert store.fetch() == content("1")
    assert _git(work, "status", "--porcelain") == "?? edited"
    assert _git(work, "branch", "--show-current") == "main"
    assert _git(remote, "log", "--format=%s|%an", "baselines") == "Bless orders at abc|nl2sql-gate"
    assert _git(remote, "ls-tree", "-r", "--name-only", "baselines") == "nl2sql/baseline.json"


def test_gates_lie_beside_each_other(tmp_path: Path, remote: Path, content: Any) -> None:
    work = _clone(tmp_path, remote, "work")
    for gate in ("orders", "stock"):
        _store(work, gate=gate).store(content(gate), message=gate)
    assert _store(work, gate="orders").fetch() == content("orders")
    _store(work, "baselines:deep/own.json").store(content("own"), message="own")
    assert _store(work, "baselines:deep/own.json").fetch() == content("own")
    assert len(_git(remote, "ls-tree", "-r", "--name-only", "baselines").splitlines()) == 3


def test_two_pushes_at_once_are_both_kept(tmp_path: Path, remote: Path, content: Any) -> None:
    barrier = threading.Barrier(4)

    def bless(number: int) -> None:
        store = _store(_clone(tmp_path, remote, f"work{number}"), gate=f"gate{number}")
        barrier.wait(30)
        store.store(content(str(number)), message=f"bless {number}")

    threads = [threading.Thread(target=bless, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(_git(remote, "log", "--format=%s", "baselines").splitlines()) == [f"bless {number}" for number in range(4)]
    assert len(_git(remote, "ls-tree", "-r", "--name-only", "baselines").splitlines()) == 4


def test_a_push_that_fails_half_way_is_tried_again(tmp_path: Path, remote: Path, content: Any) -> None:
    work = _clone(tmp_path, remote, "work")
    _store(work).store(content("1"), message="one")
    hook = remote / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\n[ -e {tmp_path}/failed ] && exit 0\ntouch {tmp_path}/failed\nexit 1\n")
    hook.chmod(0o755)
    _store(work).store(content("2"), message="two")
    assert _store(work).fetch() == content("2")
    assert _git(remote, "log", "--format=%s", "baselines").splitlines() == ["two", "one"]


def test_a_push_that_is_never_taken_says_so(tmp_path: Path, remote: Path, content: Any) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(BaselineError, match="cannot be pushed") as caught:
        _store(_clone(tmp_path, remote, "work")).store(content(), message="m")
    assert "contents: write" in str(caught.value)


def test_hooks_of_the_checkout_do_not_run(tmp_path: Path, remote: Path, content: Any) -> None:
    work = _clone(tmp_path, remote, "work")
    for name in ("pre-push", "reference-transaction"):
        hook = work / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    _store(work).store(content(), message="m")
    assert not (tmp_path / "ran").exists()


def test_without_a_remote_the_local_branch_serves(tmp_path: Path, content: Any) -> None:
    _git(tmp_path, "init", "-q", "-b", "main", "alone")
    store = _store(tmp_path / "alone")
    assert store.fetch() is None
    store.store(content("1"), message="one")
    store.store(content("2"), message="two")
    assert store.fetch() == content("2")
    assert _git(tmp_path / "alone", "log", "--format=%s", "baselines").splitlines() == ["two", "one"]


def test_a_folder_that_is_no_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be read"):
        _store(tmp_path).fetch()


@pytest.mark.parametrize("location", ["", "--upload-pack=x", "a..b", "x.lock", "a b", "b:../x", "b:/etc/passwd", "refs/heads/x/"])
def test_impossible_names_are_refused(tmp_path: Path, location: str) -> None:
    with pytest.raises(BaselineError, match="impossible"):
        _store(tmp_path, location)


def test_the_token_is_not_among_the_arguments(
    tmp_path: Path, remote: Path, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _clone(tmp_path, remote, "work")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/seen\nexec {_git(tmp_path, "--exec-path")}/git "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    environment = {**os.environ, "GITHUB_TOKEN": "ghs_planted", "GITHUB_SERVER_URL": "https://github.example"}
    _store(work, environment=environment).store(content(), message="m")
    seen = (tmp_path / "seen").read_text()
    assert "push" in seen
    assert "ghs_planted" not in seen
    assert "AUTHORIZATION" not in seen
