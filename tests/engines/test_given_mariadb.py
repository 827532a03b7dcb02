"""A MariaDB server that was given, or that stands in for MySQL: our databases beside foreign ones, and the user's own, read-only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pytest

from nl2sql_gate.engines.mysql import MariadbEngine, MysqlEngine
from nl2sql_gate.engines.mysql_server import EmbeddedMysql, connect, given_address, has_binary
from nl2sql_gate.errors import ServiceError, SettingsError
from nl2sql_gate.records import DatabaseSource, Limits, Place, ResultSet, SetupStatement, SqlError

pytestmark = pytest.mark.server

SETUP = ("CREATE TABLE stock(id INT AUTO_INCREMENT PRIMARY KEY, item VARCHAR(20))", "INSERT INTO stock(item) VALUES ('nut')")
SOURCE = DatabaseSource("d", "mariadb", "x", setup=tuple(SetupStatement(text, Place("setup.sql", 1)) for text in SETUP))


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedMysql]:
    if not has_binary("MariaDB"):
        pytest.skip("no MariaDB server is installed")
    started = EmbeddedMysql("MariaDB")
    started.start()
    try:
        for statement in (
            "CREATE DATABASE staging",
            "CREATE TABLE staging.mine(a INT)",
            "INSERT INTO staging.mine VALUES (1)",
            "CREATE USER viewer IDENTIFIED BY 'x'",
            "GRANT SELECT ON staging.* TO viewer",
            "CREATE USER editor IDENTIFIED BY 'x'",
            "GRANT SELECT, UPDATE ON staging.* TO editor",
            "CREATE USER boss IDENTIFIED BY 'x'",
            "GRANT ALL ON *.* TO boss WITH GRANT OPTION",
        ):
            _ask(started, statement)
        for (host,) in _ask(started, "SELECT Host FROM mysql.user WHERE User = ''"):
            _ask(started, f"DROP USER ''@'{host}'")
        yield started
    finally:
        started.stop()


def _ask(server: EmbeddedMysql, statement: str) -> list[tuple[Any, ...]]:
    with closing(connect(server.address.parameters())) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def _engine(server: EmbeddedMysql, user: str, database: str = "", **options: bool) -> MariadbEngine:
    url = f"mariadb://{user}:x@localhost/{database}?unix_socket={quote(server.address.socket, safe='')}"
    return MariadbEngine(name="ma", dialect="mariadb", way=url, limits=Limits(statement_s=5), workdir="", workers=2, **options)


def _left(server: EmbeddedMysql) -> list[str]:
    databases = _ask(server, "SHOW DATABASES LIKE 'nl2sql%'")
    return [row[0] for row in (*databases, *_ask(server, "SELECT User FROM mysql.user WHERE User LIKE 'ng\\_%'"))]


def _foreign(server: EmbeddedMysql) -> object:
    users = _ask(server, "SELECT User FROM mysql.user WHERE User NOT LIKE 'ng\\_%' ORDER BY 1")
    return _ask(server, "SELECT * FROM staging.mine"), users, _ask(server, "SHOW GRANTS FOR viewer")


def test_a_run_works_beside_foreign_data_and_leaves_nothing(server: EmbeddedMysql) -> None:
    before = _foreign(server)
    engine = _engine(server, "boss")
    facts = engine.start()
    assert (facts.product, facts.way) == ("MariaDB", "given")
    try:
        database = engine.provision(SOURCE)
        with database.reading() as session:
            assert session.execute("SELECT item FROM stock").rows == (("nut",),)
            for hostile in ("DELETE FROM stock", "SELECT * FROM staging.mine", "USE staging", "DROP DATABASE staging"):
                assert isinstance(session.execute(hostile), SqlError), hostile
        for statements in (["DELETE FROM stock"], ["DROP TABLE stock"], ["CREATE TABLE t(a INT)", "COMMIT"]):
            with database.writing(statements) as session:
                session.state()
                for text in statements:
                    assert isinstance(session.execute(text), ResultSet), text
                for hostile in ("SELECT * FROM staging.mine", "DROP DATABASE staging"):
                    assert isinstance(session.execute(hostile), SqlError), hostile
    finally:
        engine.stop()
    assert _left(server) == []
    assert _foreign(server) == before


def test_databases_of_dead_runs_are_swept_and_live_ones_left(server: EmbeddedMysql) -> None:
    dead, live = _engine(server, "boss"), _engine(server, "boss")
    for engine in (dead, live):
        engine.start()
        engine.provision(SOURCE)
    run = dead._cluster.run  # type: ignore[union-attr]
    dead._work.stop()
    dead._cluster._admin.close()  # type: ignore[union-attr] # as if it had been killed
    deadline = time.monotonic() + 5
    while True:
        later = _engine(server, "boss")
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


def test_an_existing_database_is_read_by_a_reader(server: EmbeddedMysql) -> None:
    before = _foreign(server)
    engine = _engine(server, "viewer", "staging", existing=True)
    engine.start()
    try:
        database = engine.provision(DatabaseSource("d", "mariadb", "unknown"))
        assert "mine" in database.schema(sample_values=0).ddl
        with database.reading() as session:
            assert session.execute("SELECT a FROM mine").rows == ((1,),)
        with pytest.raises(SettingsError, match="questions only"), database.writing(["DELETE FROM mine"]):
            pass
    finally:
        engine.stop()
    assert _left(server) == []
    assert _foreign(server) == before


def test_who_may_write_is_refused_unless_the_user_insists(server: EmbeddedMysql) -> None:
    before = _foreign(server)
    with pytest.raises(SettingsError, match="UPDATE on"):
        _engine(server, "editor", "staging", existing=True).start()
    engine = _engine(server, "editor", "staging", existing=True, insist=True)
    engine.start()
    try:
        with engine.provision(DatabaseSource("d", "mariadb", "unknown")).reading() as session:
            for hostile in (
                "UPDATE mine SET a = 2",
                "COMMIT; UPDATE mine SET a = 2",
                "START TRANSACTION READ WRITE; UPDATE mine SET a = 2; COMMIT",
                "SET SESSION TRANSACTION READ WRITE; UPDATE mine SET a = 2",
                "SET autocommit = 1; UPDATE mine SET a = 2",
                "SELECT 1; DROP TABLE mine",
                "CREATE TABLE other AS SELECT * FROM mine",
                "/*!50000 TRUNCATE mine */",
                "EXECUTE IMMEDIATE 'DROP TABLE mine'",
            ):
                assert isinstance(session.execute(hostile), SqlError), hostile
    finally:
        engine.stop()
    assert _foreign(server) == before


def test_mariadb_stands_in_for_mysql_only_where_that_is_said(server: EmbeddedMysql) -> None:
    engine = MysqlEngine(name="my", dialect="mysql", way="embedded-mariadb", limits=Limits(), workdir="", workers=1)
    try:
        facts = engine.start()
        assert (facts.dialect, facts.product, facts.way) == ("mysql", "MariaDB", "embedded-mariadb")
    finally:
        engine.stop()
    if not has_binary("MySQL"):
        with pytest.raises(ServiceError, match="MySQL"):
            MysqlEngine(name="my", dialect="mysql", way="embedded", limits=Limits(), workdir="", workers=1).start()


@pytest.mark.parametrize(
    "url", ["mysql://ann:s%40x@db.test:3307/shop?ssl_ca=/ca", "mariadb+pymysql://ann:s%40x@db.test:3307/shop"]
)
def test_urls_are_taken_apart(url: str) -> None:
    address = given_address(url)
    assert (address.user, address.password, address.host, address.port) == ("ann", "s@x", "db.test", 3307)
    assert address.database == "shop"


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    engine = MysqlEngine(
        name="my", dialect="mysql", way="mysql://ann:s3cr3t@127.0.0.1:1/x", limits=Limits(), workdir="", workers=1
    )
    with pytest.raises(ServiceError) as caught:
        engine.start()
    assert "services.my" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
