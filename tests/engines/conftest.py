"""Engines for the contract suite: each started once, and databases built in them from a few statements."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate import plugins
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import DatabaseSource, Execution, Limits, Place, SetupStatement, SqlError, TableData

sys.path.insert(0, str(Path(__file__).parent))

import tsql
from oddities import ENGINES, Oddities

_MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - folders inside are private
if _MEMORY_DISK.is_dir() and shutil.disk_usage(_MEMORY_DISK).free > 6 * 2**30:
    # Hundreds of databases are made and thrown away; on a disk the throwing away alone takes minutes.
    tempfile.tempdir = str(_MEMORY_DISK)

STATEMENT_S = 2.0
LIMITS = Limits(statement_s=STATEMENT_S, rows=1000, bytes=8 * 2**20)


@dataclass
class Bench:
    """One running engine, and what is peculiar to it."""

    dialect: str
    engine: Any
    odd: Oddities

    def build(self, *setup: str, tables: Sequence[TableData] = (), post: Sequence[str] = ()) -> Any:
        """A database made by the statements; the same one for the same statements."""
        number = hashlib.sha256(repr((setup, tables, post)).encode()).hexdigest()[:12]
        place = Place("setup.sql", 1)
        spell = tsql.respelled if self.dialect == "sqlserver" else str
        built = self.engine.provision(
            DatabaseSource(
                f"d{number}",
                self.dialect,
                f"{self.dialect}-{number}",
                setup=tuple(SetupStatement(spell(text), place) for text in setup),
                tables=tuple(tables),
                post=tuple(SetupStatement(spell(text), place) for text in post),
            )
        )
        return tsql.RespelledDatabase(built, built.name, built.digest) if self.dialect == "sqlserver" else built


def read(database: Any, sql: str) -> Execution:
    """The result of one text in a read-only session."""
    with database.reading() as session:
        return session.execute(sql)


def rows(database: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of one query that must succeed."""
    result = read(database, sql)
    assert not isinstance(result, SqlError), result
    return list(result.rows)


_running: dict[str, Bench | str] = {}


def _bench(dialect: str, folder: Path) -> Bench | str:
    if dialect not in _running:
        factory = plugins.load("engine", dialect)
        engine = factory(name=dialect, dialect=dialect, way=ENGINES[dialect].way, limits=LIMITS, workdir=str(folder), workers=2)
        try:
            engine.start()
        except ServiceError as error:
            _running[dialect] = str(error)
        else:
            _running[dialect] = Bench(dialect, engine, ENGINES[dialect])
    return _running[dialect]


@pytest.fixture(scope="session", autouse=True)
def _stopped_at_the_end() -> Iterator[None]:
    yield
    for bench in _running.values():
        if isinstance(bench, Bench):
            bench.engine.stop()
    _running.clear()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `bench` runs on every engine, or on those that its `engines` marker names."""
    if "bench" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("engines")
        wanted = marker.args if marker else tuple(ENGINES)
        metafunc.parametrize("bench", [name for name in ENGINES if name in wanted], indirect=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "engines(*dialects): the engines that a contract test is about")


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The engine of the test's parameter, running."""
    found = _bench(request.param, tmp_path_factory.getbasetemp() / "engines" / request.param)
    if isinstance(found, str):
        pytest.skip(found.splitlines()[0])
    return found


@pytest.fixture
def stock(bench: Bench) -> Any:
    """Three articles and a log of one line."""
    key = f"{dialect}-stock" if (dialect := bench.dialect) else ""
    if key not in _databases:
        _databases[key] = bench.build(
            "CREATE TABLE stock(id INTEGER PRIMARY KEY, item VARCHAR(20), qty INTEGER)",
            "INSERT INTO stock VALUES (1,'nut',10),(2,'bolt',20),(3,'gear',30)",
            "CREATE TABLE log(id INTEGER)",
            "INSERT INTO log VALUES (1)",
        )
    return _databases[key]


_databases: dict[str, Any] = {}

Reader = Callable[[Any, str], Execution]


@pytest.fixture
def run() -> Reader:
    """Run one text read-only."""
    return read
