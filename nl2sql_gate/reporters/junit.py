"""The report as JUnit XML: the gates as one suite, then a suite for each dialect, a test for each case.

A wrong answer is a failure, what could not be measured an error; a golden error or a skipped case is skipped, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from nl2sql_gate.github.limits import shortened_lines
from nl2sql_gate.github.untrusted import one_line, visible
from nl2sql_gate.judgement import PASSING, Row, value_of
from nl2sql_gate.records import CaseResult
from nl2sql_gate.reporters import wording
from nl2sql_gate.reporters.findings import changes, why
from nl2sql_gate.reporters.report import Report

_NAME = 200
_MESSAGE = 500
_LINES = 40
_WIDTH = 300


class JUnitReporter:
    """JUnit XML, in the form that GitLab, Jenkins and the usual viewers read."""

    def render(self, report: Report) -> str:
        """The whole file."""
        root = ET.Element("testsuites", name=one_line(f"nl2sql-gate {report.gate}", width=_NAME))
        root.append(_gates(report))
        by_dialect: dict[str, list[CaseResult]] = {}
        for case in report.head.cases:
            by_dialect.setdefault(case.key.dialect, []).append(case)
        moved = changes(report)
        for dialect, cases in by_dialect.items():
            suite = ET.Element("testsuite", name=one_line(dialect, width=_NAME))
            suite.extend(_case(report, case, moved.get(case.key, "")) for case in cases)
            root.append(_counted(suite))
        for name in ("tests", "failures", "errors", "skipped"):
            root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
        root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
        ET.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _gates(report: Report) -> ET.Element:
    suite = ET.Element("testsuite", name="gates")
    properties = ET.SubElement(suite, "properties")
    for number, line in enumerate(report.provenance, 1):
        ET.SubElement(properties, "property", name=f"provenance {number}", value=one_line(line, width=_WIDTH))
    verdict = report.verdict
    said = "; ".join(reason.message for reason in verdict.reasons) or wording.headline(report)
    suite.append(_gate("verdict", verdict.status, said))
    suite.extend(_row(row) for row in verdict.rows if row.gated)
    return _counted(suite)


def _row(row: Row) -> ET.Element:
    return _gate(wording.row_name(row), row.status, row.words)


def _gate(name: str, status: str, said: str) -> ET.Element:
    test = ET.Element("testcase", classname="gates", name=one_line(name, width=_NAME), time="0.000")
    message = one_line(said, width=_MESSAGE)
    if status == "fail":
        ET.SubElement(test, "failure", message=message, type="gate")
    elif status == "no_verdict":
        ET.SubElement(test, "error", message=message, type="no_verdict")
    elif status == "undecided":
        ET.SubElement(test, "skipped", message=f"undecided: {message}")
    return test


def _case(report: Report, case: CaseResult, change: str) -> ET.Element:
    trial = f" (trial {case.key.trial})" if case.key.trial > 1 else ""
    test = ET.Element(
        "testcase",
        classname=one_line(f"{case.key.dialect}.{case.key.database}", width=_NAME),
        name=one_line(f"{case.key.id}{trial}", width=_NAME),
        time=f"{case.latency_s or 0:.3f}",
    )
    place = report.places.get(case.key.id)
    if place is not None and place.file:
        test.set("file", one_line(place.file, width=_NAME))
        if place.line:
            test.set("line", str(place.line))
    value = value_of(case, report.primary)
    if value is not None and value >= PASSING:
        return test
    message = one_line(f"{change}: {why(case, report.primary)}" if change else why(case, report.primary), width=_MESSAGE)
    if case.outcome in {"golden_error", "skipped"}:
        ET.SubElement(test, "skipped", message=f"{case.outcome.replace('_', ' ')}: {message}")
        return test
    kind = "error" if value is None else "failure"
    code = case.reason.code if case.reason is not None else case.outcome
    body = ET.SubElement(test, kind, message=message, type=one_line(code, width=_NAME))
    body.text = "\n".join(_body(report, case))
    return test


def _body(report: Report, case: CaseResult) -> Iterable[str]:
    for title, text in (
        ("question", case.question),
        ("golden SQL", ";\n".join(case.golden_sql)),
        ("generated SQL", case.sql),
        ("the database says", case.error.message if case.error else ""),
        ("reproduce", "\n".join(report.reproduction.of(case.key))),
    ):
        if text:
            yield f"{title}:\n{shortened_lines(visible(text), lines=_LINES, width=_WIDTH)}\n"


def _counted(suite: ET.Element) -> ET.Element:
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(test.find(kind) is not None for test in tests)))
    suite.set("time", f"{sum(float(test.get('time', '0')) for test in tests):.3f}")
    return suite
