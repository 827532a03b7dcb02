"""A database that is given as a SQLite file: copied, never written."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest

from nl2sql_gate.engines.sqlite import SqliteEngine
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import DatabaseSource, Limits, ResultSet


def engine(folder: Path) -> SqliteEngine:
    return SqliteEngine(name="sqlite", dialect="sqlite", way="auto", limits=Limits(), workdir=str(folder), workers=1)


def test_a_file_is_copied_and_its_bytes_stay(tmp_path: Path) -> None:
    path = tmp_path / "given.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1), (2)")
    connection.close()
    before = sha256(path.read_bytes()).digest()
    running = engine(tmp_path)
    running.start()
    try:
        database = running.provision(DatabaseSource("given", "sqlite", "d1", sqlite_file=str(path)))
        with database.writing(["DELETE FROM t"]) as session:
            session.execute("DELETE FROM t")
        with database.reading() as session:
            ran = session.execute("SELECT COUNT(*) FROM t")
    finally:
        running.stop()
    assert isinstance(ran, ResultSet)
    assert ran.rows == ((2,),)
    assert sha256(path.read_bytes()).digest() == before


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "given.sqlite"
    path.write_bytes(b"not a database at all, but long enough to be read as one" * 50)
    running = engine(tmp_path)
    running.start()
    try:
        with pytest.raises(ProvisionError) as caught:
            running.provision(DatabaseSource("given", "sqlite", "d2", sqlite_file=str(path)))
    finally:
        running.stop()
    assert "given.sqlite" in str(caught.value)
