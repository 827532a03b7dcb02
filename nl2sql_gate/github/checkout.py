"""Code of a fork in a workflow that has secrets: refused, unless somebody asks for it in so many words."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.event import Event

UGLY_WORD = "i-run-untrusted-code-with-my-secrets"
VARIABLE = "NL2SQL_GATE_ALLOW_UNTRUSTED_CODE"

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: (refs/[A-Za-z0-9._/-]+)")


def guard(event: Event | None, environ: Mapping[str, str], folder: Path) -> None:
    """Raise `UsageError` where the job has the base repository's secrets and `folder` holds a fork's code.

    The word that allows it is taken from the environment alone: a settings file would be the fork's own.
    """
    if event is None or not event.foreign_commits:
        return
    workspace = Path(environ.get("GITHUB_WORKSPACE") or folder)
    # A fork's code is as often checked out into a folder beside the base's.
    beside = [each for each in workspace.iterdir() if (each / ".git").exists()] if workspace.is_dir() else []
    for place in (folder, *beside):
        refuse_untrusted_code(event, checked_out(place), word=environ.get(VARIABLE, ""))


def checked_out(folder: Path) -> str:
    """The commit that is checked out in or above `folder`; empty where there is none or it cannot be said.

    Git is asked only where its files do not say it plainly: an image may lack it, and it refuses folders of other owners.
    """
    for place in (folder.resolve(), *folder.resolve().parents):
        if (place / ".git").exists():
            return _commit_in(place / ".git") or _asked(place)
    return ""


def refuse_untrusted_code(event: Event, commit: str, *, word: str = "") -> None:
    """Raise `UsageError` where the job has the base repository's secrets and the fork's code.

    `commit` is what is checked out, empty where that is unknown: then nobody can say that it is not the fork's. `word` is what
    the user said to allow it.
    """
    if not event.foreign_commits or word == UGLY_WORD or (commit and commit not in event.foreign_commits):
        return
    shown = f"commit {commit[:12]}" if commit else "no commit can be told from the working folder, so it may be the fork's"
    raise UsageError(
        f"{event.name} with the code of a fork checked out",
        where=[f"{shown}; the fork's head is {event.foreign_commits[0][:12]}"],
        meaning="The job has your repository's secrets, and a stranger's settings, prompts and programs would run with them.",
        next_step="Use pull_request, and mode: post for the comment. To do it all the same, give allow_untrusted_code the word "
        f"{UGLY_WORD}.",
    )


def _commit_in(git: Path) -> str:
    """The commit by git's own files; empty for what only git can resolve."""
    try:
        head = (git / "HEAD").read_text(encoding="ascii").strip()
        if _COMMIT.fullmatch(head):
            return head
        named = _REF.fullmatch(head)
        loose = git / named[1] if named and ".." not in named[1] else None
        commit = loose.read_text(encoding="ascii").strip() if loose is not None else ""
    except (OSError, UnicodeDecodeError):
        return ""
    return commit if _COMMIT.fullmatch(commit) else ""


def _asked(folder: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            ["git", "-c", f"safe.directory={folder}", "rev-parse", "HEAD"],  # noqa: S607 - whichever git there is
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
