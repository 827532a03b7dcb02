"""The JSON report: valid, stable, public."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from nl2sql_gate.records import CaseResult, Reason, ResultSet, Score
from nl2sql_gate.reporters.json_v1 import json_report
from nl2sql_gate.reporters.report import Report

CELLS = (
    Decimal("1.10"),
    date(2024, 1, 2),
    timedelta(hours=26),
    b"\xde\xad",
    UUID(int=7),
    Decimal("NaN"),
    math.nan,
    -math.inf,
    None,
)


def _strict(text: str) -> dict[str, object]:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    tree: dict[str, object] = json.loads(text, parse_constant=refuse)
    return tree


def test_cells_of_all_kinds_give_valid_json(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    result = ResultSet(tuple(map(str, range(len(CELLS)))), (CELLS,))
    score = Score(0.0, Reason("differs", "m", {"share": math.inf}))
    report = make_report([make_case("a", 0, result=result, golden_result=result, scores={"execution_accuracy": score})])
    case = _strict(json_report(report))["cases"][0]  # type: ignore[index]
    assert case["result"]["rows"][0][:2] == [{"decimal": "1.10"}, {"date": "2024-01-02"}]


def test_it_says_what_the_report_shows(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    head = [*(make_case(f"o{i}", int(i > 9)) for i in range(40)), make_case("new", 0)]
    base = [*(make_case(f"o{i}", int(i != 10)) for i in range(40)), make_case("gone")]
    tree = json.loads(json_report(make_report(head, base)))
    assert tree["format"] == "nl2sql-gate/report/v1"
    assert tree["gate"] == "orders-eval"
    assert tree["verdict"]["status"] == "fail"
    assert tree["verdict"]["reasons"][0]["code"] == "drop_proven"
    assert [pair["id"] for pair in tree["comparison"]["metrics"]["execution_accuracy"]["broke"]] == [f"o{i}" for i in range(10)]
    assert {case["id"]: case["change"] for case in tree["cases"] if case["change"]} == {
        **{f"o{i}": "broke" for i in range(10)},
        "o10": "fixed",
        "new": "new",
    }


def test_replies_are_never_in_it_and_rows_only_where_they_may_be(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    rows = ResultSet(("c",), tuple((f"private {i}",) for i in range(30)))
    head = [make_case("a", 0, result=rows, reply="the raw reply"), make_case("b", result=rows)]
    text = json_report(make_report(head))
    assert "raw reply" not in text
    assert text.count("private") == 10
    assert "private" not in json_report(make_report(head, show_rows=False))


def test_the_same_report_has_the_same_bytes(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    head = [make_case(f"o{i}", i % 2) for i in range(20)]
    assert json_report(make_report(head, head)) == json_report(make_report(head, head))


def test_half_a_surrogate_pair_survives(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    text = json_report(make_report([replace(make_case("a"), question="\ud800")]))
    assert json.loads(text)["cases"][0]["question"] == "\ud800"
    text.encode()
