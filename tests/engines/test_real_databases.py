"""Databases as they are published, built from their own scripts, and their goldens."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset import load, read_source
from nl2sql_gate.records import DatabaseSource, Place, ResultSet, SetupStatement, SqlError
from nl2sql_gate.sqltext import split_statements
from nl2sql_gate.testing import Bench, read, rows

CHINOOK = {"sqlite": "Sqlite", "postgres": "PostgreSql", "mysql": "MySql", "mariadb": "MySql"}
COUNTS = {"Album": 347, "Artist": 275, "Customer": 59, "Employee": 8, "Genre": 25, "Invoice": 412, "InvoiceLine": 2240}
COUNTS |= {"MediaType": 5, "Playlist": 18, "PlaylistTrack": 8715, "Track": 3503}
BAT_GOLDEN_ERRORS: dict[str, set[str]] = {"sqlite": {"43"}, "postgres": set(), "mysql": set(), "mariadb": set()}


def _source(path: Path, dialect: str) -> DatabaseSource:
    statements = split_statements(path.read_text(), dialect)
    setup = tuple(SetupStatement(s.text, Place(path.name, s.line)) for s in statements)
    return DatabaseSource(path.stem, dialect, f"{dialect}-{path.stem}", setup=setup)


@pytest.mark.engines(*CHINOOK)
def test_chinook_has_the_same_rows_everywhere(bench: Bench, shared_data: Path) -> None:
    path = shared_data / "data" / "chinook" / f"Chinook_{CHINOOK[bench.dialect]}.sql"
    database = bench.engine.provision(_source(path, bench.dialect))
    names = {name: _snake(name) if bench.dialect == "postgres" else name for name in COUNTS}
    assert {name: rows(database, f"SELECT COUNT(*) FROM {table}")[0][0] for name, table in names.items()} == COUNTS
    tables = {table.name: table for table in database.schema(sample_values=3).tables}
    assert set(tables) == set(names.values())
    assert len(tables[names["Track"]].foreign_keys) == 3
    last = rows(database, f"SELECT MAX({_column(bench, 'Total')}) FROM {names['Invoice']}")[0][0]
    assert float(last) == pytest.approx(25.86)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def _column(bench: Bench, name: str) -> str:
    return name.lower() if bench.dialect == "postgres" else name


@pytest.mark.engines("postgres")
def test_defogs_schemas_build_and_their_goldens_run(bench: Bench, shared_data: Path) -> None:
    failures = []
    for path in sorted((shared_data / "data" / "defog" / "schemas").glob("*.sql")):
        database = bench.engine.provision(_source(path, "postgres"))
        for table in database.schema(sample_values=1).tables:
            name = table.ddl.partition("CREATE TABLE ")[2].partition(" (")[0]
            result = read(database, f"SELECT COUNT(*) FROM {name}")
            if isinstance(result, SqlError):
                failures.append(f"{path.stem}: {result.message}")
    assert failures == []


@pytest.mark.engines("sqlite", "postgres", "mysql", "mariadb")
def test_bats_goldens_run_or_are_named(bench: Bench, shared_data: Path) -> None:
    folder = shared_data / "data" / "evalbench-bat"
    database = bench.engine.provision(read_source(folder / "setup", "db_blog", bench.dialect))
    assert len(database.schema(sample_values=0).tables) >= 19
    failed: dict[str, Any] = {}
    for item in load(folder / "prompts.json").items:
        statements = item.golden_sql.pick(bench.dialect)
        with database.reading() if item.query_type == "dql" else database.writing(statements) as session:
            for statement in statements:
                result = session.execute(statement)
                if not isinstance(result, ResultSet):
                    failed[item.id] = result
    assert set(failed) == BAT_GOLDEN_ERRORS[bench.dialect], failed


@pytest.mark.engines("postgres")
def test_birds_dumps_hold_the_rows_of_birds_files(bench: Bench, shared_data: Path) -> None:
    root = shared_data / "data" / "bird-mini-dev"
    differing: list[str] = []
    for dump in sorted((root / "postgres").glob("*.sql")):
        database = bench.engine.provision(read_source(root / "postgres", dump.stem, "postgres"))
        with closing(sqlite3.connect(f"file:{root}/databases/{dump.stem}/{dump.stem}.sqlite?mode=ro", uri=True)) as file:
            names = [
                row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
            ]
            expected = {name.lower(): file.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}
        found = {
            table.name.lower(): rows(database, f'SELECT COUNT(*) FROM "{table.name}"')[0][0]
            for table in database.schema(sample_values=0).tables
        }
        if found != expected:
            differing.append(f"{dump.stem}: {found} {expected}")
    assert differing == []
