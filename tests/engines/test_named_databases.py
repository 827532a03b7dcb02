"""SQL that names its database as the dataset does means what it would mean on a database of that name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from embedded import embedded

from nl2sql_gate.records import DatabaseSource, Place, ResultSet, SetupStatement, SqlError

PLACE = Place("setup.sql", 1)
SETUP = (
    "CREATE TABLE shop.a (n INTEGER)",
    "INSERT INTO shop.a VALUES (1), (2)",
    "CREATE VIEW shop.v AS SELECT n + 1 AS m FROM shop.a",
)


@pytest.fixture(scope="module", params=["duckdb", pytest.param("mariadb", marks=pytest.mark.server)])
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    with embedded(request.param) as found:
        yield found


def provisioned(engine: Any, name: str, *setup: str) -> Any:
    dialect = engine._dialect
    return engine.provision(DatabaseSource(name, dialect, "x", setup=tuple(SetupStatement(text, PLACE) for text in setup)))


def rows(session: Any, sql: str) -> Sequence[Any]:
    result = session.execute(sql)
    assert isinstance(result, ResultSet), result
    return result.rows


def test_a_reader_may_name_it(engine: Any) -> None:
    with provisioned(engine, "shop", *SETUP).reading() as session:
        assert rows(session, "SELECT shop.a.n FROM shop.a JOIN shop.v ON m = n") == ((2,),)
        assert isinstance(session.execute("SELECT * FROM other.a"), SqlError)


def test_a_writer_may_name_it_and_its_effect_is_seen(engine: Any) -> None:
    database = provisioned(engine, "shop", *SETUP)
    for statement, change in (
        ("UPDATE shop.a SET n = 5 WHERE n = 1", {"a"}),
        ("CREATE TABLE shop.b AS SELECT n FROM shop.a", {"b"}),
        ("DROP TABLE IF EXISTS shop.nothing", set[str]()),
    ):
        with database.writing([statement]) as session:
            before = session.state()
            assert isinstance(session.execute(statement), ResultSet)
            after = session.state()
        contents = [
            {name: table.content for name, table in state.tables.items() if not table.is_view} for state in (before, after)
        ]
        assert {name for name in {*contents[0], *contents[1]} if contents[0].get(name) != contents[1].get(name)} == change
    with database.writing(["UPDATE shop.a SET n = 9"]) as session:
        session.execute("UPDATE shop.a SET n = 9 WHERE n = 1")
        assert rows(session, "SELECT m FROM shop.v ORDER BY m") == ((3,), (10,)), "the view of a copy shows the copy"
    with database.writing(["SELECT 1"]) as session:
        assert rows(session, "SELECT n FROM shop.a ORDER BY n") == ((1,), (2,))


def test_what_the_product_refuses_is_refused(engine: Any) -> None:
    database = provisioned(engine, "shop", *SETUP)
    for sql in (
        "SELECT shop.d.n FROM (SELECT 1 AS n) AS d",
        "WITH d AS (SELECT 1 AS n) SELECT shop.d.n FROM d",
        "WITH d AS (SELECT 1 AS n) SELECT n FROM shop.d",
    ):
        with database.reading() as session:
            assert isinstance(session.execute(sql), SqlError), sql


@pytest.mark.parametrize("name", ["main", "temp", "system", "with-dash", "select", "Ü", "a b", "x" * 120])
def test_odd_names_are_no_hindrance(engine: Any, name: str) -> None:
    with provisioned(engine, name, "CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (7)").reading() as session:
        assert rows(session, "SELECT n FROM t") == ((7,),)


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
def test_a_schema_of_duckdb_may_be_called_like_its_database(engine: Any) -> None:
    setup = ("CREATE SCHEMA sales", "CREATE TABLE sales.a (n INTEGER)", "INSERT INTO sales.a VALUES (3)")
    with provisioned(engine, "sales", *setup).reading() as session:
        assert rows(session, "SELECT n FROM sales.a") == ((3,),)


def test_a_column_may_be_called_like_its_database(engine: Any) -> None:
    database = provisioned(engine, "city", "CREATE TABLE t (city INTEGER)", "INSERT INTO t VALUES (4)")
    with database.reading() as session:
        assert rows(session, "SELECT city FROM t WHERE t.city = 4") == ((4,),)
