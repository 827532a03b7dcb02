from __future__ import annotations

import pytest

from nl2sql_gate.engines.statements import run_each, split
from nl2sql_gate.records import Execution, ResultSet, SqlError


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("  SELECT 1 ;\n", ["  SELECT 1 ;\n"]),
        ("SELECT ';'", ["SELECT ';'"]),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1;;\n-- done;\n", ["SELECT 1"]),
    ],
)
def test_texts_fall_into_statements(text: str, statements: list[str]) -> None:
    assert [part.strip().rstrip(";").strip() for part in split(text, "sqlite")] == [
        s.strip().rstrip(";").strip() for s in statements
    ]


def test_a_single_statement_is_passed_on_as_it_stands() -> None:
    assert split(" SELECT  1 ; ", "postgres") == [" SELECT  1 ; "]


def _runner(results: dict[str, Execution], seen: list[str]):  # noqa: ANN202 - a function
    def run(statement: str) -> Execution:
        seen.append(statement.strip())
        return results[statement.strip()]

    return run


def test_the_last_result_with_columns_counts() -> None:
    seen: list[str] = []
    results: dict[str, Execution] = {"SELECT 1": ResultSet(("a",), ((1,),)), "SET x = 1": ResultSet((), ())}
    result = run_each("SELECT 1; SET x = 1", "postgres", _runner(results, seen))
    assert isinstance(result, ResultSet)
    assert result.rows == ((1,),)
    assert seen == ["SELECT 1", "SET x = 1"]


def test_nothing_runs_after_an_error() -> None:
    seen: list[str] = []
    result = run_each("BAD; SELECT 1", "postgres", _runner({"BAD": SqlError("no")}, seen))
    assert isinstance(result, SqlError)
    assert seen == ["BAD"]


def test_a_text_of_blanks_and_semicolons_holds_no_statement() -> None:
    assert isinstance(run_each(";;", "sqlite", _runner({}, [])), SqlError)
