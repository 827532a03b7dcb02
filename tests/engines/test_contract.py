"""What every engine does alike."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest
from conftest import Bench, read, rows

from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.protocols import Database, Engine, Session
from nl2sql_gate.records import Place, ResultSet, SqlError, TableData


def test_engines_keep_the_protocols(bench: Bench, stock: Any) -> None:
    assert isinstance(bench.engine, Engine)
    assert isinstance(stock, Database)
    with stock.reading() as session:
        assert isinstance(session, Session)


def test_rows_are_positional_and_keep_equal_column_names(stock: Any) -> None:
    result = read(stock, "SELECT s.id, t.id, 'x' AS id FROM stock s JOIN stock t ON s.id = t.id ORDER BY s.id")
    assert isinstance(result, ResultSet)
    assert tuple(name.lower() for name in result.columns) == ("id", "id", "id")
    assert list(result.rows) == [(1, 1, "x"), (2, 2, "x"), (3, 3, "x")]


def test_empty_results_keep_their_columns(stock: Any) -> None:
    result = read(stock, "SELECT id, item FROM stock WHERE id > 99")
    assert isinstance(result, ResultSet)
    assert (result.columns, result.rows) == (("id", "item"), ())


@pytest.mark.parametrize(
    "text", ["'100%'", "'%s %(a)s'", "'meet :noon'", "'?'", "'two  blanks'", "'it''s'", "'line\nbreak'", "'ünï😀'"]
)
def test_the_text_of_a_statement_is_untouched(stock: Any, text: str) -> None:
    assert [(text[1:-1].replace("''", "'"),)] == rows(stock, f"SELECT {text}")


def test_modulo_and_casts_are_no_placeholders(stock: Any) -> None:
    assert rows(stock, "SELECT 12 % 5") == [(2,)]


def test_cells_are_typed(bench: Bench, stock: Any) -> None:
    wrong = []
    for expression, wanted in bench.odd.cells.items():
        result = read(stock, f"SELECT {expression}")
        got = result.rows[0][0] if isinstance(result, ResultSet) else result
        nan = isinstance(wanted, float) and math.isnan(wanted) and isinstance(got, float) and math.isnan(got)
        if not nan and repr(got) != repr(wanted):
            wrong.append(f"{expression}: {got!r}, not {wanted!r}")
    assert wrong == []


def test_of_several_statements_the_last_result_counts(stock: Any) -> None:
    assert rows(stock, "SELECT item FROM stock; SELECT COUNT(*) FROM stock") == [(3,)]
    assert len(rows(stock, "SELECT COUNT(*) FROM stock; SELECT item FROM stock;")) == 3


def test_empty_statements_and_comments_are_none(stock: Any) -> None:
    assert rows(stock, "SELECT COUNT(*) FROM stock;;\n-- that is all;\n") == [(3,)]
    assert rows(stock, "SELECT COUNT(*) FROM stock ; /* ok */") == [(3,)]


def test_the_first_error_ends_a_text(stock: Any) -> None:
    result = read(stock, "SELECT nope FROM stock; SELECT 1")
    assert isinstance(result, SqlError)
    assert "nope" in result.message


def test_a_failed_query_does_not_poison_the_next(stock: Any) -> None:
    with stock.reading() as session:
        assert isinstance(session.execute("SELECT nope FROM stock"), SqlError)
        assert isinstance(session.execute("SELECT 1"), ResultSet)
    assert rows(stock, "SELECT COUNT(*) FROM stock") == [(3,)]


def test_errors_are_the_databases_own_words(stock: Any) -> None:
    result = read(stock, "SELECT a FROM no_such_table")
    assert isinstance(result, SqlError)
    assert "no_such_table" in result.message
    assert result.code
    assert result.reason == "error"


@pytest.mark.parametrize("text", ["SELECT '\ud800'", "SELECT 'a\0b'", "\0", "SELECT $1", "SELECT ?", "SELECT :a", "SELEC", "'"])
def test_odd_text_is_the_models_error_or_a_result(stock: Any, text: str) -> None:
    assert isinstance(read(stock, text), SqlError | ResultSet)


def test_a_text_without_statement_is_an_error(stock: Any) -> None:
    for text in ("", "-- nothing", ";", " ;; "):
        result = read(stock, text)
        assert isinstance(result, SqlError), text
        assert "no statement" in result.message


def test_settings_of_one_case_do_not_reach_the_next(bench: Bench, stock: Any) -> None:
    changed = {
        "postgres": "SET timezone = 'Asia/Tokyo'",
        "sqlite": "PRAGMA case_sensitive_like = 1",
        "duckdb": "SET VARIABLE a = 1",
        "sqlserver": "SET DATEFIRST 3",
    }
    asked = {"postgres": "SHOW timezone", "sqlite": "SELECT 'A' LIKE 'a'", "duckdb": "SELECT getvariable('a')"}
    asked["sqlserver"] = "SELECT @@DATEFIRST"
    changed |= dict.fromkeys(("mysql", "mariadb"), "SET time_zone = '+09:00'")
    asked |= dict.fromkeys(("mysql", "mariadb"), "SELECT @@time_zone")
    if bench.dialect not in changed:
        pytest.skip("no session settings to try")
    before = rows(stock, asked[bench.dialect])
    read(stock, changed[bench.dialect])
    assert before == rows(stock, asked[bench.dialect])


def test_tables_load_typed_cells(bench: Bench) -> None:
    database = bench.build(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name VARCHAR(30), price NUMERIC(8,2), ok BOOLEAN, made DATE)",
        tables=[
            TableData("t", (), ((1, "it's", 1.5, True, "2024-01-31"), (2, None, None, False, None)), Place("t.csv", 1)),
        ],
    )
    assert rows(database, "SELECT id, name FROM t ORDER BY id") == [(1, "it's"), (2, None)]
    assert rows(database, "SELECT id FROM t WHERE price = 1.5 AND made = '2024-01-31'") == [(1,)]
    assert rows(database, f"SELECT COUNT(*) FROM t WHERE {'ok' if bench.dialect != 'sqlite' else 'ok = 1'}") == [(1,)]


def test_tables_load_whatever_order_foreign_keys_want(bench: Bench) -> None:
    database = bench.build(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY)",
        "CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id))",
        tables=[
            TableData("child", ("id", "parent"), ((1, 7),), Place("c.csv", 1)),
            TableData("parent", ("id",), ((7,),), Place("p.csv", 1)),
        ],
    )
    assert rows(database, "SELECT child.id, parent.id FROM child JOIN parent ON child.parent = parent.id") == [(1, 7)]


def test_a_failing_setup_statement_is_named_with_its_place(bench: Bench) -> None:
    with pytest.raises(ProvisionError) as caught:
        bench.build("CREATE TABLE t(a INTEGER)", "INSERT INTO nowhere VALUES (1)")
    assert "setup.sql:1" in str(caught.value)
    assert "INSERT INTO nowhere VALUES (1)" in str(caught.value)


def test_rows_that_do_not_fit_are_named(bench: Bench) -> None:
    table = TableData("t", ("a",), ((1,), (1,)), Place("t.csv", 1))
    with pytest.raises(ProvisionError, match=r"t\.csv:1"):
        bench.build("CREATE TABLE t(a INTEGER PRIMARY KEY)", tables=[table])
    with pytest.raises(ProvisionError, match="no table"):
        bench.build(tables=[table])


def test_the_schema_shows_keys_types_and_samples(bench: Bench) -> None:
    database = bench.build(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY, code VARCHAR(9) NOT NULL UNIQUE)",
        "CREATE TABLE child(id INTEGER PRIMARY KEY, parent_id INTEGER, qty INTEGER DEFAULT 7 NOT NULL,"
        " FOREIGN KEY (parent_id) REFERENCES parent(id))",
        "INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
        "CREATE VIEW both_of AS SELECT code, qty FROM parent JOIN child ON parent.id = parent_id",
    )
    schema = database.schema(sample_values=3)
    child, parent, view = schema.tables
    assert [child.name, parent.name, view.name] == ["child", "parent", "both_of"]
    assert child.foreign_keys[0] == (("parent_id",), "parent", ("id",))
    assert parent.unique == (("code",),)
    assert [column.primary_key for column in parent.columns] == [True, False]
    assert [column.nullable for column in parent.columns] == [False, False]
    assert "7" in child.columns[2].default
    assert parent.columns[1].samples == ("a", "b", "c")
    assert view.is_view
    assert [column.name for column in view.columns] == ["code", "qty"]
    assert schema.ddl == database.schema(sample_values=3).ddl
    assert "PRIMARY KEY" in schema.ddl
    assert "FOREIGN KEY" in schema.ddl
    assert database.schema(sample_values=0).tables[1].columns[1].samples == ()


def test_hostile_names_are_quoted(bench: Bench) -> None:
    mark = bench.odd.quote
    name = f"Odd {mark}{mark} name; --"
    database = bench.build(
        f"CREATE TABLE {mark}{name}{mark}({mark}order{mark} INTEGER, {mark}a b{mark} VARCHAR(9))",
        tables=[TableData(name.replace(mark * 2, mark), ("order", "a b"), ((1, "x"),), Place("n.csv", 1))],
    )
    schema = database.schema(sample_values=2)
    assert name.replace(mark * 2, mark) == schema.tables[0].name
    assert schema.tables[0].columns[0].samples == ("1",)
    assert f"{mark}{name}{mark}" in schema.ddl
    assert isinstance(read(database, f"SELECT {mark}a b{mark} FROM {mark}{name}{mark}"), ResultSet)


def test_a_generated_schema_can_be_run_again(bench: Bench, stock: Any) -> None:
    ddl = stock.schema(sample_values=3).ddl
    again = bench.build(*ddl.split("\n\n"))
    assert [t.name for t in stock.schema(sample_values=0).tables] == [t.name for t in again.schema(sample_values=0).tables]


@pytest.mark.engines("sqlite", "mysql", "mariadb")
def test_the_clock_stands_where_it_is_set(stock: Any) -> None:
    noon = dt.datetime(2024, 2, 29, 12, 30, 15, tzinfo=dt.UTC)
    for lend in (stock.reading, lambda: stock.writing(["SELECT 1"])):
        for _ in range(2):
            with lend() as session:
                session.set_clock(noon)
                assert str(session.execute("SELECT CURRENT_TIMESTAMP").rows[0][0]) == "2024-02-29 12:30:15"
        with lend() as session:
            assert not str(session.execute("SELECT CURRENT_TIMESTAMP").rows[0][0]).startswith("2024")


def test_setting_the_clock_never_fails(stock: Any) -> None:
    with stock.reading() as session:
        session.set_clock(dt.datetime(2024, 2, 29, tzinfo=dt.UTC))
        session.set_clock(None)
        assert isinstance(session.execute("SELECT 1"), ResultSet)
