"""The messages of the commits under test: where a change names the items that it means to break."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nl2sql_gate.baselines.git_commands import Git, GitError
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.github.event import Event

MOST_COMMITS = 250
_SHA = re.compile(r"[0-9a-f]{7,64}")


def commit_messages(event: Event | None, environment: Mapping[str, str], *, folder: Path) -> tuple[str, ...]:
    """The messages of the pull request, the merge group or the push that is tested; outside Actions, of the commits not pushed.

    A shallow checkout may hold only the last of them, or none: then there are fewer messages, and nothing fails.
    """
    if event is None:
        return _first_of(folder, ("origin/HEAD..HEAD",), ("-1", "HEAD"))
    if event.name in {"push", "merge_group"}:
        return tuple(_said(environment.get("GITHUB_EVENT_PATH", "")))
    if event.pull_request and _SHA.fullmatch(event.head_sha):
        span = (f"{event.base_sha}..{event.head_sha}",)
        return _first_of(folder, span, ("-1", event.head_sha))
    # A run by schedule or by hand tests no change: what was accepted once is not accepted for ever.
    return ()


def _first_of(folder: Path, *ranges: tuple[str, ...]) -> tuple[str, ...]:
    git = Git(folder)
    for wanted in ranges:
        try:
            text = git.text_of("log", f"--max-count={MOST_COMMITS}", "--format=%B%x00", *wanted, "--")
        except GitError:
            continue
        except BaselineError:
            # Without git there is no commit to speak of.
            return ()
        return tuple(message.strip() for message in text.split("\0") if message.strip())
    return ()


def _said(path: str) -> Iterator[str]:
    try:
        payload: Any = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        return
    group = payload.get("merge_group") if isinstance(payload, dict) else None
    commits = [*(payload.get("commits") or []), payload.get("head_commit")] if isinstance(payload, dict) else []
    for commit in (*commits, group.get("head_commit") if isinstance(group, dict) else None):
        if isinstance(commit, dict) and isinstance(commit.get("message"), str):
            yield commit["message"]
