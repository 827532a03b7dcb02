"""Git as a program: run in one repository, without asking anybody, and with the token kept out of its arguments."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nl2sql_gate.errors import BaselineError

TIMEOUT_S = 120
_AUTHOR = {"NAME": "nl2sql-gate", "EMAIL": "nl2sql-gate@users.noreply.github.com"}


class GitError(Exception):
    """Git said no. `said` is its last line."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"git {command}: {said}")
        self.said = said


class Git:
    """The repository around `folder`."""

    def __init__(self, folder: Path, *, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = _environment(dict(os.environ if environment is None else environment), folder)

    def bytes_of(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> bytes:
        """What a command prints. Raises `GitError` where it fails, `BaselineError` where there is no git."""
        environment = {**self._environment, **({"GIT_INDEX_FILE": str(index)} if index else {})}
        try:
            done = subprocess.run(  # noqa: S603 - our own arguments, no shell
                ["git", *arguments],  # noqa: S607 - whichever git the machine has
                cwd=self._folder,
                env=environment,
                input=given,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise BaselineError(
                "git is not installed here",
                where=["a baseline in a branch is fetched and pushed by git"],
                meaning="There is nothing to compare with: a regression would not be seen.",
                next_step="Install git, or keep the baseline in a file: baseline: file:evals/baseline.json",
            ) from error
        except subprocess.TimeoutExpired as error:
            raise GitError(arguments[0], f"no answer within {TIMEOUT_S} s") from error
        if done.returncode:
            lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
            raise GitError(arguments[0], lines[-1] if lines else f"exit code {done.returncode}")
        return done.stdout

    def text_of(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> str:
        """What a command prints, as text without the last line end."""
        return self.bytes_of(*arguments, given=given, index=index).decode("utf-8", "replace").strip()


def _environment(given: dict[str, str], folder: Path) -> dict[str, str]:
    """Never a prompt, never a hook or a pager of the user; an author; the mounted checkout is trusted, and no other."""
    environment = {name: value for name, value in given.items() if not name.startswith("GIT_")}
    settings = {"safe.directory": str(folder.resolve()), "core.hooksPath": os.devnull, "gc.auto": "0"}
    token, server = given.get("GITHUB_TOKEN", ""), given.get("GITHUB_SERVER_URL", "")
    if token and server:
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        settings[f"http.{server}/.extraheader"] = f"AUTHORIZATION: basic {basic}"
    environment["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (name, value) in enumerate(settings.items()):
        environment[f"GIT_CONFIG_KEY_{number}"], environment[f"GIT_CONFIG_VALUE_{number}"] = name, value
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_{part}": value for part, value in _AUTHOR.items()}
    return {**environment, "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}
