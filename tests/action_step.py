"""The action as the platform runs it: inputs and event in the environment, GitHub's API on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from github_standin import REPOSITORY, TOKEN, GitHub
from shop import Shop

HEAD, BASE, MERGE = "a" * 40, "b" * 40, "c" * 40


def pull_request(number: int = 5, *, fork: bool = False, head: str = HEAD, **more: Any) -> dict[str, Any]:
    """The payload of a pull request's event."""
    whose = "stranger/repo" if fork else REPOSITORY
    pull = {
        "number": number,
        "head": {"sha": head, "ref": "change", "repo": {"full_name": whose}},
        "base": {"sha": BASE, "ref": "main"},
        "merge_commit_sha": MERGE,
        **more,
    }
    return {"number": number, "pull_request": pull, "repository": {"default_branch": "main"}}


@dataclass
class Step:
    """A step of a job. `environment` and `inputs` are what the workflow gives it; `log` is what the runner would read."""

    shop: Shop
    github: GitHub
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, event: str = "pull_request", payload: dict[str, Any] | None = None, **inputs: str) -> subprocess.Popen[str]:
        """Start the action on an event."""
        runner = self.shop.folder / "_runner"
        runner.mkdir(exist_ok=True)
        for name in ("summary", "output"):
            (runner / name).touch()
        (runner / "event.json").write_text(json.dumps(pull_request() if payload is None else payload))
        given = {
            "dataset": "items.json",
            "setup_directory": "setup",
            "replies": "replies.jsonl",
            "github_token": TOKEN,
            "config": "nl2sql-gate.yml",
            **inputs,
        }
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(runner),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.shop.folder),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(runner / "event.json"),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": MERGE,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_RUN_ID": "100",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_STEP_SUMMARY": str(runner / "summary"),
            "GITHUB_OUTPUT": str(runner / "output"),
            **{f"INPUT_{name.upper()}": value for name, value in given.items() if value},
            **self.environment,
        }
        return subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve().parents[1] / "entrypoint.py")],
            cwd=self.shop.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, event: str = "pull_request", payload: dict[str, Any] | None = None, **inputs: str) -> tuple[int, str]:
        """Run the action to its end; exit code and log."""
        with self.start(event, payload, **inputs) as process:
            log, _ = process.communicate(timeout=120)
        return process.returncode, log

    @property
    def summary(self) -> str:
        """The step's summary."""
        return (self.shop.folder / "_runner" / "summary").read_text(encoding="utf-8")

    @property
    def output(self) -> dict[str, str]:
        """The step's outputs."""
        lines = (self.shop.folder / "_runner" / "output").read_text(encoding="utf-8").splitlines()
        return {lines[at].partition("<<")[0]: lines[at + 1] for at in range(0, len(lines), 3)}

    def file(self, name: str) -> str:
        """A file of the output folder."""
        return (self.shop.folder / "nl2sql-gate-out" / name).read_text(encoding="utf-8")
