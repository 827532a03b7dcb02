from __future__ import annotations

import datetime as dt
import os
import sqlite3
import uuid
from decimal import Decimal
from pathlib import Path

import pytest

from nl2sql_gate.engines.sqlite import SqliteEngine
from nl2sql_gate.engines.sqlite_copies import can_roll_back
from nl2sql_gate.errors import EngineFault, ProvisionError, ServiceError, SettingsError
from nl2sql_gate.records import DatabaseSource, Json, Limits, Place, ResultSet, SetupStatement, SqlError, TableData

PLACE = Place("setup.sql", 3)
SETUP = (
    SetupStatement("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)", PLACE),
    SetupStatement(
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<2000) INSERT INTO t SELECT x, printf('%200d', x) FROM c",
        PLACE,
    ),
)
SOURCE = DatabaseSource("d", "sqlite", "digest", setup=SETUP)


def engine(workdir: Path, way: str = "auto", **options: bool) -> SqliteEngine:
    made = SqliteEngine(
        name="s", dialect="sqlite", way=way, limits=Limits(statement_s=5), workdir=str(workdir), workers=1, **options
    )
    made.start()
    return made


def test_a_file_of_the_same_digest_is_built_once(tmp_path: Path) -> None:
    first = engine(tmp_path)
    first.provision(SOURCE)
    first.stop()
    (built,) = (tmp_path / "templates").iterdir()
    before = built.stat()
    second = engine(tmp_path)
    with second.provision(SOURCE).reading() as session:
        assert session.execute("SELECT COUNT(*) FROM t").rows == ((2000,),)
    second.stop()
    assert (before.st_mtime_ns, before.st_ino) == (built.stat().st_mtime_ns, built.stat().st_ino)
    assert [path.name for path in tmp_path.iterdir()] == ["templates"]


def test_a_failed_build_leaves_no_file(tmp_path: Path) -> None:
    made = engine(tmp_path)
    with pytest.raises(ProvisionError, match=r"setup\.sql:3"):
        made.provision(DatabaseSource("d", "sqlite", "other", setup=(*SETUP, SetupStatement("SELEC", PLACE))))
    made.stop()
    assert list((tmp_path / "templates").iterdir()) == []


def test_setup_scripts_cannot_reach_other_files(tmp_path: Path) -> None:
    made = engine(tmp_path)
    for hostile in (f"ATTACH DATABASE '{tmp_path}/x.db' AS x", f"VACUUM INTO '{tmp_path}/x.db'"):
        with pytest.raises(ProvisionError):
            made.provision(DatabaseSource("d", "sqlite", hostile, setup=(SetupStatement(hostile, PLACE),)))
    made.stop()
    assert not (tmp_path / "x.db").exists()


def test_scripts_may_hold_transactions_and_pragmas(tmp_path: Path) -> None:
    made = engine(tmp_path)
    texts = (
        "PRAGMA foreign_keys = ON",
        "BEGIN TRANSACTION",
        "CREATE TABLE a(x)",
        "COMMIT",
        "INSERT INTO a VALUES (1)",
        "PRAGMA user_version = 3",
    )
    database = made.provision(DatabaseSource("d", "sqlite", "tx", setup=tuple(SetupStatement(t, PLACE) for t in texts)))
    with database.reading() as session:
        assert session.execute("SELECT x FROM a").rows == ((1,),)
        assert session.execute("PRAGMA user_version").rows == ((3,),)
    made.stop()


