"""A text runs as it stands, and its rows arrive typed; errors are the database's own."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

from nl2sql_gate.records import ResultSet, SqlError
from nl2sql_gate.testing.bench import Bench, read, rows
from nl2sql_gate.testing.suite.part import Part, needs

_TEXTS = {
    "percent": "'100%'",
    "placeholders": "'%s %(a)s'",
    "colon": "'meet :noon'",
    "question_mark": "'?'",
    "blanks": "'two  blanks'",
    "quote": "'it''s'",
    "line_break": "'line\nbreak'",
    "beyond_ascii": "'ünï😀'",
}
_ODD = {
    "surrogate": "SELECT '\ud800'",
    "zero_in_text": "SELECT 'a\0b'",
    "zero": "\0",
    "dollar": "SELECT $1",
    "question_mark": "SELECT ?",
    "colon": "SELECT :a",
    "half_a_word": "SELEC",
    "half_a_text": "'",
}
_BY_ZERO: dict[str, Any] = {"null": None, "infinity": math.inf}


class Results(Part):
    """Rows, columns, cells and errors of a reading session."""

    def test_rows_are_positional_and_keep_equal_column_names(self, stock: Any) -> None:
        result = read(stock, "SELECT s.id, t.id, 'x' AS id FROM stock s JOIN stock t ON s.id = t.id ORDER BY s.id")
        assert isinstance(result, ResultSet)
        assert tuple(name.lower() for name in result.columns) == ("id", "id", "id")
        assert list(result.rows) == [(1, 1, "x"), (2, 2, "x"), (3, 3, "x")]

    def test_empty_results_keep_their_columns(self, stock: Any) -> None:
        result = read(stock, "SELECT id, item FROM stock WHERE id > 99")
        assert isinstance(result, ResultSet)
        assert (result.columns, result.rows) == (("id", "item"), ())

    @pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS)
    def test_the_text_of_a_statement_is_untouched(self, stock: Any, text: str) -> None:
        assert [(text[1:-1].replace("''", "'"),)] == rows(stock, f"SELECT {text}")

    def test_modulo_and_casts_are_no_placeholders(self, stock: Any) -> None:
        assert rows(stock, "SELECT 12 % 5") == [(2,)]

    def test_division_by_zero_is_as_declared(self, bench: Bench, stock: Any) -> None:
        result = read(stock, "SELECT 1 / 0")
        if bench.traits.division_by_zero == "error":
            assert isinstance(result, SqlError), result
        else:
            assert isinstance(result, ResultSet), result
            assert result.rows == ((_BY_ZERO[bench.traits.division_by_zero],),)

    def test_cells_are_typed(self, bench: Bench, stock: Any) -> None:
        wrong = []
        for expression, wanted in bench.under_test.cells.items():
            result = read(stock, f"SELECT {expression}")
            got = result.rows[0][0] if isinstance(result, ResultSet) else result
            nan = isinstance(wanted, float) and math.isnan(wanted) and isinstance(got, float) and math.isnan(got)
            if not nan and repr(got) != repr(wanted):
                wrong.append(f"{expression}: {got!r}, not {wanted!r}")
        assert wrong == []

    def test_of_several_statements_the_last_result_counts(self, stock: Any) -> None:
        assert rows(stock, "SELECT item FROM stock; SELECT COUNT(*) FROM stock") == [(3,)]
        assert len(rows(stock, "SELECT COUNT(*) FROM stock; SELECT item FROM stock;")) == 3

    def test_empty_statements_and_comments_are_none(self, stock: Any) -> None:
        assert rows(stock, "SELECT COUNT(*) FROM stock;;\n-- that is all;\n") == [(3,)]
        assert rows(stock, "SELECT COUNT(*) FROM stock ; /* ok */") == [(3,)]

    def test_the_first_error_ends_a_text(self, stock: Any) -> None:
        result = read(stock, "SELECT nope FROM stock; SELECT 1")
        assert isinstance(result, SqlError)
        assert "nope" in result.message

    def test_a_failed_query_does_not_poison_the_next(self, stock: Any) -> None:
        with stock.reading() as session:
            assert isinstance(session.execute("SELECT nope FROM stock"), SqlError)
            assert isinstance(session.execute("SELECT 1"), ResultSet)
        assert rows(stock, "SELECT COUNT(*) FROM stock") == [(3,)]

    def test_errors_are_the_databases_own_words(self, stock: Any) -> None:
        result = read(stock, "SELECT a FROM no_such_table")
        assert isinstance(result, SqlError)
        assert "no_such_table" in result.message
        assert result.code
        assert result.reason == "error"

    @pytest.mark.parametrize("text", _ODD.values(), ids=_ODD)
    def test_odd_text_is_the_models_error_or_a_result(self, stock: Any, text: str) -> None:
        assert isinstance(read(stock, text), SqlError | ResultSet)

    def test_a_text_without_statement_is_an_error(self, stock: Any) -> None:
        for text in ("", "-- nothing", ";", " ;; "):
            result = read(stock, text)
            assert isinstance(result, SqlError), text
            assert "no statement" in result.message

    @needs("session_setting")
    def test_settings_of_one_case_do_not_reach_the_next(self, bench: Bench, stock: Any) -> None:
        change, ask = bench.traits.session_setting or ("", "")
        before = rows(stock, ask)
        with stock.reading() as session:
            session.execute(change)
            changed = session.execute(ask)
        assert before != list(getattr(changed, "rows", ())), "the statement changes nothing, so that nothing is shown"
        assert before == rows(stock, ask)

    @needs("clock_stands")
    def test_the_clock_stands_where_it_is_set(self, stock: Any) -> None:
        noon = dt.datetime(2024, 2, 29, 12, 30, 15, tzinfo=dt.UTC)
        for lend in (stock.reading, lambda: stock.writing(["SELECT 1"])):
            for _ in range(2):
                with lend() as session:
                    session.set_clock(noon)
                    assert str(session.execute("SELECT CURRENT_TIMESTAMP").rows[0][0]) == "2024-02-29 12:30:15"
            with lend() as session:
                assert not str(session.execute("SELECT CURRENT_TIMESTAMP").rows[0][0]).startswith("2024")

    def test_setting_the_clock_never_fails(self, stock: Any) -> None:
        with stock.reading() as session:
            session.set_clock(dt.datetime(2024, 2, 29, tzinfo=dt.UTC))
            session.set_clock(None)
            assert isinstance(session.execute("SELECT 1"), ResultSet)
