"""Whether a report is worth a comment."""

from __future__ import annotations

from typing import Literal

from nl2sql_gate.judgement import Status
from nl2sql_gate.reporters.report import Report

Mode = Literal["always", "changes", "regressions", "off"]
Action = Literal["post", "update", "nothing"]

_BAD: tuple[Status, ...] = ("fail", "undecided", "no_verdict")


def comment_action(report: Report, mode: Mode) -> Action:
    """`post` the comment, only `update` one that is there (a red one must not outlive its cause), or do `nothing`.

    `changes`: when the verdict is not a plain pass, or a case broke, was fixed, is new, changed or gone. `regressions`: when the
    verdict is not a pass, or a case broke.
    """
    if mode == "off":
        return "nothing"
    if mode == "always" or report.verdict.status in _BAD:
        return "post"
    comparison = report.comparison
    if comparison is None:
        return "post" if mode == "changes" else "update"
    primary = comparison.by(report.primary)
    moved = bool(primary.broke)
    if mode == "changes":
        moved = moved or any((primary.fixed, comparison.new, comparison.changed, comparison.removed))
    return "post" if moved else "update"
