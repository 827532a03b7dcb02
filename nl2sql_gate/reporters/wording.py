"""The words for a verdict, the same in every rendering."""

from __future__ import annotations

from nl2sql_gate.judgement import Row, Status
from nl2sql_gate.reporters import figures
from nl2sql_gate.reporters.report import Report

ICONS: dict[Status, str] = {"pass": "🟢", "fail": "🔴", "undecided": "🟡", "no_verdict": "⚪"}
SHOWN_ONLY = "⚪"
WORDS: dict[Status, str] = {"pass": "pass", "fail": "fail", "undecided": "undecided", "no_verdict": "no verdict"}

METRICS = {
    "execution_accuracy": "Execution accuracy (EX strict)",
    "execution_accuracy_bird": "Execution accuracy (BIRD's EX)",
}


def metric_name(metric: str) -> str:
    """A metric as people call it."""
    return METRICS.get(metric) or metric.replace("_", " ").capitalize()


def primary_row(report: Report) -> Row | None:
    """The row of the primary metric."""
    return next((row for row in report.verdict.rows if row.kind == "metric" and row.metric == report.primary), None)


def headline(report: Report) -> str:
    """The verdict in half a sentence, figures first."""
    row = primary_row(report)
    name = metric_name(report.primary).partition(" (")[0].lower()
    if row is not None and row.delta is not None and report.verdict.status != "no_verdict":
        moved = abs(100 * row.delta)
        if round(moved, 1) == 0:
            return f"{name} unchanged at {_accuracy(report)}"
        return f"{name} {'fell' if row.delta < 0 else 'rose'} {moved:.1f} points to {_accuracy(report)}"
    if report.verdict.status == "no_verdict" and report.verdict.reasons:
        return report.verdict.reasons[0].message
    return f"{name} {_accuracy(report)}"


def _accuracy(report: Report) -> str:
    accuracy = report.verdict.accuracy.get(report.primary)
    return figures.share(accuracy) if accuracy is not None else "not measured"


def coverage(report: Report) -> str:
    """`Coverage 97.5 % (195/200)`, with what is missing."""
    found = report.verdict.coverage.get(report.primary)
    if found is None:
        return "Coverage: nothing was to be measured"
    missing = found.expected - found.measured
    rest = f", {missing} not measured" if missing else ""
    return f"Coverage {figures.percent(found.share)} ({found.measured}/{found.expected}{rest})"


def evidence(report: Report) -> str:
    """Flips, p and interval of the primary metric in one sentence; empty without a comparison."""
    row = primary_row(report)
    if row is None or row.delta is None:
        return ""
    parts = [f"{row.broke} broke, {row.fixed} fixed ({row.items} compared)"]
    if row.p is not None:
        parts.append(figures.p_value(row.p))
    if row.p_database is not None:
        parts.append(f"by database {figures.p_value(row.p_database)}")
    if row.interval is not None:
        parts.append(f"90 % interval {figures.interval(*row.interval)} points")
    return "; ".join(parts)


def provable(row: Row) -> str:
    """What the row could have proven, empty where that is unknown."""
    if row.provable is None:
        return ""
    text = f"could have proven a drop of {100 * row.provable:.1f} points"
    halve = []
    if row.items_to_halve:
        halve.append(f"{row.items_to_halve:,} items")
    if row.trials_to_halve:
        halve.append(f"{row.trials_to_halve} trials")
    return f"{text}; {' or '.join(halve)} would halve that" if halve else text
