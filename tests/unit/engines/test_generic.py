"""Any SQLAlchemy dialect by URL: questions on data that is there, and nothing else."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlglot

from nl2sql_gate import plugins
from nl2sql_gate.engines.cells_generic import row_of
from nl2sql_gate.engines.generic import GenericEngine
from nl2sql_gate.engines.generic_session import as_driver_text, surely_reads
from nl2sql_gate.errors import EngineFault, ProvisionError, ServiceError, SettingsError
from nl2sql_gate.protocols import Database, Engine, Session
from nl2sql_gate.records import DatabaseSource, Execution, Json, Limits, ResultSet, SqlError

SOURCE = DatabaseSource("shop", "sqlite", "unknown")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE parent(id INTEGER PRIMARY KEY, code VARCHAR(9) NOT NULL, UNIQUE(code));"
            "CREATE TABLE stock(id INTEGER PRIMARY KEY, item TEXT, parent INTEGER REFERENCES parent(id));"
            "INSERT INTO stock VALUES (1, 'nut', NULL), (2, 'bolt', NULL), (3, 'gear', NULL);"
            "CREATE VIEW low AS SELECT item FROM stock;"
        )
    connection.close()
    return path


@contextmanager
def opened(url: str, **options: Any) -> Iterator[GenericEngine]:
    limits = Limits(statement_s=0.5, rows=3, bytes=100_000)
    made = GenericEngine(
        name="wh", dialect="sqlite", way=url, limits=limits, workdir="", workers=2, **{"existing": True, **options}
    )
    try:
        yield made
    finally:
        made.stop()
        made.stop()


def read(file: Path, sql: str) -> Execution:
    with opened(f"sqlite:///{file}") as made:
        made.start()
        with made.provision(SOURCE).reading() as session:
            return session.execute(sql)


def test_it_keeps_the_protocols_and_says_what_runs(file: Path) -> None:
    with opened(f"sqlite:///{file}") as made:
        facts = made.start()
        assert (facts.name, facts.product, facts.way) == ("wh", "sqlite", "given")
        assert facts.version.startswith("3.")
        database = made.provision(SOURCE)
        assert isinstance(made, Engine)
        assert isinstance(database, Database)
        assert (database.digest, database.dsn()) == ("unknown", "")
        assert made.provision(SOURCE) is database
        with database.reading() as session:
            assert isinstance(session, Session)
            assert session.state().tables == {}


def test_queries_run_as_they_stand(file: Path) -> None:
    result = read(file, "SELECT id, '100% :a ? %s' AS x FROM stock ORDER BY id")
    assert isinstance(result, ResultSet)
    assert (result.columns, result.rows[0], len(result.rows)) == (("id", "x"), (1, "100% :a ? %s"), 3)


@pytest.mark.parametrize(
    "hostile",
    [
        "DELETE FROM stock",
        "SELECT 1; DROP TABLE stock",
        "COMMIT",
        "ATTACH '/tmp/x' AS x",
        "CREATE TABLE t(a)",
        "PRAGMA writable_schema = 1; SELECT 1",
        "nonsense",
    ],
)
def test_what_does_not_surely_read_is_refused(file: Path, hostile: str) -> None:
    before = file.read_bytes()
    result = read(file, hostile)
    assert isinstance(result, SqlError)
    assert result.reason == "refused"
    assert before == file.read_bytes()


def test_errors_are_the_databases_own_words(file: Path) -> None:
    result = read(file, "SELECT a FROM no_such_table")
    assert isinstance(result, SqlError)
    assert "no_such_table" in result.message
    assert (result.code, result.reason) == ("OperationalError", "error")


def test_limits_hold(file: Path) -> None:
    four = read(file, "SELECT id FROM stock UNION ALL SELECT 4")
    wide = read(file, "SELECT hex(zeroblob(60000))")
    assert [four.reason, wide.reason] == ["too_many_rows", "too_many_bytes"]  # type: ignore[union-attr]
    started = time.monotonic()
    endless = read(file, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT COUNT(*) FROM c")
    assert isinstance(endless, SqlError)
    assert endless.reason == "timeout"
    assert time.monotonic() - started < 3


def test_a_cancelled_connection_is_not_used_again(file: Path) -> None:
    with opened(f"sqlite:///{file}") as made:
        made.start()
        database = made.provision(SOURCE)
        for _ in range(2):
            with database.reading() as session:
                session.execute("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT COUNT(*) FROM c")
            with database.reading() as session:
                assert session.execute("SELECT COUNT(*) FROM stock").rows == ((3,),)


def test_the_schema_is_read_through_the_inspector(file: Path) -> None:
    with opened(f"sqlite:///{file}") as made:
        made.start()
        schema = made.provision(SOURCE).schema(sample_values=2)
    parent, stock, low = schema.tables
    assert [parent.name, stock.name, low.name] == ["parent", "stock", "low"]
    assert parent.unique == (("code",),)
    assert stock.foreign_keys == ((("parent",), "parent", ("id",)),)
    assert stock.columns[1].samples == ("nut", "bolt")
    assert stock.columns[0].primary_key
    assert low.is_view
    assert len(sqlglot.parse(schema.ddl, dialect="sqlite")) == 3


def test_nothing_is_built_and_nothing_written(file: Path) -> None:
    with opened(f"sqlite:///{file}", existing=False) as made:
        made.start()
        with pytest.raises(ProvisionError, match="existing: true"):
            made.provision(SOURCE)
    with opened(f"sqlite:///{file}") as made:
        made.start()
        with pytest.raises(SettingsError, match="questions only"), made.provision(SOURCE).writing(["DELETE FROM stock"]):
            pass


@pytest.mark.parametrize(
    ("url", "kind", "says"),
    [
        ("auto", SettingsError, "by URL alone"),
        ("container", SettingsError, "by URL alone"),
        ("bigquery://project", SettingsError, r"pip install 'nl2sql-gate\[bigquery\]'"),
        ("snowflake://u:secret@account/db", SettingsError, r"pip install 'nl2sql-gate\[snowflake\]'"),
        ("trino://u@host/c", SettingsError, r"pip install 'nl2sql-gate\[trino\]'"),
        ("oracle+oracledb://u:secret@host/x", SettingsError, r"pip install 'nl2sql-gate\[oracle\]'"),
        ("nonsuch://u:secret@host/x", SettingsError, "'nonsuch'"),
        ("postgresql+psycopg://u:secret@127.0.0.1:1/x", ServiceError, "does not let the gate in"),
    ],
)
def test_what_cannot_be_reached_says_what_to_do(url: str, kind: type[Exception], says: str) -> None:
    with opened(url) as made, pytest.raises(kind, match=says) as caught:
        made.start()
    assert "secret" not in str(caught.value)


def test_a_stopped_service_is_a_fault(file: Path) -> None:
    with opened(f"sqlite:///{file}") as made, pytest.raises(EngineFault):
        made.provision(SOURCE)


def test_the_products_by_url_are_installed_extensions() -> None:
    for name in ("bigquery", "oracle", "snowflake", "trino", "sqlalchemy"):
        assert plugins.load("engine", name) is GenericEngine


def test_bigquerys_driver_gets_percent_signs_doubled() -> None:
    assert as_driver_text("SELECT '%d'", "bigquery") == "SELECT '%%d'"
    assert as_driver_text("SELECT '%d'", "oracle") == "SELECT '%d'"


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("bigquery", "SELECT * EXCEPT (a) FROM `p.d.t` QUALIFY ROW_NUMBER() OVER (ORDER BY b) = 1"),
        ("snowflake", "SELECT a:b::int FROM t, LATERAL FLATTEN(input => c) f"),
        ("oracle", "SELECT a FROM t FETCH FIRST 3 ROWS ONLY"),
        ("trino", "SELECT approx_distinct(a) FROM c.s.t CROSS JOIN UNNEST(b) AS u(x)"),
    ],
)
def test_queries_of_each_dialect_are_known_to_read(dialect: str, sql: str) -> None:
    assert surely_reads(sql, dialect)
    assert not surely_reads(f"INSERT INTO t {sql}", dialect)


class Lob:
    def read(self) -> str:
        return "long"


class Interval:
    def __str__(self) -> str:
        return "+01-02"


def test_values_of_any_driver_become_cells() -> None:
    number = uuid.uuid4()
    given = (1, Decimal("0.10"), None, number, bytearray(b"x"), {"a": [Decimal("1.5")]}, [1, {"b": 2}], Lob(), Interval())
    wanted = (1, Decimal("0.10"), None, number, b"x", Json({"a": ["1.5"]}), [1, Json({"b": 2})], "long", "+01-02")
    assert wanted == row_of(given)
