"""The words for a verdict, the same in every rendering."""

from __future__ import annotations

from nl2sql_gate.judgement import Row, Status
from nl2sql_gate.records import Reason
from nl2sql_gate.reporters import figures
from nl2sql_gate.reporters.report import Report

ICONS: dict[Status, str] = {"pass": "🟢", "fail": "🔴", "undecided": "🟡", "no_verdict": "⚪"}
SHOWN_ONLY = "⚪"
WORDS: dict[Status, str] = {"pass": "pass", "fail": "fail", "undecided": "undecided", "no_verdict": "no verdict"}

METRICS = {
    "execution_accuracy": "EX strict",
    "execution_accuracy_bird": "EX of BIRD",
}
_IN_FULL = {"execution_accuracy": "execution accuracy", "execution_accuracy_bird": "BIRD's execution accuracy"}


def metric_name(metric: str) -> str:
    """A metric as people call it."""
    return METRICS.get(metric) or metric.replace("_", " ").capitalize()


def full_name(metric: str) -> str:
    """A metric as it is called within a sentence."""
    return _IN_FULL.get(metric) or metric.replace("_", " ")


def row_name(row: Row) -> str:
    """What a row is called: metrics as people call them, others by their own name."""
    return _named(row.name)


def row_words(row: Row) -> str:
    """What a row says beside its status."""
    return row.words if row.gated else row.words.removesuffix("shown only").rstrip("; ")


def reason_words(reason: Reason) -> str:
    """A reason's message, metrics called as people call them."""
    return _named(reason.message.strip() or reason.code)


def primary_reason(reason: Reason, report: Report) -> str:
    """The reason's message where it is the primary metric's own, else nothing."""
    return reason.message if reason.message.startswith(f"{report.primary}: ") else ""


def _named(text: str) -> str:
    """`text` with the metric at its beginning called as people call it: `execution_accuracy floor`, `execution_accuracy: …`."""
    name = text.partition(":")[0].partition(" ")[0]
    return f"{METRICS[name]}{text[len(name) :]}" if name in METRICS else text


def main_rows(report: Report) -> list[Row]:
    """The rows of the table of gates: all but slices that only inform, which have a table of their own."""
    return [row for row in report.verdict.rows if row.gated or row.kind != "slice"]


def is_first_run(report: Report) -> bool:
    """Whether all that stands in the way of a verdict is that there is no baseline yet."""
    codes = {reason.code for reason in report.verdict.reasons}
    return report.comparison is None and codes == {"no_baseline"}


def primary_row(report: Report) -> Row | None:
    """The row of the primary metric."""
    return next((row for row in report.verdict.rows if row.kind == "metric" and row.metric == report.primary), None)


def headline(report: Report) -> str:
    """The verdict in half a sentence, figures first."""
    status = report.verdict.status
    name = full_name(report.primary)
    if is_first_run(report):
        return f"first run, no baseline yet: {name} {_accuracy(report)}"
    row = primary_row(report)
    if status != "no_verdict" and row is not None and row.delta is not None:
        moved = figures.moved(row)
        if not float(moved):
            return f"{name} unchanged at {_accuracy(report)}"
        return f"{name} {'fell' if row.delta < 0 else 'rose'} {moved} points to {_accuracy(report)}"
    if status == "no_verdict" and report.verdict.reasons:
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


def evidence(report: Report, *, told: str = "") -> str:
    """What stands behind the primary metric's figure, in one sentence, without what `told` says already."""
    row = primary_row(report)
    if row is None or row.delta is None:
        return ""
    parts = [f"{row.broke} broke, {row.fixed} fixed of {row.items} items"]
    if row.p is not None:
        parts.append(figures.p_value(row.p))
    if row.p_database is not None:
        parts.append(f"flipping whole databases {figures.p_value(row.p_database)}")
    if row.interval is not None:
        parts.append(f"90 % interval {figures.interval(*row.interval)} points")
    return "; ".join(part for part in parts if part not in told)


def sight(report: Report, *, told: str = "") -> str:
    """The smallest drop that this comparison could have proven, and what would halve it; empty where a drop is proven.

    Only what would halve it, where `told` names the drop already.
    """
    row = primary_row(report)
    if row is None or row.provable is None:
        return ""
    if row.provable >= 1:
        if "no drop at all could be proven" in told:
            return ""
        return f"On so few items{' that change so often' if row.churn else ''} no drop at all could have been proven"
    text = f"A drop of {100 * row.provable:.1f} points could have been proven four times in five"
    halve = [f"{row.items_to_halve:,} items"] if row.items_to_halve else []
    halve += [f"{row.trials_to_halve} trials"] if row.trials_to_halve else []
    if f"could prove a drop of {100 * row.provable:.1f} point" in told:
        return f"{' or '.join(halve)} would halve the drop that could be proven" if halve else ""
    return f"{text}; {' or '.join(halve)} would halve that" if halve else text
