"""Cases for scorers from rows, and from SQL that runs in SQLite or DuckDB."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nl2sql_gate.records import FREE_ORDER, Case, Execution, Item, ResultSet, RowOrder, Side, SqlError, SqlField


def result(columns: str, rows: Sequence[Any]) -> ResultSet:
    """A result from column names joined by commas; a row of one column may be given as the value."""
    return ResultSet(tuple(columns.split(",")), tuple(row if isinstance(row, tuple) else (row,) for row in rows))


def dql_case(
    golden: ResultSet,
    generated: ResultSet,
    *,
    order: RowOrder = FREE_ORDER,
    columns: str = "position",
    others: Sequence[ResultSet] = (),
) -> Case:
    """An answered dql case."""
    goldens = tuple(Side("SELECT golden", each, order=order) for each in (golden, *others))
    return Case(_item("dql"), "sqlite", "dql", goldens, Side("SELECT generated", generated), columns=columns)


def dml_case(golden: Sequence[Execution], generated: Sequence[Execution], *, orders: Sequence[RowOrder] = ()) -> Case:
    """An answered dml case with the results of its eval queries."""
    nothing = ResultSet((), ())
    side = Side("UPDATE golden", nothing, evals=tuple(golden), eval_orders=tuple(orders))
    return Case(_item("dml"), "sqlite", "dml", (side,), Side("UPDATE generated", nothing, evals=tuple(generated)))


def _item(kind: Any) -> Item:
    return Item("1", "How many?", kind, "shop", ("sqlite",), SqlField(everywhere=("SELECT 1",)))


class Sqlite:
    """SQL on a throw-away SQLite database, one for each side."""

    dialect = "sqlite"

    def __init__(self, setup: Sequence[str]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        for statement in setup:
            self._connection.execute(statement)

    def run(self, statements: Sequence[str]) -> Execution:
        """The result of the last statement."""
        last = ResultSet((), ())
        for statement in statements:
            try:
                cursor = self._connection.execute(statement)
            except (sqlite3.Error, sqlite3.Warning) as error:
                return SqlError(str(error))
            last = ResultSet(tuple(d[0] for d in cursor.description or ()), tuple(cursor.fetchmany(100_000)))
        return last

    def close(self) -> None:
        """Drop the database."""
        self._connection.close()


class DuckDb(Sqlite):
    """The same on DuckDB: one connection for all, since opening one takes long, each side in a transaction of its own."""

    dialect = "duckdb"
    _shared: Any = None

    def __init__(self, setup: Sequence[str]) -> None:
        import duckdb

        if DuckDb._shared is None:
            DuckDb._shared = duckdb.connect(":memory:", config={"threads": 1})
            DuckDb._shared.execute("SET TimeZone='UTC'")
        self._error = duckdb.Error
        self._connection: Any = DuckDb._shared
        self._connection.execute("BEGIN")
        for statement in setup:
            self._connection.execute(statement)

    def close(self) -> None:
        self._connection.execute("ROLLBACK")

    def run(self, statements: Sequence[str]) -> Execution:
        last = ResultSet((), ())
        for statement in statements:
            try:
                cursor = self._connection.execute(statement)
                rows = tuple(cursor.fetchmany(100_000)) if cursor.description else ()
            except self._error as error:
                return SqlError(str(error))
            last = ResultSet(tuple(d[0] for d in cursor.description or ()), rows)
        return last


def score_cases(shared_data: Path, dialect: str) -> list[dict[str, Any]]:
    """The public cases of the kind `score` that need nothing but results."""
    lines = (shared_data / "cases" / "public.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    return [
        case
        for case in cases
        if case["kind"] == "score"
        and dialect in case["dialects"]
        and "golden_sql" in case
        and not case.get("manual")
        and "compare" not in case
    ]


def as_case(given: dict[str, Any], engine: type[Sqlite]) -> Case | None:
    """The case as the gate would score it, or `None` where a side fails."""
    from nl2sql_gate.sqltext.split import split_statements

    def split(sql: str) -> list[str]:
        return [statement.text for statement in split_statements(sql, engine.dialect)]

    query_type = given["query_type"]
    sides = []
    for sql in (given["golden_sql"], given["predicted_sql"]):
        with contextlib.closing(engine(given["setup_sql"])) as database:
            ran = database.run(split(sql))
            evals = (database.run(split(given["eval_query"])),) if given.get("eval_query") else ()
            order = _order(sql, engine, database) if query_type == "dql" else FREE_ORDER
        if isinstance(ran, SqlError):
            return None
        sides.append(Side(sql, ran, evals=evals, order=order))
    return Case(_item(query_type), engine.dialect, query_type, (sides[0],), sides[1])


def _order(sql: str, engine: type[Sqlite], database: Sqlite) -> RowOrder:
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql.split(";", maxsplit=1)[0], read=engine.dialect)
    if tree.args.get("order") is None:
        return FREE_ORDER
    if not isinstance(tree, exp.Select):
        return RowOrder("strict")
    keys = [ordered.this.copy() for ordered in tree.args["order"].expressions]
    ran = database.run([tree.select(*keys).sql(dialect=engine.dialect)])
    assert isinstance(ran, ResultSet)
    return RowOrder("keys", tuple(row[-len(keys) :] for row in ran.rows))


@pytest.fixture(scope="session")
def scoring() -> SimpleNamespace:
    """The builders above, for tests in this folder."""
    return SimpleNamespace(
        result=result,
        dql_case=dql_case,
        dml_case=dml_case,
        Sqlite=Sqlite,
        DuckDb=DuckDb,
        score_cases=score_cases,
        as_case=as_case,
    )
