"""JUnit XML that a real consumer takes, whatever stands in a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from nl2sql_gate.records import CaseResult, Place, Reason, SqlError
from nl2sql_gate.reporters.junit import JUnitReporter
from nl2sql_gate.reporters.report import Report


def test_a_consumer_counts_what_the_report_counts(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    head = [
        *(make_case(f"o{i}", int(i > 8)) for i in range(60)),
        make_case("pg", dialect="postgres"),
        replace(make_case("gold"), outcome="golden_error", scores={}, reason=Reason("golden", "no such column")),
        replace(make_case("lost"), outcome="unscored", scores={}, reason=Reason("endpoint", "HTTP 503")),
    ]
    report = make_report(head, [make_case(f"o{i}") for i in range(60)], places={"o0": Place("evals/items.json", 12)})
    xml = JUnitXml.fromstring(JUnitReporter().render(report).encode())
    suites = {suite.name: suite for suite in xml}
    assert list(suites) == ["gates", "sqlite", "postgres"]
    sqlite = suites["sqlite"]
    assert (sqlite.tests, sqlite.failures, sqlite.errors, sqlite.skipped) == (62, 9, 1, 1)
    tests = {test.name: test for test in sqlite}
    assert [type(result) for result in tests["o0"].result] == [Failure]
    assert tests["o0"].result[0].message == "broke: 1 row missing"
    assert "generated SQL:\nSELECT 2" in tests["o0"].result[0].text
    assert "--only o0:sqlite" in tests["o0"].result[0].text
    assert tests["o9"].result == []
    assert [type(result) for result in tests["gold"].result] == [Skipped]
    assert [type(result) for result in tests["lost"].result] == [Error]
    verdict = next(iter(suites["gates"]))
    assert [type(result) for result in verdict.result] == [Failure]


@pytest.mark.parametrize(
    "text", ["\x00\x1b[31mred\x1b[0m\x07", "]]> <failure/> & \"'", "a\nb\rc", "\ud800", "\ufffe", "=1+1", "x" * 30_000, " "]
)
def test_any_text_gives_valid_xml(make_report: Callable[..., Report], make_case: Callable[..., CaseResult], text: str) -> None:
    case = make_case(
        f"i{text}",
        0,
        dialect=f"d{text}",
        question=text,
        sql=text,
        golden_sql=(text,),
        error=SqlError(text),
        reason=Reason(text, text),
    )
    content = JUnitReporter().render(make_report([case], provenance=(text,), places={case.key.id: Place(text, 1)}))
    xml = JUnitXml.fromstring(content.encode())
    assert sum(suite.failures for suite in xml) == 1
    assert len(content) < 20_000
