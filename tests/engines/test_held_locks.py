"""What a session holds by name on a whole server (locks, prepared transactions) is gone with it, and touches no other item."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from nl2sql_gate.engines.mysql import MariadbEngine
from nl2sql_gate.engines.mysql_server import EmbeddedMysql, connect, has_binary
from nl2sql_gate.engines.postgres import PostgresEngine
from nl2sql_gate.engines.postgres_server import EmbeddedPostgres, find_binaries, has_binaries
from nl2sql_gate.records import DatabaseSource, Limits, Place, ResultSet, SetupStatement
from nl2sql_gate.testing import LIMITS, read, rows

PREPARE = "XA START '{0}'; {1}; XA END '{0}'; XA PREPARE '{0}'"
SETUP = ("CREATE TABLE stock(id INTEGER PRIMARY KEY, qty INTEGER)", "INSERT INTO stock VALUES (1, 10)")


def _source(dialect: str) -> DatabaseSource:
    return DatabaseSource("d", dialect, "x", setup=tuple(SetupStatement(text, Place("setup.sql", 1)) for text in SETUP))


def _write(database: Any, *texts: str) -> list[Any]:
    with database.writing(list(texts)) as session:
        return [session.execute(text) for text in texts]


@pytest.mark.engines("mysql", "mariadb")
@pytest.mark.parametrize(
    "text",
    [
        PREPARE.format("eve", "SELECT * FROM stock"),
        PREPARE.format("eve", "UPDATE stock SET qty = 0"),
        "xa  begin 'eve', 'b', 7; SELECT 1; xa end 'eve', 'b', 7;\n XA PREPARE 'eve', 'b', 7 ;",
    ],
)
def test_a_prepared_transaction_does_not_outlive_its_session(stock: Any, text: str) -> None:
    for _ in range(3):
        read(stock, text)
        # The same name again: a transaction that was left behind would refuse it.
        for result in _write(stock, text):
            assert isinstance(result, ResultSet), result
        started = time.monotonic()
        assert isinstance(_write(stock, "DROP TABLE stock")[0], ResultSet)
        assert rows(stock, "SELECT qty FROM stock WHERE id = 1") == [(10,)]
        assert time.monotonic() - started < LIMITS.statement_s


@pytest.mark.engines("mariadb")
def test_neither_does_one_that_is_prepared_out_of_sight(stock: Any) -> None:
    hidden = (
        "XA START 'eve'; SELECT 1; XA END 'eve'; EXECUTE IMMEDIATE CONCAT('XA PREP', 'ARE ''eve''')",
        "XA START 'eve'; SELECT 1; XA END 'eve'; XA /* */ PREPARE 'eve'",
    )
    for text in hidden * 2:
        assert isinstance(read(stock, text), ResultSet)


@pytest.mark.engines("mysql", "mariadb")
@pytest.mark.parametrize(
    "hold",
    [
        "SELECT GET_LOCK('eve', 0)",
        "SELECT GET_LOCK('eve', 0), RELEASE_ALL_LOCKS(), GET_LOCK('eve', 0)",
        "LOCK TABLES stock WRITE",
        "BEGIN; SELECT * FROM stock FOR UPDATE",
        "HANDLER stock OPEN",
        "FLUSH TABLES stock WITH READ LOCK",
    ],
)
def test_a_lock_is_released_with_its_session(stock: Any, hold: str) -> None:
    read(stock, hold)
    _write(stock, hold)
    started = time.monotonic()
    assert rows(stock, "SELECT IS_FREE_LOCK('eve')") == [(1,)]
    assert isinstance(_write(stock, "UPDATE stock SET qty = 1")[0], ResultSet)
    assert isinstance(_write(stock, "DROP TABLE stock")[0], ResultSet)
    assert rows(stock, "SELECT qty FROM stock WHERE id = 1") == [(10,)]
    assert time.monotonic() - started < LIMITS.statement_s


@pytest.mark.engines("mysql", "mariadb")
def test_a_lock_that_is_held_stops_nobody_who_does_not_ask_for_it(stock: Any) -> None:
    with stock.reading() as eve, stock.writing(["LOCK TABLES stock WRITE"]) as other:
        eve.execute("SELECT GET_LOCK('eve', 0)")
        other.execute("LOCK TABLES stock WRITE")
        started = time.monotonic()
        assert read(stock, "SELECT RELEASE_LOCK('eve')").rows == ((0,),)  # type: ignore[union-attr]
        assert isinstance(_write(stock, "UPDATE stock SET qty = 1", "DROP TABLE stock")[1], ResultSet)
        assert time.monotonic() - started < LIMITS.statement_s
        assert eve.execute("SELECT IS_USED_LOCK('eve') = CONNECTION_ID()").rows == ((1,),)


@pytest.mark.engines("postgres")
@pytest.mark.parametrize(
    "hold",
    [
        "SELECT pg_advisory_lock(1)",
        "BEGIN; LOCK TABLE stock IN ACCESS EXCLUSIVE MODE",
        "BEGIN; SELECT * FROM stock FOR UPDATE",
        "BEGIN; SELECT 1; PREPARE TRANSACTION 'eve'",
    ],
)
def test_postgres_releases_what_a_session_held(stock: Any, hold: str) -> None:
    read(stock, hold)
    _write(stock, hold)
    started = time.monotonic()
    assert isinstance(_write(stock, "DROP TABLE stock")[0], ResultSet)
    assert rows(stock, "SELECT qty FROM stock WHERE id = 1") == [(10,)]
    assert time.monotonic() - started < LIMITS.statement_s


@pytest.mark.engines("sqlite", "duckdb")
@pytest.mark.parametrize("hold", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "BEGIN TRANSACTION; UPDATE stock SET qty = 1"])
def test_a_transaction_that_is_left_open_holds_up_nobody(stock: Any, hold: str) -> None:
    with stock.reading() as eve, stock.writing([hold]) as other:
        eve.execute(hold)
        other.execute(hold)
        assert isinstance(_write(stock, "UPDATE stock SET qty = 1")[0], ResultSet)
        assert rows(stock, "SELECT qty FROM stock WHERE id = 1") == [(10,)]
    assert isinstance(_write(stock, "DROP TABLE stock")[0], ResultSet)


@pytest.fixture(scope="module")
def mariadb() -> Iterator[tuple[EmbeddedMysql, Callable[[str], list[tuple[Any, ...]]]]]:
    if not has_binary("MariaDB"):
        pytest.skip("no MariaDB server is installed")
    server = EmbeddedMysql("MariaDB")
    server.start()

    def ask(statement: str) -> list[tuple[Any, ...]]:
        with closing(connect(server.address.parameters())) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    try:
        for user, host in ask("SELECT User, Host FROM mysql.user WHERE User = ''"):
            ask(f"DROP USER '{user}'@'{host}'")
        for text in ("CREATE DATABASE staging", "CREATE TABLE staging.mine(a INT)", "CREATE USER viewer IDENTIFIED BY 'x'"):
            ask(text)
        ask("GRANT SELECT ON staging.* TO viewer")
        ask("CREATE USER boss IDENTIFIED BY 'x'")
        ask("GRANT ALL ON *.* TO boss WITH GRANT OPTION")
        yield server, ask
    finally:
        server.stop()


@pytest.mark.server
def test_a_given_servers_own_prepared_transactions_stay(mariadb: Any) -> None:
    server, ask = mariadb
    with closing(connect(server.address.parameters(database="staging"))) as connection, connection.cursor() as cursor:
        for text in ("XA START 'theirs'", "INSERT INTO mine VALUES (1)", "XA END 'theirs'", "XA PREPARE 'theirs'"):
            cursor.execute(text)
    socket = quote(server.address.socket, safe="")
    for user, database, options in (("boss", "", {}), ("viewer", "staging", {"existing": True})):
        url = f"mariadb://{user}:x@localhost/{database}?unix_socket={socket}"
        engine = MariadbEngine(
            name="m", dialect="mariadb", way=url, limits=Limits(statement_s=2), workdir="", workers=1, **options
        )
        engine.start()
        try:
            found = engine.provision(_source("mariadb"))
            table = "stock" if user == "boss" else "mine"
            read(found, PREPARE.format("ours", f"SELECT * FROM {table}"))
            assert _listed(ask) == {"theirs"}
            if user == "boss":
                _write(found, PREPARE.format("ours", "UPDATE stock SET qty = 0"))
                assert _listed(ask) == {"theirs"}
        finally:
            engine.stop()
    assert _listed(ask) == {"theirs"}
    ask("XA COMMIT 'theirs'")
    assert ask("SELECT a FROM staging.mine") == [(1,)]
    assert ask("SHOW DATABASES LIKE 'nl2sql%'") == []


def _listed(ask: Callable[[str], list[tuple[Any, ...]]]) -> set[str]:
    return {row[3].decode() if isinstance(row[3], bytes) else row[3] for row in ask("XA RECOVER")}


@pytest.mark.server
def test_a_server_that_allows_prepared_transactions_keeps_none_of_ours() -> None:
    if not has_binaries():
        pytest.skip("no PostgreSQL server is installed")
    server = EmbeddedPostgres()
    server.start()
    try:
        _ask(server, "ALTER SYSTEM SET max_prepared_transactions = 10")
        _pg_ctl(server, "restart")
        url = f"postgresql://{server.address.user}@/postgres?host={quote(server.address.host, safe='')}&port=5432"
        engine = PostgresEngine(name="p", dialect="postgres", way=url, limits=Limits(statement_s=2), workdir="", workers=1)
        engine.start()
        try:
            database = engine.provision(_source("postgres"))
            for _ in range(2):
                held = "BEGIN; SELECT 1; PREPARE TRANSACTION 'eve'"
                assert isinstance(read(database, held), ResultSet)
                assert isinstance(_write(database, "BEGIN; UPDATE stock SET qty = 0; PREPARE TRANSACTION 'eve'")[0], ResultSet)
        finally:
            engine.stop()
        assert _ask(server, "SELECT gid FROM pg_prepared_xacts") == []
        assert _ask(server, "SELECT datname FROM pg_database WHERE datname LIKE 'nl2sql\\_gate\\_%'") == []
    finally:
        _pg_ctl(server, "stop")
        server.stop()


def _pg_ctl(server: EmbeddedPostgres, word: str) -> None:
    folder = Path(server.address.host)
    owner = folder.stat()
    subprocess.run(
        [find_binaries() / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "-l", folder / "again.log", word],
        check=True,
        cwd=folder,
        user=owner.st_uid if os.geteuid() == 0 else None,
        group=owner.st_gid if os.geteuid() == 0 else None,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _ask(server: EmbeddedPostgres, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(**server.address.parameters(), autocommit=True) as connection:
        cursor = connection.execute(statement)  # type: ignore[call-overload] -- our own text
        return list(cursor.fetchall()) if cursor.description else []
