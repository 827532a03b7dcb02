"""What a database, a judge or a plugin says of rows that nobody may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from nl2sql_gate.records import CaseResult, Reason, Score, ScoreFault, SqlError
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.row_hiding import without_rows, without_values

SQL = "SELECT name, CAST(name AS INTEGER) FROM shop.customer WHERE id < 30 LIMIT 5"


@pytest.mark.parametrize(
    "said, shown",
    [
        ('column "nmae" does not exist', 'column "…" does not exist'),
        ('column "name" does not exist', 'column "name" does not exist'),
        ("Table 'shop.customer' doesn't exist", "Table 'shop.customer' doesn't exist"),
        ("Unknown column 'name' in 'field list'", "Unknown column 'name' in 'field list'"),
        ('invalid input syntax for type integer: "Ann"', 'invalid input syntax for type integer: "…"'),
        ('invalid input syntax for type integer: "An"n"', 'invalid input syntax for type integer: "…"'),
        ("Duplicate entry 'Ann O'Neil' for key 'customer.PRIMARY'", "Duplicate entry '…'"),
        ("converting the varchar value 'Ann' to data type int", "converting the varchar value '…' to data type int"),
        ("Overflow in multiplication of INT32 (123456 * 1000)!", "Overflow in multiplication of INT32 (… * …)!"),
        ("value -12.5e3 is out of range, 30 is not", "value … is out of range, 30 is not"),
        ("Key (name)=(Ann) already exists.", "Key (name)=(…) already exists."),
        ("syntax error at line 12", "syntax error at line 12"),
        ("no such column: name", "no such column: name"),
    ],
)
def test_only_what_the_sql_holds_is_quoted(said: str, shown: str) -> None:
    assert without_values(said, SQL) == shown


@pytest.mark.parametrize("code", ["P0001", "1644", "45000", "50001"])
def test_what_a_function_of_the_database_raises_is_not_told(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult], code: str
) -> None:
    error = SqlError("customer Ann owes us", code)
    reason = Reason("error", error.message)
    case = make_case("a", outcome="sql_error", error=error, reason=reason, scores={"execution_accuracy": Score(0.0, reason)})
    (hidden,) = without_rows(make_report([case])).head.cases
    assert "Ann" not in repr(hidden)
    assert (hidden.error.code if hidden.error else "", hidden.outcome) == (code, "sql_error")


def test_limits_keep_their_words(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    error = SqlError("cancelled at the limit of 30 s (limits.statement_s)", reason="timeout")
    case = make_case("a", outcome="timeout", error=error, reason=Reason("timeout", error.message), scores={})
    (hidden,) = without_rows(make_report([case])).head.cases
    assert hidden.error == error
    assert hidden.reason == case.reason


def test_scorers_of_others_are_quoted_by_code_alone(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    own = Reason("values", "values differ in name in 1 row of 2", {"missing": [["Ann"]], "missing_rows": 1, "columns": ["name"]})
    other = Reason("incorrect", "Ann is missing", {"model": "m", "row": "Ann"})
    scores = {
        "execution_accuracy": Score(0.0, own),
        "llm_judge": Score(0.0, other),
        "near": Score(0.5, other),
        "command": ScoreFault("Ann"),
        "no_column_and_partial_cell_f1": Score(0.5, Reason("partial", "1 cell", {"near": [{"golden": ["Ann"]}], "f1": 0.5})),
    }
    (hidden,) = without_rows(make_report([make_case("a", scores=scores, reason=own)])).head.cases
    assert "Ann" not in repr(hidden)
    assert hidden.scores["execution_accuracy"] == Score(
        0.0, Reason("values", "values differ in name in 1 row of 2", {"missing_rows": 1, "columns": ["name"]})
    )
    (judged,) = without_rows(make_report([make_case("a", scores={"llm_judge": Score(0.0, other)}, reason=other)])).head.cases
    assert judged.reason is not None
    assert judged.reason.message == "incorrect; the scorer's words may quote rows"


def test_both_sides_of_a_comparison_are_hidden(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    why = Reason("rows_missing", "1 row missing", {"missing": [["Ann"]]})
    wrong = make_case("a", 0, reason=why, scores={"execution_accuracy": Score(0.0, why)})
    bare = replace(wrong, key=wrong.key._replace(id="b"))
    report = make_report([wrong, make_case("b")], [make_case("a"), bare], show_rows=False)
    assert "Ann" in repr(report)
    assert "Ann" not in repr(without_rows(report))
