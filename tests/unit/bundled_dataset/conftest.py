"""The bundled databases, once a session in each engine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from thistledown_servers import Bench, MariaDb, Ours, duckdb_bench, sqlite_bench


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Both databases in SQLite."""
    bench = sqlite_bench(tmp_path_factory.mktemp("sqlite"))
    yield bench
    bench.stop()


@pytest.fixture(scope="session")
def mariadb_databases() -> Iterator[Bench]:
    """Both databases in a MariaDB server that we start."""
    if shutil.which("mariadbd") is None:
        pytest.skip("no mariadbd on this machine (Debian: mariadb-server)")
    bench = MariaDb()
    try:
        bench.build()
        yield bench
    finally:
        bench.stop()


@pytest.fixture(scope="session")
def postgres_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Both databases in a PostgreSQL server that the product starts."""
    bench = Ours("postgres", tmp_path_factory.mktemp("postgres"))
    try:
        bench.build()
        yield bench
    finally:
        bench.engine.stop()


@pytest.fixture(scope="session")
def duckdb_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Both databases in DuckDB."""
    bench = duckdb_bench(tmp_path_factory.mktemp("duckdb"))
    yield bench
    bench.stop()


@pytest.fixture(
    scope="session",
    params=["duckdb", pytest.param("postgres", marks=pytest.mark.server), pytest.param("mariadb", marks=pytest.mark.server)],
)
def other_databases(request: pytest.FixtureRequest) -> Bench:
    """Both databases in each engine that is held against SQLite."""
    bench: Bench = request.getfixturevalue(f"{request.param}_databases")
    return bench
