"""The report in a terminal or a log, and the progress before it."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import CaseResult, Reason, Warned
from nl2sql_gate.reporters.progress import Progress
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.terminal import TerminalReporter


def test_the_verdict_stands_first_and_broken_cases_have_their_reason(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    base = [make_case(f"o{i}") for i in range(200)]
    head = [make_case(f"o{i}", int(i >= 9)) for i in range(200)]
    text = TerminalReporter().render(make_report(head, base, required=frozenset({"o3"})))
    assert text.startswith("FAIL  execution accuracy fell 4.5 points to 95.5 % (191/200)\n")
    assert "broke (9)\n  o3 [sqlite] (required): 1 row missing\n  o0 [sqlite]: 1 row missing" in text
    assert "200 cases: 200 answered" in text
    assert "reproduce the first: nl2sql-gate run" in text
    assert "\x1b" not in text


def test_every_golden_error_is_named_with_the_message_of_the_database(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    message = "no such column: totl"
    head = [
        replace(make_case(f"g{i}"), outcome="golden_error", scores={}, reason=Reason("golden", f"{message} {i}"))
        for i in range(60)
    ]
    text = TerminalReporter().render(make_report([*head, make_case("right")]))
    assert not [i for i in range(60) if f"g{i} [sqlite]: {message} {i}\n" not in text]


def test_a_first_run_says_that_there_is_no_baseline(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    text = TerminalReporter().render(make_report([make_case("a"), make_case("b", 0)]))
    assert "no baseline" in text
    assert "EX strict" in text
    assert "50.0 % (1/2)" in text
    assert "wrong (1)\n  b [sqlite]: 1 row missing" in text


@pytest.mark.parametrize(
    "text", ["::error::x", "##[error]x", "a\n::add-mask::b", "\x1b[2Jx", "[bold red]x[/]", "\x07\u202e", "\r::x::"]
)
def test_foreign_text_neither_commands_nor_paints(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult], text: str
) -> None:
    head = [
        make_case(text, 0, dialect=text, reason=Reason("r", text), scores={}),
        replace(make_case("g"), outcome="golden_error", reason=Reason("x", text)),
    ]
    verdict = Verdict("fail", (Reason("x", text),), notes=(Reason("n", text),))
    report = make_report(head, verdict=verdict, hints=(text,), provenance=(text,))
    report = replace(report, head=replace(report.head, warnings=(Warned("w", text, text),)))
    shown = TerminalReporter(width=40).render(report)
    assert not [line for line in shown.splitlines() if line.strip().startswith("::") or "##[" in line]
    assert not set("\x1b\x07\u202e\r") & set(shown)
    if text.startswith("[bold"):
        assert "[bold red]" in shown


def test_colour_is_only_for_terminals(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    report = make_report([make_case("a")])
    assert "\x1b[" in TerminalReporter(color=True).render(report)
    assert "\x1b[" not in TerminalReporter().render(report)


def test_a_log_gets_lines_even_when_nothing_happens(make_case: Callable[..., CaseResult]) -> None:
    written = threading.Event()

    class Log(io.StringIO):
        def write(self, text: str) -> int:
            written.set()
            return super().write(text)

    log = Log()
    with Progress(3, log, interactive=False, every_s=0.001):
        assert written.wait(10)
    assert log.getvalue().startswith("0 of 3 cases, ")


def test_a_heartbeat_counts_and_estimates(make_case: Callable[..., CaseResult]) -> None:
    log, now = io.StringIO(), [0.0]
    with Progress(8, log, interactive=False, every_s=1000, clock=lambda: now[0]) as progress:
        for case in (
            make_case("a"),
            make_case("b", 0),
            replace(make_case("c"), outcome="unscored", scores={}),
            replace(make_case("d"), outcome="no_sql"),
        ):
            progress(case)
        now[0] = 60.0
        line = progress.line()
    assert line == "4 of 8 cases, 1 right, 2 wrong, 1 not measured, 1 min 0 s, about 1 min 0 s left"
    assert log.getvalue() == f"{line}\n"


def test_a_terminal_gets_a_bar_that_vanishes(make_case: Callable[..., CaseResult]) -> None:
    terminal = io.StringIO()
    with Progress(2, terminal, interactive=True) as progress:
        progress(make_case("a"))
    assert "cases, " not in terminal.getvalue()
