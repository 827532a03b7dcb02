"""What the Markdown report folds away: one broken case in full, lists of other cases, slices."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql_gate.github.limits import shortened_lines
from nl2sql_gate.github.untrusted import cell_span, code_span, fence, html_text, prose, visible
from nl2sql_gate.judgement import Exclusion
from nl2sql_gate.records import CaseKey, CaseResult, ResultSet, Row, Warned
from nl2sql_gate.reporters import figures
from nl2sql_gate.reporters import slices as slicing
from nl2sql_gate.reporters.findings import Finding, arrivals, fixed, golden_errors, unmeasured, why
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.rows import row_difference, text_table

_CELL_WIDTH = 40
_WHY_WIDTH = 200
_ID_WIDTH = 80
_COMMAND_WIDTH = 600
_QUESTION_WIDTH = 1000
_SLICES = 20


@dataclass(frozen=True, slots=True)
class Sample:
    """How much of each text is shown."""

    lines: int
    width: int
    rows: int


def fold(summary: str, body: str) -> str:
    """A folded section; `summary` is plain text or HTML of ours. The blank lines make the body Markdown again."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def command_span(command: str) -> str:
    """A command to copy, on one line."""
    return code_span(command, width=_COMMAND_WIDTH)


def case(report: Report, finding: Finding, sample: Sample) -> str:
    """Question, both SQL texts, what differs, and how to reproduce it."""
    now = finding.case
    parts = []
    if now.question:
        parts.append(f"**Question** {code_span(now.question, width=_QUESTION_WIDTH)}")
    parts.append(f"**Why** {code_span(finding.why, width=_QUESTION_WIDTH)}")
    parts += _sql(finding, sample)
    if now.error is not None and now.error.message:
        parts += ["**The database says**", _cut(now.error.message, sample)]
    if report.show_rows:
        parts += _rows(now, sample)
    commands = report.reproduction.of(finding.key)
    if commands:
        parts += ["**Reproduce**", fence("\n".join(visible(command) for command in commands), "sh")]
    summary = f"{html_text(finding.key.id, width=_ID_WIDTH)} · {html_text(finding.key.dialect)} · SQL, rows, reproduce"
    return fold(summary, "\n\n".join(parts))


def lists(report: Report, *, limit: int) -> list[str]:
    """Every other group of cases that a reader may ask for, by name."""
    new, removed, changed = arrivals(report)
    excluded = report.comparison.excluded if report.comparison is not None else ()
    sections = [
        ("fixed", [_finding_line(finding) for finding in fixed(report)]),
        ("golden SQL fails", [_case_line(found) for found in golden_errors(report)]),
        ("not measured", [_case_line(found) for found in unmeasured(report)]),
        ("new", [_key_line(key) for key in new]),
        ("removed", [_key_line(key) for key in removed]),
        ("changed since the baseline, not compared", [_key_line(key) for key in changed]),
        ("left out of the test", [_excluded_line(each) for each in excluded]),
        ("warnings", [_warning_line(warned) for warned in _warnings(report)]),
    ]
    return [fold(f"{len(lines):,} {title}", _listed(lines, limit)) for title, lines in sections if lines]


def slices(report: Report) -> str:
    """The primary metric by dialect, difficulty, type, database and tag."""
    groups = slicing.all_slices(report)
    if not groups:
        return ""
    lines = ["| Slice | Baseline | This run | Broke | Fixed |", "|:--|--:|--:|--:|--:|"]
    for group in groups:
        lines += [_slice_line(found) for found in group[:_SLICES]]
        if len(group) > _SLICES:
            lines.append(f"| {group[0].by}: {len(group) - _SLICES} more | | | | |")
    return fold(f"By {', '.join(group[0].by for group in groups)}", "\n".join(lines))


