"""Large tables of MariaDB are copied as files: the copy is like its source, and what cannot be copied so is copied by rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from embedded import embedded

from nl2sql_gate.records import DatabaseSource, Place, ResultSet, SetupStatement, TableData

pytestmark = pytest.mark.server

PLACE = Place("setup.sql", 1)
ROWS = 6000
TABLES = {
    "plain": "CREATE TABLE plain (id INTEGER PRIMARY KEY, words VARCHAR(400), KEY words (words))",
    "counted": "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTO_INCREMENT, words VARCHAR(400))",
    "child": "CREATE TABLE child (id INTEGER PRIMARY KEY, words VARCHAR(400), FOREIGN KEY (id) REFERENCES plain (id))",
    "computed": "CREATE TABLE computed (id INTEGER PRIMARY KEY, words VARCHAR(400), twice INTEGER AS (id * 2) VIRTUAL)",
    "searched": "CREATE TABLE searched (id INTEGER PRIMARY KEY, words VARCHAR(400), FULLTEXT KEY words (words))",
    "Named-oddly": "CREATE TABLE `Named-oddly` (id INTEGER PRIMARY KEY, words VARCHAR(400))",
    "small": "CREATE TABLE small (id INTEGER PRIMARY KEY, words VARCHAR(400))",
}
"""Of these the first three are copied as files: the others have what files do not carry, a name of another kind, or few rows."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    with embedded("mariadb") as found:
        yield found


@pytest.fixture(scope="module")
def database(engine: Any) -> Any:
    tables = tuple(
        TableData(
            name, ("id", "words"), tuple((i, f"{i} {name} " * 10) for i in range(1, 30 if name == "small" else ROWS)), PLACE
        )
        for name in TABLES
    )
    setup = tuple(SetupStatement(text, PLACE) for text in TABLES.values())
    return engine.provision(DatabaseSource("d", "mariadb", "large", setup=setup, tables=tables))


def read(session: Any, sql: str) -> Any:
    result = session.execute(sql)
    assert isinstance(result, ResultSet), result
    return result.rows


def summed(session: Any, table: str) -> Any:
    return read(session, f"SELECT COUNT(*), SUM(CRC32(CONCAT(id, words))) FROM `{table}`")


@pytest.mark.parametrize("table", TABLES)
def test_a_copy_holds_what_its_source_holds(database: Any, table: str) -> None:
    with database.reading() as session:
        expected = summed(session, table)
    # CREATE TABLE ends a transaction, so that the session is on a whole copy.
    with database.writing(["CREATE TABLE fresh (a INTEGER)"]) as session:
        assert summed(session, table) == expected
        assert read(session, f"SELECT words FROM `{table}` WHERE id = 7") == ((f"7 {table} " * 10,),)


@pytest.mark.parametrize("table", TABLES)
def test_what_was_changed_is_put_back(database: Any, table: str) -> None:
    with database.reading() as session:
        expected = summed(session, table)
    change = f"DELETE FROM `{table}` WHERE id > 10"
    for _ in range(3):
        with database.writing([change, "CREATE TABLE fresh (a INTEGER)"]) as session:
            assert summed(session, table) == expected
            session.execute("SET foreign_key_checks = 0")
            session.execute(change)
            assert read(session, f"SELECT COUNT(*) FROM `{table}`") == ((10,),)
    with database.reading() as session:
        assert summed(session, table) == expected


def test_counters_go_on_where_the_source_was(database: Any) -> None:
    insert = "INSERT INTO counted (words) VALUES ('next')"
    for _ in range(2):
        with database.writing([insert, "CREATE TABLE fresh (a INTEGER)"]) as session:
            session.execute(insert)
            assert read(session, "SELECT id FROM counted WHERE words = 'next'") == ((ROWS,),)


def test_constraints_of_a_copied_table_hold(database: Any) -> None:
    with database.writing(["CREATE TABLE fresh (a INTEGER)"]) as session:
        assert session.execute("INSERT INTO child (id, words) VALUES (999999, 'no parent')").code == "1452"
        assert session.execute("INSERT INTO plain VALUES (7, 'there already')").code == "1062"
        assert read(session, "SELECT twice FROM computed WHERE id = 21") == ((42,),)


def test_large_plain_tables_are_copied_as_files_and_no_others(engine: Any, database: Any) -> None:
    del database
    files = engine._databases[0]._clones._blueprint.files
    assert {name for name in TABLES if files.has(name)} == {"plain", "counted", "child"}


def test_a_file_that_has_changed_since_is_not_copied(engine: Any, database: Any) -> None:
    template, files = engine._databases[0]._database, engine._databases[0]._clones._blueprint.files
    (engine._server.data / template / "counted.ibd").touch()
    for _ in range(3):
        with database.writing(["DROP TABLE counted"]) as session:
            assert read(session, "SELECT COUNT(*) FROM counted") == ((ROWS - 1,),)
            session.execute("DROP TABLE counted")
        engine._work.call(lambda: "put back").result(60)
    assert not files.has("counted")
