"""Code of a fork in a workflow that has secrets: refused, unless somebody asks for it in so many words."""

from __future__ import annotations

import subprocess
from pathlib import Path

from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.event import Event

UGLY_WORD = "i-run-untrusted-code-with-my-secrets"

_TRUSTED_EVENTS = {"pull_request_target", "workflow_run", "issue_comment"}


def checked_out(folder: Path) -> str:
    """The commit that is checked out in `folder`; empty where that cannot be said."""
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            ["git", "-c", f"safe.directory={folder.resolve()}", "rev-parse", "HEAD"],  # noqa: S607 - whichever git there is
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def refuse_untrusted_code(event: Event, commit: str, *, word: str = "") -> None:
    """Raise `UsageError` where the job has the base repository's secrets and the fork's code.

    `commit` is what is checked out; `word` is what the user said to allow it.
    """
    if event.name not in _TRUSTED_EVENTS or not event.from_fork or commit not in {event.head_sha, event.merge_sha} - {""}:
        return
    if event.name == "pull_request_target" and commit == event.merge_sha != event.head_sha:
        # There GITHUB_SHA is the base branch's own commit.
        return
    if word == UGLY_WORD:
        return
    raise UsageError(
        f"{event.name} with the code of a fork checked out",
        where=[f"commit {commit[:12]} of pull request {event.pull_request}"],
        meaning="The job has your repository's secrets, and a stranger's settings, prompts and programs would run with them.",
        next_step=f"Use pull_request, and the poster workflow for the comment. To do it all the same, say {UGLY_WORD}.",
    )
