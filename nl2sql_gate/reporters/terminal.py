"""The report for a terminal or a log: verdict first, then the gates, then every case that broke, with its reason.

Foreign text is put in as text, never as markup, after its controls were made visible.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nl2sql_gate.github.commands import harmless
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.judgement import Exclusion, Row, Status
from nl2sql_gate.records import CaseKey, CaseResult, Reason, Warned
from nl2sql_gate.reporters import figures, wording
from nl2sql_gate.reporters.findings import Finding, arrivals, broke, fixed, golden_errors, unmeasured, why, wrong
from nl2sql_gate.reporters.report import Report

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

STYLES: dict[Status, str] = {"pass": "bold green", "fail": "bold red", "undecided": "bold yellow", "no_verdict": "bold yellow"}

SHOWN_CASES = 50
SHOWN_GROUP = 20
_MESSAGE_WIDTH = 300
_ID_WIDTH = 80


class TerminalReporter:
    """Text of `width` columns; `color` adds the terminal's codes."""

    def __init__(self, width: int = 120, *, color: bool = False) -> None:
        self._width = width
        self._color = color

    def render(self, report: Report) -> str:
        """The whole report, without anything that a runner would take for a command."""
        # Only here: rich takes longer to import than `--help` may take.
        from rich.console import Console
        from rich.text import Text

        stream = io.StringIO()
        console = Console(
            file=stream,
            width=self._width,
            force_terminal=self._color,
            no_color=not self._color,
            color_system="standard" if self._color else None,
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=False,
        )
        for part in _parts(report):
            # A command to paste must not be broken in two.
            console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
        lines = (line.rstrip() for line in stream.getvalue().split("\n"))
        return harmless("\n".join(lines)).rstrip("\n") + "\n"


def _parts(report: Report) -> Iterator[Text | Table | str]:
    from rich.text import Text

    status = report.verdict.status
    head = Text(f"{wording.WORDS[status].upper()}  ", style=STYLES[status])
    head.append(one_line(wording.headline(report), width=_MESSAGE_WIDTH), style="bold")
    yield head
    for fact in (wording.evidence(report), wording.sight(report), wording.coverage(report), _outcomes(report)):
        if fact:
            yield Text(f"      {fact}")
    yield from _reasons(report.verdict.reasons, "reasons")
    yield from _reasons(report.verdict.notes, "notes")
    if report.verdict.rows or report.verdict.accuracy:
        yield ""
        yield _gates(report)
    yield from _cases(report)
    yield from _others(report)
    yield from _next(report)
    if report.provenance:
        yield ""
        yield Text("\n".join(one_line(line) for line in report.provenance), style="dim")


def _reasons(reasons: Sequence[Reason], title: str) -> Iterator[Text]:
    from rich.text import Text

    if not reasons:
        return
    yield Text(f"\n{title}", style="bold")
    for reason in reasons:
        yield Text(f"  - {one_line(wording.reason_words(reason), width=_MESSAGE_WIDTH)}")


def _gates(report: Report) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("gate", overflow="fold")
    for title in ("baseline", "this run", "change"):
        table.add_column(title, justify="right", no_wrap=False)
    table.add_column("verdict", overflow="fold", ratio=1)
    for row in wording.main_rows(report):
        style = STYLES[row.status] if row.gated else "dim"
        table.add_row(
            Text(one_line(wording.row_name(row))),
            figures.figure(row, row.baseline),
            figures.figure(row, row.head),
            figures.change(row),
            Text(_said(row), style=style),
        )
    named = {row.metric for row in report.verdict.rows if row.kind == "metric"}
    for name in sorted(set(report.verdict.accuracy) - named):
        shown = figures.share(report.verdict.accuracy[name])
        table.add_row(Text(one_line(wording.metric_name(name))), "–", shown, "–", Text("shown only", style="dim"))
    return table


