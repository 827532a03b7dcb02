"""A PostgreSQL server that was given: our databases beside foreign ones, and the user's own database, read-only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from nl2sql_gate.engines.postgres import PostgresEngine
from nl2sql_gate.engines.postgres_server import EmbeddedPostgres, has_binaries
from nl2sql_gate.errors import ServiceError, SettingsError
from nl2sql_gate.records import DatabaseSource, Limits, Place, ResultSet, SetupStatement, SqlError

pytestmark = pytest.mark.server

SETUP = ("CREATE TABLE stock(id serial PRIMARY KEY, item VARCHAR(20))", "INSERT INTO stock(item) VALUES ('nut')")
SOURCE = DatabaseSource("d", "postgres", "x", setup=tuple(SetupStatement(text, Place("setup.sql", 1)) for text in SETUP))


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    if not has_binaries():
        pytest.skip("no PostgreSQL server is installed")
    started = EmbeddedPostgres()
    started.start()
    try:
        with _admin(started) as connection:
            connection.execute("CREATE DATABASE staging")
            connection.execute("CREATE ROLE boss LOGIN CREATEDB CREATEROLE PASSWORD 'x'")
            connection.execute("CREATE ROLE viewer LOGIN PASSWORD 'x'")
            connection.execute("CREATE ROLE editor LOGIN PASSWORD 'x'")
        with _admin(started, "staging") as connection:
            connection.execute("CREATE TABLE mine(a int)")
            connection.execute("INSERT INTO mine VALUES (1)")
            connection.execute("GRANT SELECT ON mine TO viewer")
            connection.execute("GRANT SELECT, UPDATE ON mine TO editor")
        yield started
    finally:
        started.stop()


def _admin(server: EmbeddedPostgres, database: str = "") -> psycopg.Connection[Any]:
    return psycopg.connect(**server.address.parameters(database), autocommit=True)


def _engine(server: EmbeddedPostgres, user: str, database: str = "postgres", **options: bool) -> PostgresEngine:
    url = f"postgresql://{user}:x@/{database}?host={quote(server.address.host, safe='')}&port=5432"
    limits = Limits(statement_s=5)
    return PostgresEngine(name="pg", dialect="postgres", way=url, limits=limits, workdir="", workers=2, **options)


def _left(server: EmbeddedPostgres) -> list[str]:
    with _admin(server) as connection:
        rows = connection.execute(
            "SELECT datname::text FROM pg_database WHERE datname LIKE 'nl2sql\\_gate\\_%'"
            " UNION ALL SELECT rolname::text FROM pg_roles WHERE rolname LIKE 'nl2sql\\_gate\\_%' AND rolname <> 'nl2sql_gate_admin'"
        ).fetchall()
    return [row[0] for row in rows]


def _foreign(server: EmbeddedPostgres) -> object:
    with _admin(server, "staging") as connection:
        rows = connection.execute("SELECT * FROM mine").fetchall()
        names = connection.execute("SELECT datname FROM pg_database WHERE datname !~ '^nl2sql' ORDER BY 1").fetchall()
        return rows, names, connection.execute("SELECT relacl::text FROM pg_class WHERE relname = 'mine'").fetchall()


@pytest.mark.parametrize("user", ["boss", "nl2sql_gate_admin"])
def test_a_run_works_beside_foreign_data_and_leaves_nothing(server: EmbeddedPostgres, user: str) -> None:
    before = _foreign(server)
    engine = _engine(server, user)
    assert engine.start().way == "given"
    try:
        database = engine.provision(SOURCE)
        with database.reading() as one, database.reading() as other:
            assert one.execute("SELECT item FROM stock").rows == (("nut",),)
            for hostile in ("DELETE FROM stock", "SET default_transaction_read_only = off; DELETE FROM stock"):
                assert isinstance(one.execute(hostile), SqlError)
            one.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename LIKE 'nl2sql%reader%'"
            )
            assert isinstance(other.execute("SELECT 'golden'"), ResultSet)
            assert "golden" not in str(one.execute("SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid()"))
        for statements in (["DROP TABLE stock"], ["DROP TABLE stock", "COMMIT"], ["CREATE SCHEMA s", "CREATE TABLE s.t(a int)"]):
            with database.writing(statements) as session:
                assert all(isinstance(session.execute(text), ResultSet) for text in statements)
                session.state()
    finally:
        engine.stop()
    assert _left(server) == []
    assert _foreign(server) == before


@pytest.mark.parametrize("user", ["boss", "nl2sql_gate_admin"])
def test_databases_of_dead_runs_are_swept_and_live_ones_left(server: EmbeddedPostgres, user: str) -> None:
    dead, live = _engine(server, user), _engine(server, user)
    for engine in (dead, live):
        engine.start()
        engine.provision(SOURCE)
    run = dead._cluster.run  # type: ignore[union-attr]
    dead._work.stop()
    dead._cluster._admin.close()  # type: ignore[union-attr] # as if it had been killed
    deadline = time.monotonic() + 5
    while True:
        later = _engine(server, user)
        later.start()
        later.stop()
        if not any(run in name for name in _left(server)):
            break
        # The server frees a dead run's lock when it notices.
        assert time.monotonic() < deadline
    with live.provision(SOURCE).reading() as session:
        assert session.execute("SELECT item FROM stock").rows == (("nut",),)
    live.stop()
    assert _left(server) == []


def test_an_existing_database_is_read_by_a_reader(server: EmbeddedPostgres) -> None:
    before = _foreign(server)
    engine = _engine(server, "viewer", "staging", existing=True)
    engine.start()
    try:
        database = engine.provision(DatabaseSource("d", "postgres", "unknown"))
        assert database.digest == "unknown"
        assert "mine" in database.schema(sample_values=0).ddl
        with database.reading() as session:
            assert session.execute("SELECT a FROM mine").rows == ((1,),)
        with pytest.raises(SettingsError, match="questions only"), database.writing(["DELETE FROM mine"]):
            pass
        assert database.dsn() == ""
    finally:
        engine.stop()
    assert _left(server) == []
    assert _foreign(server) == before


@pytest.mark.parametrize(("user", "why"), [("nl2sql_gate_admin", "superuser"), ("editor", "may write to table mine")])
def test_who_may_write_is_refused_unless_the_user_insists(server: EmbeddedPostgres, user: str, why: str) -> None:
    before = _foreign(server)
    with pytest.raises(SettingsError) as caught:
        _engine(server, user, "staging", existing=True).start()
    assert why in str(caught.value)
    engine = _engine(server, user, "staging", existing=True, insist=True)
    engine.start()
    try:
        with engine.provision(DatabaseSource("d", "postgres", "unknown")).reading() as session:
            for hostile in (
                "UPDATE mine SET a = 2",
                "SET transaction_read_only = off; UPDATE mine SET a = 2",
                "SET default_transaction_read_only = off; UPDATE mine SET a = 2",
                "COMMIT; UPDATE mine SET a = 2",
                "COMMIT; BEGIN READ WRITE; UPDATE mine SET a = 2; COMMIT",
                "ROLLBACK; START TRANSACTION READ WRITE; UPDATE mine SET a = 2; COMMIT",
                "COMMIT AND CHAIN; UPDATE mine SET a = 2",
                "DO $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; UPDATE mine SET a = 2; END $$",
                "CREATE TABLE other(a int)",
            ):
                assert isinstance(session.execute(hostile), SqlError), hostile
    finally:
        engine.stop()
    assert _foreign(server) == before


def test_a_server_that_is_not_there_is_named(server: EmbeddedPostgres) -> None:
    engine = PostgresEngine(
        name="pg", dialect="postgres", way="postgresql://ann:s3cr3t@127.0.0.1:1/x", limits=Limits(), workdir="", workers=1
    )
    with pytest.raises(ServiceError) as caught:
        engine.start()
    assert "services.pg" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
    engine.stop()


def test_a_user_without_rights_is_told_what_is_needed(server: EmbeddedPostgres) -> None:
    engine = _engine(server, "viewer")
    with pytest.raises(ServiceError, match="existing: true"):
        engine.start()
    engine.stop()
    assert _left(server) == []
