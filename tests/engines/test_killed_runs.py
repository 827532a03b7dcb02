"""Runs on a server that was given, each killed at a random moment: foreign data is untouched, and the next run removes what is left."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from nl2sql_gate.engines.mysql_server import EmbeddedMysql, connect, has_binary
from nl2sql_gate.engines.postgres_server import EmbeddedPostgres, has_binaries

pytestmark = pytest.mark.server

KILLS = 50

# One process has everything imported, and each run is a fork of it, so that a run begins to work at once.
RUNS = """
import json, os, random, signal, sys, time
from nl2sql_gate import plugins
from nl2sql_gate.records import DatabaseSource, Limits, Place, SetupStatement
dialect, url, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
make = plugins.load("engine", dialect)
texts = ("CREATE TABLE stock(id INTEGER PRIMARY KEY, item VARCHAR(20))", "INSERT INTO stock VALUES (1, 'nut')")
source = DatabaseSource("d", dialect, "x", setup=tuple(SetupStatement(text, Place("setup.sql", 1)) for text in texts))

def run(work=True):
    engine = make(name="s", dialect=dialect, way=url, limits=Limits(statement_s=5), workdir="", workers=2)
    engine.start()
    try:
        database = engine.provision(source) if work else None
        for statements in (["DELETE FROM stock"], ["DROP TABLE stock"], ["CREATE TABLE t(a INT)", "COMMIT"]) * 2 if work else ():
            with database.reading() as session:
                session.execute("SELECT item FROM stock")
            with database.writing(statements) as session:
                session.state()
                for text in statements:
                    session.execute(text)
                session.state()
    finally:
        engine.stop()

def forked(after=None, **options):
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os.close(1)
        try:
            run(**options)
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    if after is not None:
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

moments = random.Random(3)
began = time.monotonic()
ended = [forked()]
lasts = time.monotonic() - began
for number in range(kills):
    code = forked(moments.uniform(0, lasts))
    print(json.dumps({"killed": code}), flush=True)
    sys.stdin.readline()
    print(json.dumps({"next": forked(work=False)}), flush=True)
    sys.stdin.readline()
print(json.dumps({"whole": ended + [forked()]}), flush=True)
"""


@dataclass
class Given:
    """A server with foreign data. `ours` are our databases and users there, `alive` our connections."""

    dialect: str
    url: str
    foreign: Callable[[], object]
    ours: Callable[[], list[str]]
    alive: Callable[[], int]


@pytest.fixture
def postgres() -> Iterator[Given]:
    if not has_binaries():
        pytest.skip("no PostgreSQL server is installed")
    server = EmbeddedPostgres()
    server.start()

    def ask(statement: str, database: str = "") -> list[tuple[Any, ...]]:
        with psycopg.connect(**server.address.parameters(database), autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[call-overload] -- our own text
            return list(cursor.fetchall()) if cursor.description else []

    try:
        ask("CREATE DATABASE staging")
        ask("CREATE ROLE boss LOGIN CREATEDB CREATEROLE PASSWORD 'x'")
        ask("CREATE TABLE mine AS SELECT generate_series(1, 1000) AS a", "staging")
        names = "SELECT datname::text AS name FROM pg_database UNION ALL SELECT rolname::text FROM pg_roles"
        theirs = f"SELECT name FROM ({names}) AS n WHERE name NOT LIKE 'nl2sql\\_gate\\_%' ORDER BY 1"
        yield Given(
            "postgres",
            f"postgresql://boss:x@/postgres?host={quote(server.address.host, safe='')}&port=5432",
            foreign=lambda: (ask("SELECT count(*), sum(hashint4(a)) FROM mine", "staging"), ask(theirs)),
            ours=lambda: [
                row[0]
                for row in ask(
                    f"SELECT name FROM ({names}) AS n WHERE name LIKE 'nl2sql\\_gate\\_%' AND name <> 'nl2sql_gate_admin'"
                )
            ],
            alive=lambda: ask("SELECT count(*) FROM pg_stat_activity WHERE usename <> current_user")[0][0],
        )
    finally:
        server.stop()


@pytest.fixture
def mariadb() -> Iterator[Given]:
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
        for statement in (
            "CREATE DATABASE staging",
            "CREATE TABLE staging.mine(a INT) SELECT seq AS a FROM staging.seq_1_to_1000",
            "CREATE USER boss IDENTIFIED BY 'x'",
            "GRANT ALL ON *.* TO boss WITH GRANT OPTION",
        ):
            ask(statement)
        yield Given(
            "mariadb",
            f"mariadb://boss:x@localhost/?unix_socket={quote(server.address.socket, safe='')}",
            foreign=lambda: (
                ask("CHECKSUM TABLE staging.mine"),
                ask("SELECT User, Host FROM mysql.user WHERE User NOT LIKE 'ng\\_%' ORDER BY 1, 2"),
                ask("SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT LIKE 'nl2sql\\_%' ORDER BY 1"),
            ),
            ours=lambda: [
                row[0]
                for row in (*ask("SHOW DATABASES LIKE 'nl2sql%'"), *ask("SELECT User FROM mysql.user WHERE User LIKE 'ng\\_%'"))
            ],
            alive=lambda: ask("SELECT COUNT(*) FROM information_schema.processlist WHERE User LIKE 'ng\\_%' OR User = 'boss'")[0][
                0
            ],
        )
    finally:
        server.stop()


@pytest.mark.parametrize("name", ["postgres", "mariadb"])
def test_whenever_a_run_is_killed_the_next_one_tidies_up(name: str, request: pytest.FixtureRequest) -> None:
    given: Given = request.getfixturevalue(name)
    before = given.foreign()
    command = [sys.executable, "-c", textwrap.dedent(RUNS), given.dialect, given.url, str(KILLS)]
    seen: list[dict[str, Any]] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runs:
        assert runs.stdin is not None
        assert runs.stdout is not None
        try:
            for line in runs.stdout:
                seen.append(json.loads(line))
                if "killed" in seen[-1]:
                    # A server notices in its own time that nobody is there any more; until then the run counts as alive.
                    _wait_until(lambda: given.alive() == 0)
                elif "next" in seen[-1]:
                    assert given.ours() == []
                    assert given.foreign() == before
                runs.stdin.write("\n")
                runs.stdin.flush()
        finally:
            # Else a failed assertion would wait for it for ever.
            runs.kill()
    killed = [one["killed"] for one in seen if "killed" in one]
    assert len(killed) == KILLS
    assert killed.count(-9) > KILLS // 2
    assert {one["next"] for one in seen if "next" in one} == {0}
    assert seen[-1]["whole"] == [0, 0]
    assert given.ours() == []
    assert given.foreign() == before


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