def _said(row: Row) -> str:
    status = wording.WORDS[row.status] if row.gated else "shown only"
    words = one_line(wording.row_words(row), width=_MESSAGE_WIDTH)
    said = f"{status}: {words}" if words else status
    return said if row.p_adjusted is None else f"{said}, corrected {figures.p_value(row.p_adjusted)}"


def _cases(report: Report) -> Iterator[Text]:
    compared = report.comparison is not None
    findings = broke(report) if compared else wrong(report)
    yield from _group("broke" if compared else "wrong", map(_finding, findings), SHOWN_CASES)


def _others(report: Report) -> Iterator[Text]:
    new, removed, changed = arrivals(report)
    yield from _group("fixed", (_key(finding.key) for finding in fixed(report)), SHOWN_GROUP)
    # Golden errors are the dataset's, and each is named: one hidden is one never mended.
    yield from _group("golden SQL fails", map(_case, golden_errors(report)), len(report.head.cases))
    yield from _group("not measured", map(_case, unmeasured(report)), SHOWN_GROUP)
    yield from _group("new", map(_key, new), SHOWN_GROUP)
    yield from _group("removed", map(_key, removed), SHOWN_GROUP)
    yield from _group("changed, not compared", map(_key, changed), SHOWN_GROUP)
    excluded = report.comparison.excluded if report.comparison is not None else ()
    yield from _group("left out of the test", map(_excluded, excluded), SHOWN_GROUP)
    yield from _group("warnings", map(_warned, dict.fromkeys(report.head.warnings)), SHOWN_GROUP)


def _group(title: str, members: Iterable[str], limit: int) -> Iterator[Text]:
    from rich.text import Text

    lines = list(members)
    if not lines:
        return
    yield Text(f"\n{title} ({len(lines):,})", style="bold")
    for line in lines[:limit]:
        yield Text(f"  {line}")
    if len(lines) > limit:
        yield Text(f"  and {len(lines) - limit:,} more")


def _key(key: CaseKey) -> str:
    trial = f" trial {key.trial}" if key.trial > 1 else ""
    return f"{one_line(key.id, width=_ID_WIDTH)} [{one_line(key.dialect)}]{trial}"


def _finding(finding: Finding) -> str:
    marks = (" (required)" if finding.required else "") + (f" ({finding.excluded.kind})" if finding.excluded else "")
    runs = f"  {finding.now} ← {finding.before}" if max(finding.now.n, finding.before.n) > 1 else ""
    return f"{_key(finding.key)}{marks}{runs}: {one_line(finding.why, width=_MESSAGE_WIDTH)}"


def _case(case: CaseResult) -> str:
    return f"{_key(case.key)}: {one_line(why(case), width=_MESSAGE_WIDTH)}"


def _excluded(exclusion: Exclusion) -> str:
    until = f"until {exclusion.expiry}" if exclusion.expiry else ""
    said = ", ".join(text for text in (exclusion.kind, exclusion.reason, until, exclusion.link) if text)
    return f"{_key(exclusion.key)}: {one_line(said, width=_MESSAGE_WIDTH)}"


def _warned(warned: Warned) -> str:
    place = f" ({warned.place})" if warned.place.file else ""
    return one_line(f"{warned.subject}: {warned.message}{place}".removeprefix(": "), width=_MESSAGE_WIDTH)


def _next(report: Report) -> Iterator[Text]:
    from rich.text import Text

    findings = broke(report) if report.comparison is not None else wrong(report)
    lines = [one_line(hint) for hint in report.hints]
    if findings:
        lines += [f"reproduce the first: {one_line(command)}" for command in report.reproduction.of(findings[0].key)[-1:]]
    if report.links.run:
        lines.append(f"full report: {report.links.run}")
    if lines:
        yield Text("\nnext", style="bold")
        for line in lines:
            yield Text(f"  - {line}", no_wrap=True, overflow="ignore")


def _outcomes(report: Report) -> str:
    counts = Counter(case.outcome for case in report.head.cases)
    return f"{len(report.head.cases):,} cases: " + ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