def test_cells_that_sqlite_lacks_are_stored_as_what_reads_back_best(tmp_path: Path) -> None:
    cells = (
        True,
        Decimal("1.50"),
        Decimal(7),
        dt.date(2024, 1, 31),
        dt.datetime(2024, 1, 31, 12),  # noqa: DTZ001 - a reading of a clock on the wall
        Json({"a": 1}),
        uuid.UUID(int=1),
        b"x",
        "false",
    )
    columns = tuple("abcdefghi")
    setup = (SetupStatement("CREATE TABLE t(a, b, c, d, e, f, g, h, i BOOLEAN)", PLACE),)
    made = engine(tmp_path)
    database = made.provision(
        DatabaseSource("d", "sqlite", "cells", setup=setup, tables=(TableData("t", columns, (cells,), PLACE),))
    )
    with database.reading() as session:
        stored = session.execute("SELECT * FROM t").rows[0]
    made.stop()
    assert stored == (1, 1.5, 7, "2024-01-31", "2024-01-31 12:00:00", '{"a": 1}', str(uuid.UUID(int=1)), b"x", 0)


def test_committed_writes_are_put_back_page_by_page(tmp_path: Path) -> None:
    made = engine(tmp_path)
    database = made.provision(SOURCE)
    statements = ["DELETE FROM t WHERE id % 3 = 0", "DROP TABLE t", "CREATE TABLE other(a)", "VACUUM"]
    for _ in range(3):
        with database.writing([*statements, "COMMIT"]) as session:
            for statement in statements:
                assert isinstance(session.execute(statement), ResultSet)
        (copy,) = database._copies._idle  # type: ignore[union-attr]
        assert copy.connection.execute("SELECT COUNT(*), SUM(LENGTH(v)) FROM t").fetchall() == [(2000, 400000)]
        assert copy.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    made.stop()


def test_a_copy_may_not_grow_without_end(tmp_path: Path) -> None:
    made = SqliteEngine(name="s", dialect="sqlite", way="auto", limits=Limits(statement_s=20), workdir=str(tmp_path), workers=1)
    made.start()
    database = made.provision(SOURCE)
    endless = "INSERT INTO t(v) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT hex(zeroblob(500000)) FROM c"
    for statements in ([endless], [endless, "COMMIT"]):
        with database.writing(statements) as session:
            result = session.execute(endless)
            assert isinstance(result, SqlError)
            assert result.reason == "too_many_bytes"
    with database.writing(["SELECT 1"]) as session:
        assert session.execute("SELECT COUNT(*) FROM t").rows == ((2000,),)
    made.stop()


def test_a_broken_file_is_a_fault(tmp_path: Path) -> None:
    made = engine(tmp_path)
    database = made.provision(SOURCE)
    (built,) = (tmp_path / "templates").iterdir()
    built.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    with pytest.raises(EngineFault), database.reading() as session:
        session.execute("SELECT * FROM t")
    made.stop()


def test_an_existing_file_is_read_and_never_written(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (1)")
    connection.close()
    before = path.read_bytes()
    made = engine(tmp_path / "work", f"sqlite:///{path}", existing=True)
    database = made.provision(DatabaseSource("d", "sqlite", "unknown"))
    with database.reading() as session:
        assert session.execute("SELECT a FROM t").rows == ((1,),)
        assert isinstance(session.execute("DELETE FROM t"), SqlError)
    with pytest.raises(SettingsError), database.writing(["DELETE FROM t"]):
        pass
    made.stop()
    assert path.read_bytes() == before
    missing = engine(tmp_path / "work", f"sqlite:///{tmp_path}/none.db", existing=True)
    with pytest.raises(ServiceError):
        missing.provision(DatabaseSource("d", "sqlite", "unknown"))
    missing.stop()
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("sql", "safe"),
    [
        ("UPDATE t SET a = CASE WHEN b THEN 1 ELSE 2 END", True),
        ("INSERT OR ROLLBACK INTO t VALUES (1)", False),
        ("BEGIN", False),
        ("END", False),
        ("commit", False),
        ("PRAGMA foreign_keys = ON", False),
        ("SELECT RAISE(ROLLBACK, 'x')", False),
    ],
)
def test_transactions_are_used_where_nothing_can_end_them(sql: str, safe: bool) -> None:
    assert can_roll_back([sql]) is safe
