"""Comments for pull requests that may not comment: a workflow of the base repository posts what the fork's run wrote.

The fork's artifact is a stranger's data. Only its text is read, bounded and written anew; which pull request it belongs to is
asked of GitHub by the commit of the run, never taken from the artifact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2sql_gate.github import artifacts, comment
from nl2sql_gate.github.client import Client, GitHubTrouble
from nl2sql_gate.github.limits import COMMENT_BYTES, size
from nl2sql_gate.github.markdown_cleaning import clean_markdown

COMMENT_FILE = "comment.md"
_READ = 4 * COMMENT_BYTES
_STATUSES = ("no_verdict", "undecided", "fail", "pass")
_NOTE = "_Written by a run of this pull request's own code, without secrets: it says what that code says._"


@dataclass(frozen=True, slots=True)
class ForkRun:
    """The run of the fork, as the event of the base repository's workflow has it."""

    run_id: int
    attempt: int
    head_sha: str
    head_owner: str
    head_branch: str


def fork_run(event_path: Path) -> ForkRun | None:
    """The run that a `workflow_run` event is about; `None` where the event is another one."""
    try:
        payload: Any = json.loads(event_path.read_text(encoding="utf-8"))
        run: Mapping[str, Any] = payload["workflow_run"]
        return ForkRun(
            run_id=int(run["id"]),
            attempt=int(run.get("run_attempt") or 1),
            head_sha=str(run["head_sha"]),
            head_owner=str(run["head_repository"]["owner"]["login"]),
            head_branch=str(run["head_branch"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def post(client: Client, run: ForkRun, *, gate: str, artifact: str, leg: str = "") -> comment.Posted:
    """Post the comment that lies in the run's artifact. Never raises for what GitHub or the artifact lacks."""
    try:
        number = _pull_request(client, run)
        if number is None:
            return comment.Posted(
                is_there=False, words=f"no open pull request has {run.head_sha[:12]} as its head: nothing is posted"
            )
        text = _text(client, run, artifact)
    except (GitHubTrouble, artifacts.NotInArchive) as trouble:
        return comment.Posted(is_there=False, words=f"nothing is posted: {trouble}", failed=True)
    speaker = comment.Speaker(gate, (run.run_id, run.attempt), leg)
    message = comment.Message(lambda _earlier, room: _fitting(text, room), _status(text), run.head_sha)
    return comment.post(client, number, speaker, message)


def _pull_request(client: Client, run: ForkRun) -> int | None:
    found = client.call(
        "the pull requests cannot be read",
        lambda: list(client.repository.get_pulls(state="open", head=f"{run.head_owner}:{run.head_branch}")),
    )
    return next((pull.number for pull in found if pull.head.sha == run.head_sha), None)


def _text(client: Client, run: ForkRun, artifact: str) -> str:
    listed = artifacts.of_run(client, run.run_id)
    found = next((each for each in listed if each.name == artifact), None)
    if found is None:
        message = f"the run has no artifact {artifact!r}"
        raise artifacts.NotInArchive(message)
    content = artifacts.member(artifacts.download(client, found), COMMENT_FILE, max_bytes=_READ)
    return clean_markdown(content.decode("utf-8", "replace"))


def _status(text: str) -> str:
    """The status that the heading names."""
    heading = text.split("\n", 1)[0]
    return next((word for word in _STATUSES if f" {word.replace('_', ' ')} " in heading), "no_verdict")


def _fitting(text: str, room: int) -> str:
    """The text with the note, or its beginning up to a paragraph outside of any fold."""
    kept: list[str] = []
    depth = 0
    whole = 0
    for paragraph in text.strip().split("\n\n"):
        kept.append(paragraph)
        depth += paragraph.count("<details>") - paragraph.count("</details>")
        if depth == 0 and _is_closed(kept) and size("\n\n".join([*kept, _NOTE])) <= room - 100:
            whole = len(kept)
    shown = kept[:whole]
    if whole < len(kept):
        shown.append("_Truncated: the full report is in the run's summary._")
    return "\n\n".join([*shown, _NOTE])


def _is_closed(paragraphs: list[str]) -> bool:
    """Whether no fence is open: a blank line inside one ends no paragraph."""
    fence = ""
    for line in "\n\n".join(paragraphs).split("\n"):
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if not fence and len(ticks) >= 3:  # noqa: PLR2004 - a fence has three at least
            fence = ticks
        elif fence and line == fence:
            fence = ""
    return not fence
