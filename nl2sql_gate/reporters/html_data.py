"""The cases of the HTML report as JSON: a light index for the table, and details in chunks that are parsed when one is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nl2sql_gate.github.limits import shortened, shortened_lines
from nl2sql_gate.github.untrusted import one_line, visible
from nl2sql_gate.judgement import PASSING, value_of
from nl2sql_gate.records import CaseKey, CaseResult, ResultSet
from nl2sql_gate.reporters.findings import changes, why
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.rows import cell_text

CHUNK = 200
"""Cases whose details are parsed together."""

_ROWS, _ROWS_RIGHT = 50, 5
_COLUMNS = 40
_CELL = 300
_TEXT, _REPLY_RIGHT = 20_000, 2_000
_LINES, _WIDTH = 400, 2_000
_INDEXED_SQL = 300
_INDEXED_WHY = 300
_INDEXED_QUESTION = 500

FIELDS = (
    "id",
    "dialect",
    "database",
    "trial",
    "outcome",
    "change",
    "value",
    "why",
    "question",
    "sql",
    "tags",
    "required",
    "latency",
)


def index(report: Report) -> dict[str, Any]:
    """What the table shows, sorts, filters and searches: rows of `FIELDS`; tags are places in `tags`."""
    tags: dict[str, int] = {}
    moved = changes(report)
    rows = []
    for case in report.head.cases:
        value = value_of(case, report.primary)
        right = value is not None and value >= PASSING
        rows.append(
            [
                one_line(case.key.id),
                one_line(case.key.dialect),
                one_line(case.key.database),
                case.key.trial,
                case.outcome,
                moved.get(case.key, ""),
                value,
                "" if right else one_line(why(case, report.primary), width=_INDEXED_WHY),
                one_line(case.question, width=_INDEXED_QUESTION),
                one_line(case.sql, width=_INDEXED_SQL),
                [tags.setdefault(one_line(tag), len(tags)) for tag in case.tags],
                int(case.key.id in report.required),
                case.latency_s,
            ]
        )
    return {"fields": list(FIELDS), "rows": rows, "tags": list(tags), "chunk": CHUNK, "rows_shown": report.show_rows}


def chunks(report: Report) -> Iterator[list[dict[str, Any]]]:
    """Details of the cases, in the order of the index, `CHUNK` at a time."""
    old = {} if report.baseline is None else {case.key: case for case in report.baseline.cases}
    cases = report.head.cases
    for start in range(0, len(cases), CHUNK):
        yield [_details(report, case, old) for case in cases[start : start + CHUNK]]


def embedded(value: Any) -> str:
    """JSON that may stand inside a `script` element: nothing in it can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _details(report: Report, case: CaseResult, old: dict[CaseKey, CaseResult]) -> dict[str, Any]:
    value = value_of(case, report.primary)
    right = value is not None and value >= PASSING
    before = old.get(case.key)
    found: dict[str, Any] = {
        "sql": _text(case.sql),
        "golden": [_text(sql) for sql in case.golden_sql],
        "reply": _text(shortened(case.reply, _REPLY_RIGHT if right else _TEXT)),
        "commands": [visible(command) for command in report.reproduction.of(case.key)],
        "facts": _facts(case),
    }
    if before is not None:
        found["old"] = {"sql": _text(before.sql), "outcome": before.outcome, "value": value_of(before, report.primary)}
    if case.error is not None:
        found["error"] = _text(f"{case.error.code} {case.error.message}".strip())
    if case.warnings:
        found["warnings"] = [one_line(warning.message) for warning in case.warnings]
    if report.show_rows:
        limit = _ROWS_RIGHT if right else _ROWS
        found["result"] = _result(case.result, case.result_rows, limit)
        found["expected"] = _result(case.golden_result, case.golden_rows, limit)
    return {name: given for name, given in found.items() if given}


def _facts(case: CaseResult) -> list[list[str]]:
    tokens = "/".join("?" if count is None else f"{count:,}" for count in (case.tokens_in, case.tokens_out))
    pairs = [
        ("model", one_line(case.model)),
        ("latency", "" if case.latency_s is None else f"{case.latency_s:.3f} s"),
        ("tokens in/out", "" if case.tokens_in is None and case.tokens_out is None else tokens),
        ("cost", "" if case.cost is None else f"{case.cost:.6f}"),
        ("SQL took", "" if case.sql_s is None else f"{1000 * case.sql_s:,.1f} ms"),
        ("found by", one_line(case.rule)),
        ("reply", "replayed" if case.replayed else ""),
        ("difficulty", one_line(case.difficulty)),
        ("type", case.query_type),
    ]
    return [[name, text] for name, text in pairs if text]


def _text(text: str) -> str:
    return shortened_lines(visible(text), lines=_LINES, width=_WIDTH) if text else ""


def _result(result: ResultSet | None, total: int, limit: int) -> dict[str, Any] | None:
    if result is None:
        return None
    rows = [[one_line(cell_text(cell), width=_CELL) for cell in row[:_COLUMNS]] for row in result.rows[:limit]]
    columns = [one_line(name, width=_CELL) for name in result.columns[:_COLUMNS]]
    return {"columns": columns, "rows": rows, "total": max(total, len(result.rows)), "width": len(result.columns)}
