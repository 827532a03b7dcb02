"""The image in the exact environment in which the platform runs a container action."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from docker_engine import docker
from shop import Shop

pytestmark = pytest.mark.docker

Action = Callable[..., "CompletedProcess[str]"]
NOBODY = 65534


@pytest.fixture
def action(docker_host: str, image: str, shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Action:
    """Run the image as a step: the runner's mounts, working directory and variables, and no arguments."""
    runner = tmp_path_factory.mktemp("runner")
    for name in ("_github_home", "_github_workflow", "_runner_file_commands", "_temp"):
        (runner / name).mkdir()
    for name in ("summary", "output"):
        (runner / "_runner_file_commands" / name).touch()
    event = {
        "pull_request": {
            "number": 7,
            "head": {"sha": "a" * 40, "ref": "change", "repo": {"full_name": "org/shop"}},
            "base": {"sha": "b" * 40, "ref": "main"},
        }
    }
    (runner / "_github_workflow" / "event.json").write_text(json.dumps(event))
    os.chown(shop.folder, NOBODY, NOBODY)

    def run(**inputs: str) -> CompletedProcess[str]:
        variables = {f"INPUT_{name.upper()}": value for name, value in inputs.items()} | {
            "HOME": "/github/home",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_REPOSITORY": "org/shop",
            "GITHUB_SHA": "c" * 40,
            "GITHUB_STEP_SUMMARY": "/github/file_commands/summary",
            "GITHUB_OUTPUT": "/github/file_commands/output",
            "ACTIONS_RUNTIME_TOKEN": "runtime-token-secret",
        }
        mounts = {
            shop.folder: "/github/workspace",
            runner / "_github_home": "/github/home",
            runner / "_github_workflow": "/github/workflow",
            runner / "_runner_file_commands": "/github/file_commands",
            runner / "_temp": "/github/runner_temp",
        }
        flags = [part for path, place in mounts.items() for part in ("-v", f"{path}:{place}")]
        flags += [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        ran = docker(docker_host, "run", "--rm", "--network=host", "--workdir", "/github/workspace", *flags, image, check=False)
        ran.summary = (runner / "_runner_file_commands" / "summary").read_text()  # type: ignore[attr-defined]
        ran.output = (runner / "_runner_file_commands" / "output").read_text()  # type: ignore[attr-defined]
        return ran

    return run


def test_the_action_passes_writes_summary_and_outputs_and_gives_files_back(action: Action, shop: Shop) -> None:
    ran = action(dataset="items.json", **{"setup-directory": "setup"}, replies="replies.jsonl", dialect="sqlite")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "verdict<<" in ran.output
    assert "run_file" in ran.output
    assert "NL2SQL gate" in ran.summary
    out = shop.folder / "nl2sql-gate-out"
    assert {path.name for path in out.iterdir()} >= {"run.json", "summary.md", "report.json"}
    assert {path.stat().st_uid for path in out.rglob("*")} == {NOBODY}
    masks, said = [], []
    for line in ran.stdout.splitlines():
        (masks if line.startswith("::add-mask::") else said).append(line)
    assert "::add-mask::runtime-token-secret" in masks
    everything = "".join([*said, ran.stderr, ran.summary, ran.output, *(path.read_text() for path in out.iterdir())])
    assert "runtime-token-secret" not in everything


def test_the_action_fails_the_step_on_a_required_item(action: Action, shop: Shop) -> None:
    shop.write_replies({**shop.replies, "q2": "SELECT 'nobody'"})
    ran = action(dataset="items.json", setup_directory="setup", replies="replies.jsonl", set="policy.required.ids=[q2]")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "::error" in ran.stdout


def test_an_unknown_input_is_a_usage_error(action: Action) -> None:
    ran = action(datset="items.json")
    assert ran.returncode == 2
    assert "did you mean 'dataset'" in ran.stderr


def test_one_docker_run_does_the_same_on_a_laptop(docker_host: str, image: str, shop: Shop) -> None:
    ran = docker(
        docker_host,
        "run",
        "--rm",
        "--network=host",
        "-v",
        f"{shop.folder}:/work",
        "-w",
        "/work",
        image,
        "run",
        "--dataset",
        "items.json",
        "--setup-directory",
        "setup",
        "--replies",
        "replies.jsonl",
        "--only",
        "q2:sqlite",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1/1" in ran.stdout


def test_postgres_starts_inside_the_image(docker_host: str, image: str, shop: Shop) -> None:
    setup = shop.folder / "setup/shop/postgres"
    setup.mkdir()
    (setup / "setup.sql").write_text((shop.folder / "setup/shop/sqlite/setup.sql").read_text())
    for entry in shop.items:
        entry["dialects"] = ["sqlite", "postgres"]
        entry["golden_sql"]["postgres"] = entry["golden_sql"]["sqlite"]
    shop.write()
    ran = docker(
        docker_host,
        "run",
        "--rm",
        "--network=host",
        "-v",
        f"{shop.folder}:/work",
        "-w",
        "/work",
        image,
        "run",
        "--dataset",
        "items.json",
        "--setup-directory",
        "setup",
        "--replies",
        "replies.jsonl",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "PostgreSQL 17" in ran.stdout
    assert "12/12" in ran.stdout


def test_a_start_compiles_nothing(docker_host: str, image: str) -> None:
    """The package, what it needs, and Python's own library lie there compiled: a container is new each time."""
    modules = (
        "nl2sql_gate.commands.run, nl2sql_gate.commands.judging, nl2sql_gate.generators.openai_chat, sqlglot, psycopg, pymysql"
    )
    python = ("--entrypoint", "/opt/nl2sql-gate/bin/python")
    ran = docker(docker_host, "run", "--rm", *python, image, "-v", "-c", f"import {modules}", check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    loaded = re.findall(r"# code object from '?([^'\n]+)", ran.stderr)
    assert len(loaded) > 500
    assert [path for path in loaded if not path.endswith(".pyc")] == []


def test_the_image_stays_small(docker_host: str, image: str) -> None:
    """Compressed at most 350 MB; the quickest compression here gives more than any registry's."""
    saving = subprocess.Popen(["docker", "save", image], env={**os.environ, "DOCKER_HOST": docker_host}, stdout=subprocess.PIPE)
    with subprocess.Popen(["gzip", "-1"], stdin=saving.stdout, stdout=subprocess.PIPE) as packing:
        assert saving.stdout is not None
        assert packing.stdout is not None
        saving.stdout.close()
        size = sum(len(chunk) for chunk in iter(lambda: packing.stdout.read(1 << 20), b""))
    assert saving.wait() == 0
    assert size < 350e6


def test_mariadb_starts_inside_the_image(docker_host: str, image: str, shop: Shop) -> None:
    setup = shop.folder / "setup/shop/mysql"
    setup.mkdir()
    (setup / "setup.sql").write_text((shop.folder / "setup/shop/sqlite/setup.sql").read_text().replace("TEXT", "VARCHAR(40)"))
    for entry in shop.items:
        entry["dialects"] = ["mariadb"]
        entry["golden_sql"] = {"mysql": entry["golden_sql"]["sqlite"]}
    shop.write()
    options = ["--dataset", "items.json", "--setup-directory", "setup", "--replies", "replies.jsonl"]
    ran = docker(
        docker_host,
        "run",
        "--rm",
        "--network=host",
        "-v",
        f"{shop.folder}:/work",
        "-w",
        "/work",
        image,
        "run",
        *options,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "MariaDB" in ran.stdout
    assert "6/6" in ran.stdout
