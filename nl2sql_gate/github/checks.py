"""A check run with the verdict, and annotations in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nl2sql_gate.github.annotations import Annotation
from nl2sql_gate.github.client import Client, GitHubTrouble
from nl2sql_gate.github.limits import ANNOTATION_CHARACTERS, CHECK_ANNOTATIONS, shortened
from nl2sql_gate.github.untrusted import one_line, visible

_LEVELS = {"error": "failure", "warning": "warning", "notice": "notice"}
_TITLE = 200
_MOST = 1000
"""Annotations of one check run: twenty requests. Nobody reads more, and the report names all."""

PERMISSIONS = """\
permissions:
  contents: read
  checks: write"""


@dataclass(frozen=True, slots=True)
class Check:
    """A finished check. `passed` is what the exit code says: nothing ever shows as neutral, since that lets a merge through."""

    name: str
    head_sha: str
    passed: bool
    title: str
    summary: str
    details_url: str = ""
    annotations: Sequence[Annotation] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a check run, in words for the log."""

    words: str
    failed: bool = False


def publish(client: Client, check: Check) -> Published:
    """Create the check run. Never raises for what GitHub says: a check run does not change a verdict."""
    placed = [each for each in check.annotations if each.place.file][:_MOST]
    batches = [placed[start : start + CHECK_ANNOTATIONS] for start in range(0, len(placed), CHECK_ANNOTATIONS)] or [[]]
    given: dict[str, Any] = {"details_url": check.details_url} if check.details_url else {}
    try:
        run = client.call(
            "the check run cannot be created",
            lambda: client.repository.create_check_run(
                name=check.name,
                head_sha=check.head_sha,
                status="completed",
                conclusion="success" if check.passed else "failure",
                output=_output(check, batches[0]),
                **given,
            ),
            repeatable=False,
        )
        for batch in batches[1:]:
            client.call("annotations cannot be added", lambda batch=batch: run.edit(output=_output(check, batch)))  # type: ignore[misc]
    except GitHubTrouble as trouble:
        indented = "\n".join(f"    {line}" for line in PERMISSIONS.splitlines())
        advice = f"\nGive the job:\n{indented}" if trouble.is_forbidden else ""
        return Published(f"{trouble}. The verdict stands.{advice}", failed=True)
    return Published(f"check run {check.name!r} created with {len(placed)} annotations")


def _output(check: Check, annotations: Sequence[Annotation]) -> dict[str, Any]:
    return {
        "title": one_line(check.title, width=_TITLE),
        "summary": check.summary,
        "annotations": [_entry(each) for each in annotations],
    }


def _entry(annotation: Annotation) -> dict[str, str | int]:
    line = max(1, annotation.place.line)
    entry: dict[str, str | int] = {
        "path": one_line(annotation.place.file),
        "start_line": line,
        "end_line": line,
        "annotation_level": _LEVELS[annotation.level],
        "message": shortened(visible(annotation.message) or annotation.level, ANNOTATION_CHARACTERS),
    }
    title = one_line(annotation.title, width=_TITLE)
    return {**entry, "title": title} if title else entry
