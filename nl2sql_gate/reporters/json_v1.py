"""`report.json`: what the report shows, for programs and fit for the public: no replies, rows only where they may be shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2sql_gate.judgement import PASSING, value_of
from nl2sql_gate.records import CaseResult, ResultSet
from nl2sql_gate.reporters.findings import changes
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.runfile.entries import case_entry, result_entry, warned_entry
from nl2sql_gate.runfile.writing import document

FORMAT = "nl2sql-gate/report/v1"
SHOWN_ROWS = 10

_PRIVATE = ("reply", "result", "golden_result")


class JsonReporter:
    """The JSON report, one case a line."""

    def render(self, report: Report) -> str:
        """The whole file."""
        return json_report(report)


def json_report(report: Report) -> str:
    """The text of `report.json`; the same report gives the same text."""
    moved = changes(report)
    head: dict[str, Any] = {
        "format": FORMAT,
        "gate": report.gate,
        "primary": report.primary,
        "metrics": list(report.head.metrics),
        "complete": report.head.complete,
        "verdict": report.verdict.to_json(),
        "comparison": report.comparison.to_json() if report.comparison is not None else None,
        "provenance": report.head.provenance,
        "baseline": report.baseline.provenance if report.baseline is not None else None,
        "lines": list(report.provenance),
        "warnings": [warned_entry(warning) for warning in report.head.warnings],
    }
    entries = ({**_entry(report, case), "change": moved.get(case.key)} for case in report.head.cases)
    return document(head, "cases", entries).decode()


def _entry(report: Report, case: CaseResult) -> dict[str, Any]:
    entry = {
        name: value for name, value in case_entry(replace(case, result=None, golden_result=None)).items() if name not in _PRIVATE
    }
    value = value_of(case, report.primary)
    if report.show_rows and value is not None and value < PASSING:
        shown = {"result": case.result, "golden_result": case.golden_result}
        entry |= {name: result_entry(_first_rows(result)) for name, result in shown.items() if result is not None}
    return entry


def _first_rows(result: ResultSet) -> ResultSet:
    return replace(result, rows=result.rows[:SHOWN_ROWS])
