"""Tables of the Markdown report: the gates, and the cases that broke."""

from __future__ import annotations

from urllib.parse import quote

from nl2sql_gate.github.untrusted import cell_prose, cell_span
from nl2sql_gate.judgement import Row
from nl2sql_gate.reporters import figures, wording
from nl2sql_gate.reporters.findings import Finding
from nl2sql_gate.reporters.report import Report

_ID_WIDTH = 80
_WHY_WIDTH = 160
_NAME_WIDTH = 80
_WORDS_WIDTH = 240


def gates(report: Report, *, limit: int) -> str:
    """One line a gate: baseline, this run, difference, and what the gate says."""
    rows = wording.main_rows(report)
    if not rows:
        return _alone(report)
    lines = ["| | Baseline | This run | Δ | Verdict |", "|:--|--:|--:|--:|:--|"]
    lines += [_gate(row) for row in rows[:limit]]
    lines += _ungated(report, rows)
    if len(rows) > limit:
        lines += ["", f"_{len(rows) - limit} more gates are in the full report._"]
    return "\n".join(lines)


def cases(report: Report, findings: list[Finding], *, limit: int) -> str:
    """The broken cases, or without a baseline the wrong ones, the most important first."""
    compared = report.comparison is not None
    word = "Broke" if compared else "Wrong"
    shown = findings[:limit]
    head = f"**{word} ({len(findings):,})**" + (f" · the first {len(shown):,}" if 0 < len(shown) < len(findings) else "")
    if not shown:
        return head
    last = "Runs" if compared else "Passed"
    return "\n".join(
        [head, "", f"| Question | Dialect | Why | {last} |", "|:--|:--|:--|--:|", *(_case(report, each) for each in shown)]
    )


def _gate(row: Row) -> str:
    icon = wording.ICONS[row.status] if row.gated else wording.SHOWN_ONLY
    said = f"{icon} {cell_prose(wording.row_words(row), width=_WORDS_WIDTH)}".rstrip()
    if row.p_adjusted is not None:
        said += f" · corrected {figures.p_value(row.p_adjusted)}"
    name = cell_prose(wording.row_name(row), width=_NAME_WIDTH)
    cells = [name, figures.figure(row, row.baseline), figures.figure(row, row.head), figures.change(row), said]
    return f"| {' | '.join(cells)} |"


def _alone(report: Report) -> str:
    accuracy = report.verdict.accuracy
    lines = ["| | This run |", "|:--|--:|"]
    lines += [f"| {cell_prose(wording.metric_name(name))} | {figures.share(accuracy[name])} |" for name in sorted(accuracy)]
    return "\n".join(lines) if accuracy else ""


def _ungated(report: Report, rows: list[Row]) -> list[str]:
    """Metrics without a row of their own: BIRD's EX always stands beside ours."""
    named = {row.metric for row in rows if row.kind == "metric"}
    accuracy = report.verdict.accuracy
    others = [name for name in sorted(accuracy) if name not in named]
    return [
        f"| {cell_prose(wording.metric_name(name))} | – | {figures.share(accuracy[name])} | – | {wording.SHOWN_ONLY} shown only |"
        for name in others
    ]


def _case(report: Report, finding: Finding) -> str:
    name = cell_span(finding.key.id, width=_ID_WIDTH)
    place = report.places.get(finding.key.id)
    if report.links.source and place is not None and place.line and not place.file.startswith(("/", "..")):
        name = f"[{name}]({quote(f'{report.links.source}/{place.file}', safe=':/?=%-._~', errors='replace')}#L{place.line})"
    if finding.required:
        name += " ⭐"
    if finding.excluded is not None:
        name += f" ({finding.excluded.kind})"
    runs = f"{finding.now} ← {finding.before}" if finding.before.n else str(finding.now)
    return f"| {name} | {cell_span(finding.key.dialect)} | {cell_span(finding.why, width=_WHY_WIDTH)} | {runs} |"