def _sql(finding: Finding, sample: Sample) -> list[str]:
    now = finding.case
    old = finding.old.sql if finding.old is not None else ""
    parts = []
    if now.golden_sql:
        parts += ["**Golden SQL**", _cut(";\n".join(now.golden_sql), sample, "sql")]
    if now.sql and old and old != now.sql:
        changed = difflib.unified_diff(_lines(old, sample), _lines(now.sql, sample), "baseline", "this run", lineterm="", n=3)
        parts += ["**Generated SQL**, against the baseline's", _cut("\n".join(changed), sample, "diff")]
    elif now.sql:
        parts += ["**Generated SQL**" + (", the same as in the baseline" if old else ""), _cut(now.sql, sample, "sql")]
    elif now.reply:
        parts += ["**The reply**, which holds no SQL", _cut(now.reply, sample)]
    return parts


def _lines(sql: str, sample: Sample) -> list[str]:
    return shortened_lines(visible(sql), lines=sample.lines, width=sample.width).split("\n")


def _rows(now: CaseResult, sample: Sample) -> list[str]:
    golden, result = now.golden_result, now.result
    if golden is None or result is None:
        return []
    whole = now.golden_rows <= len(golden.rows) and now.result_rows <= len(result.rows)
    if len(golden.columns) == len(result.columns) and whole:
        beyond = row_difference(golden, result)
        pairs = [("Rows missing", golden.columns, beyond.missing), ("Rows too many", result.columns, beyond.extra)]
        found = [(title, columns, rows) for title, columns, rows in pairs if rows]
        if found:
            return [part for title, columns, rows in found for part in _difference(title, columns, rows, sample)]
    return [*_result("Golden result", golden, now.golden_rows, sample), *_result("This result", result, now.result_rows, sample)]


def _difference(title: str, columns: Sequence[str], rows: Sequence[Row], sample: Sample) -> tuple[str, str]:
    return f"**{title}** ({len(rows):,})", fence(text_table(columns, rows, width=_CELL_WIDTH, max_rows=sample.rows))


def _result(title: str, result: ResultSet, total: int, sample: Sample) -> list[str]:
    table = text_table(result.columns, result.rows, width=_CELL_WIDTH, max_rows=sample.rows, total=total)
    return [f"**{title}** ({max(total, len(result.rows)):,} rows)", fence(table)]


def _cut(text: str, sample: Sample, language: str = "") -> str:
    return fence(shortened_lines(visible(text), lines=sample.lines, width=sample.width), language)


def _listed(lines: Sequence[str], limit: int) -> str:
    shown = [f"- {line}" for line in lines[:limit]]
    if len(lines) > limit:
        shown.append(f"- and {len(lines) - limit:,} more")
    return "\n".join(shown)


def _key_line(key: CaseKey) -> str:
    trial = f" trial {key.trial}" if key.trial > 1 else ""
    return f"{code_span(key.id, width=_ID_WIDTH)} {code_span(key.dialect)}{trial}"


def _finding_line(finding: Finding) -> str:
    return f"{_key_line(finding.key)} · {finding.now} ← {finding.before}"


def _case_line(found: CaseResult) -> str:
    return f"{_key_line(found.key)} · {code_span(why(found), width=_WHY_WIDTH)}"


def _warning_line(warned: Warned) -> str:
    parts = [code_span(warned.subject, width=_ID_WIDTH) if warned.subject else "", prose(warned.message, width=_WHY_WIDTH)]
    place = f"({code_span(str(warned.place))})" if warned.place.file else ""
    return " ".join(part for part in (*parts, place) if part)


def _warnings(report: Report) -> list[Warned]:
    return list(dict.fromkeys([*report.head.warnings, *(warned for found in report.head.cases for warned in found.warnings)]))


def _excluded_line(exclusion: Exclusion) -> str:
    until = f"until {exclusion.expiry}" if exclusion.expiry else ""
    said = [prose(text, width=_WHY_WIDTH) for text in (exclusion.reason, until, exclusion.evidence, exclusion.link) if text]
    return " · ".join([_key_line(exclusion.key), exclusion.kind, *said])


def _slice_line(found: slicing.Slice) -> str:
    now = figures.share_of(found.share, found.total, found.n) if found.share is not None else "–"
    then = figures.share_of(found.old_share, found.old_total, found.old_n) if found.old_share is not None else "–"
    name = f"{found.by} {cell_span(found.value, width=_ID_WIDTH)}"
    return f"| {name} | {then} | {now} | {found.broke} | {found.fixed} |"
