"""The two execution accuracies: values, reasons, effects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.records import Json, RowOrder, Score, SqlError
from nl2sql_gate.scorers.execution_accuracy import ExecutionAccuracy
from nl2sql_gate.scorers.execution_accuracy_bird import ExecutionAccuracyBird
from nl2sql_gate.scorers.result_equality import equal_results

TWO = ("a,b", [(1, "x"), (2, "y")])


def code(score: Score) -> str:
    return score.reason.code if score.reason else ""


@pytest.mark.parametrize(
    "golden, generated, expected, words",
    [
        (("a", [1, 2]), ("a", []), "empty", "no rows where golden has 2"),
        (("a", []), ("a", [1]), "not_empty", "1 row where golden has none"),
        (("a", [1, 1, 2]), ("a", [1, 2]), "duplicates", "only duplicates: 1 row too few"),
        (("a", [1, 2]), ("a", [1, 2, 2]), "duplicates", "only duplicates: 1 row too many"),
        (("a", [1, 2, 3]), ("a", [1, 2]), "rows_missing", "1 row missing of 3"),
        (("a", [1, 2]), ("a", [1, 2, 3, 4]), "rows_extra", "2 extra rows beside all 2 of golden"),
        (("a", [1, 2, 3]), ("a", [1, 7]), "rows", "2 rows missing and 1 row extra, 1 of 3 right"),
        (TWO, ("b,a", [("x", 1), ("y", 2)]), "column_order", "only the order of the columns: golden's are a, b here"),
        (TWO, ("a,b,c", [(1, "x", 0), (2, "y", 0)]), "extra_columns", "only 1 extra column: c"),
        (TWO, ("b", ["x", "y"]), "missing_columns", "only 1 column missing: a"),
        (TWO, ("b", ["x", "z"]), "column_count", "1 columns where golden has 2"),
        (TWO, ("a,b", [(1, "x"), (2, "z")]), "values", "values differ in b in 1 row of 2"),
        (TWO, ("a,b", [(1, "y"), (2, "x")]), "values", "values differ in a in 2 rows of 2"),
        (TWO, ("a,b", [(3, "p"), (4, "q")]), "rows", "2 rows missing and 2 rows extra, 0 of 2 right"),
    ],
)
def test_a_broken_item_says_what_differs(
    scoring: SimpleNamespace, golden: tuple[str, list[Any]], generated: tuple[str, list[Any]], expected: str, words: str
) -> None:
    score = ExecutionAccuracy().score(scoring.dql_case(scoring.result(*golden), scoring.result(*generated)))
    assert score.value == 0
    assert score.reason is not None
    assert (expected, words) == (score.reason.code, score.reason.message)


def test_only_the_order_of_rows_differs(scoring: SimpleNamespace) -> None:
    case = scoring.dql_case(scoring.result("a", [1, 2]), scoring.result("a", [2, 1]), order=RowOrder("strict"))
    assert code(ExecutionAccuracy().score(case)) == "row_order"


def test_any_golden_alternative_is_right(scoring: SimpleNamespace) -> None:
    case = scoring.dql_case(scoring.result("a", [1]), scoring.result("a", [2]), others=[scoring.result("a", [2])])
    assert ExecutionAccuracy().score(case) == Score(1.0)
    assert ExecutionAccuracyBird().score(case) == Score(1.0)


def test_the_reason_is_about_the_closest_alternative(scoring: SimpleNamespace) -> None:
    case = scoring.dql_case(scoring.result("a", [7, 8, 9]), scoring.result("a", [1, 2]), others=[scoring.result("a", [1, 2, 3])])
    assert code(ExecutionAccuracy().score(case)) == "rows_missing"


def test_detail_is_capped_and_plain(scoring: SimpleNamespace) -> None:
    import json

    rows = [("x" * 10_000, b"\xff" * 500, float("nan"), Json({"a": 1}), 2**70, *range(40)) for _ in range(100)]
    names = ",".join(f"c{i}" for i in range(45))
    score = ExecutionAccuracy().score(scoring.dql_case(scoring.result(names, rows), scoring.result(names, [])))
    assert score.reason is not None
    text = json.dumps(dict(score.reason.detail), allow_nan=False)
    assert len(text) < 3000
    assert score.reason.detail["missing_rows"] == 100
    assert len(score.reason.detail["missing"]) == 3


def test_effects_are_right_when_all_eval_queries_agree(scoring: SimpleNamespace) -> None:
    one, none = scoring.result("a", [1]), scoring.result("a", [])
    assert ExecutionAccuracy().score(scoring.dml_case([one, none], [one, none])) == Score(1.0)
    assert code(ExecutionAccuracy().score(scoring.dml_case([one, none], [one, one]))) == "eval_not_empty"
    assert ExecutionAccuracyBird().score(scoring.dml_case([one, none], [one, one])).value == 0


def test_an_empty_eval_result_is_a_result(scoring: SimpleNamespace) -> None:
    none, left = scoring.result("a", []), scoring.result("a", [1])
    assert ExecutionAccuracy().score(scoring.dml_case([none], [left])).value == 0


def test_an_eval_query_that_fails_after_generated_sql_is_a_wrong_answer(scoring: SimpleNamespace) -> None:
    score = ExecutionAccuracy().score(scoring.dml_case([scoring.result("a", [1])], [SqlError("no such column: a")]))
    assert score.value == 0
    assert score.reason is not None
    assert score.reason.message == "eval_query afterwards: no such column: a"
    assert ExecutionAccuracyBird().score(scoring.dml_case([scoring.result("a", [1])], [SqlError("gone")])).value == 0


def test_an_eval_query_that_fails_after_golden_is_a_fault(scoring: SimpleNamespace) -> None:
    case = scoring.dml_case([SqlError("no such table")], [scoring.result("a", [1])])
    with pytest.raises(ScorerFault):
        ExecutionAccuracy().score(case)


def test_the_order_of_an_eval_query_counts(scoring: SimpleNamespace) -> None:
    case = scoring.dml_case([scoring.result("a", [1, 2])], [scoring.result("a", [2, 1])], orders=[RowOrder("strict")])
    assert ExecutionAccuracy().score(case).value == 0
    assert ExecutionAccuracyBird().score(case).value == 1


@pytest.mark.parametrize(
    "golden, generated, strict, bird",
    [
        ([1, 1, 2], [1, 2], 0, 1),
        ([1, 2], [2, 1], 1, 1),
        ([0.3], [0.1 + 0.2], 1, 0),
        ([float("nan")], [float("nan")], 1, 0),
        ([[1, 2]], [[1, 2]], 1, 1),
        ([Json({"a": 1})], [Json({"a": 1})], 1, 1),
        ([Json({"a": 1})], [Json({"a": 2})], 0, 0),
        ([None], ["None"], 0, 0),
        ([], [], 1, 1),
    ],
)
def test_strict_and_bird_part_where_they_should(
    scoring: SimpleNamespace, golden: list[Any], generated: list[Any], strict: float, bird: float
) -> None:
    case = scoring.dql_case(scoring.result("a", golden), scoring.result("a", generated))
    assert (strict, bird) == (ExecutionAccuracy().score(case).value, ExecutionAccuracyBird().score(case).value)


@pytest.mark.parametrize("engine", ["Sqlite", "DuckDb"])
def test_public_cases(scoring: SimpleNamespace, shared_data: Any, engine: str) -> None:
    """Every reported fault that results alone decide, executed."""
    wrong, seen = [], 0
    kind = getattr(scoring, engine)
    for given in scoring.score_cases(shared_data, kind.dialect):
        expected = given["expect"]
        if "EX" not in expected or "row_cap" in given or expected.get("error_class"):
            continue
        case = scoring.as_case(given, kind)
        if case is None:
            if not (expected.get("predicted_error") or expected.get("golden_error")):
                wrong.append((given["id"], "a side fails"))
            continue
        seen += 1
        got = ExecutionAccuracy().score(case)
        if got.value != expected["EX"]:
            wrong.append((given["id"], "EX", got))
        if "EX_list" in expected:
            equal = equal_results(case.goldens[0].result, case.generated.result, order=RowOrder("strict"))
            if equal is not bool(expected["EX_list"]):
                wrong.append((given["id"], "EX_list", equal))
        if "EX_set" in expected:
            wanted = 1 if expected["EX_set"] == "TypeError" else expected["EX_set"]
            got = ExecutionAccuracyBird().score(case)
            if got.value != wanted:
                wrong.append((given["id"], "EX_set", got))
    assert wrong == []
    assert seen > 60
