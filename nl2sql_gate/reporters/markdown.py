"""The report as Markdown, for a job summary, a pull-request comment or any other host.

Verdict first, then its cause, the gates, a picture, what broke; everything else is folded; what to do next and where it all
comes from close it. What does not fit is left out whole, by a ladder, and the text says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from nl2sql_gate.github.comment_body import marker
from nl2sql_gate.github.limits import COMMENT_BYTES, SUMMARY_BYTES, first_that_fits
from nl2sql_gate.github.untrusted import prose
from nl2sql_gate.reporters import markdown_folded as folded
from nl2sql_gate.reporters import markdown_tables as tables
from nl2sql_gate.reporters import wording
from nl2sql_gate.reporters.chart import chart
from nl2sql_gate.reporters.findings import Finding, broke, wrong
from nl2sql_gate.reporters.report import Report

_ALERTS = {"pass": "TIP", "fail": "CAUTION", "undecided": "WARNING", "no_verdict": "WARNING"}
_REASONS = 5
_REASON_WIDTH = 400
_NOTES = 5
_LINES = 8


@dataclass(frozen=True, slots=True)
class Level:
    """How much is shown: named cases, opened cases, lines and rows of each sample, names in the folded lists."""

    cases: int
    opened: int
    sample: folded.Sample
    names: int = 200
    slices: bool = True
    picture: bool = True
    gates: int = 60
    frame: bool = True


_FULL, _SHORT, _SHORTEST = folded.Sample(60, 400, 10), folded.Sample(15, 200, 5), folded.Sample(6, 120, 3)

COMMENT_LEVELS = (
    Level(25, 25, _FULL),
    Level(25, 25, _SHORT),
    Level(25, 25, _SHORTEST),
    Level(25, 10, _SHORTEST, names=0),
    Level(10, 10, _SHORTEST, names=0),
    Level(5, 5, _SHORTEST, names=0),
    Level(5, 5, _SHORTEST, names=0, slices=False),
    Level(5, 5, _SHORTEST, names=0, slices=False, picture=False),
    Level(5, 0, _SHORTEST, names=0, slices=False, picture=False),
    Level(0, 0, _SHORTEST, names=0, slices=False, picture=False, gates=12),
    Level(0, 0, _SHORTEST, names=0, slices=False, picture=False, gates=0, frame=False),
)
"""The ladder of a comment: from all that helps to verdict and gates alone."""

SUMMARY_LEVELS = (Level(1000, 200, _FULL, names=2000), Level(500, 100, _SHORT, names=500), *COMMENT_LEVELS)
"""The ladder of a job summary."""


class MarkdownReporter:
    """Markdown of at most `max_bytes`."""

    def __init__(self, max_bytes: int = SUMMARY_BYTES, levels: tuple[Level, ...] = SUMMARY_LEVELS) -> None:
        self._max_bytes = max_bytes
        self._levels = levels

    def render(self, report: Report) -> str:
        """The job summary."""
        return self._fit(report, "")

    def render_comment(self, report: Report) -> str:
        """The same with the marker by which the comment is found again; use with `COMMENT_BYTES` and `COMMENT_LEVELS`."""
        return self._fit(report, f"{marker(report.gate)}\n")

    def _fit(self, report: Report, start: str) -> str:
        text, _ = first_that_fits(self._levels, lambda level: start + _render(report, level), max_bytes=self._max_bytes)
        return text


def comment(report: Report) -> str:
    """The body of the pull-request comment."""
    return MarkdownReporter(COMMENT_BYTES, COMMENT_LEVELS).render_comment(report)


def summary(report: Report, *, max_bytes: int = SUMMARY_BYTES) -> str:
    """The job summary, within what room there is."""
    return MarkdownReporter(max_bytes).render(report)


def _render(report: Report, level: Level) -> str:
    findings = broke(report) if report.comparison is not None else wrong(report)
    quiet = report.verdict.status == "pass" and not findings
    parts = [_heading(report), _alert(report, level)]
    middle = [tables.gates(report, limit=level.gates)] if level.gates else []
    if level.picture:
        middle.append(chart(report))
    if findings:
        middle.append(tables.cases(report, findings, limit=level.cases))
    if level.opened:
        middle += [folded.case(report, finding, level.sample) for finding in findings[: min(level.cases, level.opened)]]
    if level.names:
        middle += folded.lists(report, limit=level.names)
    if level.slices:
        middle.append(folded.slices(report))
    body = "\n\n".join(part for part in middle if part)
    if quiet and body:
        body = folded.fold("Gates, slices and everything else", body)
    parts += [body, _left_out(report, findings, level)]
    if level.frame:
        parts += [_next(report, findings), _earlier(report), _provenance(report)]
    elif report.links.run:
        parts.append(f"[Full report]({link(report.links.run)})")
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(report: Report) -> str:
    status = report.verdict.status
    name = f"NL2SQL gate {prose(report.gate, width=64)}"
    # A figure and its sign stay on one line.
    headline = prose(wording.headline(report), width=200).replace(" % (", "\u00a0%\u00a0(")
    return f"### {wording.ICONS[status]} {name} · {wording.WORDS[status]} · {headline}"


def _alert(report: Report, level: Level) -> str:
    status = report.verdict.status
    kind = "NOTE" if wording.is_first_run(report) else _ALERTS[status]
    reasons = report.verdict.reasons
    lines = [f"[!{kind}]", f"The verdict is **{wording.WORDS[status]}**."]
    lines += [f"- {prose(wording.reason_words(reason), width=_REASON_WIDTH)}" for reason in reasons[:_REASONS]]
    if len(reasons) > _REASONS:
        lines.append(f"- and {len(reasons) - _REASONS} more reasons")
    if level.frame:
        lines += [f"- {prose(wording.reason_words(note), width=_REASON_WIDTH)}" for note in report.verdict.notes[:_NOTES]]
    told = next(filter(None, (wording.primary_reason(reason, report) for reason in reasons[:_REASONS])), "")
    facts = [wording.evidence(report, told=told), wording.sight(report, told=told), wording.coverage(report)]
    lines += ["", f"{prose('. '.join(fact for fact in facts if fact))}."]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _left_out(report: Report, findings: list[Finding], level: Level) -> str:
    said = []
    total = len(findings)
    what = "broken" if report.comparison is not None else "wrong"
    if total > level.cases:
        said.append(f"{level.cases:,} of {total:,} {what} cases")
    elif total > level.opened:
        said.append(f"details of {level.opened:,} of {total:,} {what} cases")
    if not level.names:
        said.append("no lists of other cases")
    if not level.slices:
        said.append("no slices")
    if not level.gates:
        said.append("no table of gates")
    if not said:
        return ""
    return f"_Truncated to fit: this text shows {', '.join(said)}. The HTML and JSON reports hold everything._"


def _next(report: Report, findings: list[Finding]) -> str:
    lines = [f"- {prose(hint, width=_REASON_WIDTH)}" for hint in report.hints[:_LINES] if hint.strip()]
    if findings:
        commands = report.reproduction.of(findings[0].key)
        if commands:
            lines.append(f"- reproduce the first case: {folded.command_span(commands[0])}")
    if report.links.run:
        lines.append(f"- [full report in the run]({link(report.links.run)})")
    return "\n".join(["**Next**", "", *lines]) if lines else ""


def _earlier(report: Report) -> str:
    if not report.earlier:
        return ""
    return f"<sub>Earlier: {' · '.join(prose(line, width=120) for line in report.earlier[:_LINES] if line.strip())}</sub>"


def _provenance(report: Report) -> str:
    if not report.provenance:
        return ""
    return f"<sub>{' · '.join(prose(line, width=_REASON_WIDTH) for line in report.provenance)}</sub>"


def link(address: str) -> str:
    """An address for the round brackets of a Markdown link: nothing in it can close them."""
    return quote(address, safe=":/?#@!$&*+,;=%~-._", errors="replace")
