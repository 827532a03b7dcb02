"""When a comment is worth it, and the history behind the trend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import CaseResult
from nl2sql_gate.reporters.commenting import comment_action
from nl2sql_gate.reporters.history import KEPT, appended, history_line, trends
from nl2sql_gate.reporters.report import Report


@pytest.mark.parametrize(
    ("mode", "quiet", "fixed", "broke", "fail"),
    [
        ("always", "post", "post", "post", "post"),
        ("changes", "update", "post", "post", "post"),
        ("regressions", "update", "update", "post", "post"),
        ("off", "nothing", "nothing", "nothing", "nothing"),
    ],
)
def test_a_comment_is_quiet_when_nothing_happened(
    make_report: Callable[..., Report],
    make_case: Callable[..., CaseResult],
    mode: Any,
    quiet: str,
    fixed: str,
    broke: str,
    fail: str,
) -> None:
    right, wrong, ok = [make_case("a")], [make_case("a", 0)], Verdict("pass", ())
    reports = [
        make_report(right, right, verdict=ok),
        make_report(right, wrong, verdict=ok),
        make_report(wrong, right, verdict=ok),
        make_report(right, right, verdict=Verdict("fail", ())),
    ]
    assert [quiet, fixed, broke, fail] == [comment_action(report, mode) for report in reports]


def test_a_history_remembers_the_last_runs(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    report = make_report([make_case("a"), make_case("b", 0)])
    history = b"{broken\n[]\n"
    for number in range(KEPT + 5):
        history = appended(history, history_line(report, label=f"c{number}"))
    assert history.count(b"\n") == KEPT
    found = trends(history, gate="orders-eval", metric="execution_accuracy", most=3)
    assert [(each.label, each.value, each.n, each.status) for each in found] == [
        (f"c{KEPT + 2 + n}", 0.5, 2, "no_verdict") for n in range(3)
    ]
    assert trends(history, gate="other", metric="execution_accuracy") == ()
