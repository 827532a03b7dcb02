"""Copies of PostgreSQL's databases: short items share one, long ones get another, and sequences come back as they were."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from embedded import embedded

from nl2sql_gate.records import DatabaseSource, Place, ResultSet, SetupStatement, SqlError

pytestmark = pytest.mark.server

PLACE = Place("setup.sql", 1)
SEQUENCES = 450  # more than are asked for in one statement
SETUP = (
    "CREATE TABLE t (id SERIAL PRIMARY KEY, n INTEGER)",
    "INSERT INTO t (n) SELECT g FROM generate_series(1, 9) AS g",
    *(f"CREATE SEQUENCE s{number}" for number in range(SEQUENCES)),
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    with embedded("postgres") as found:
        yield found


def provisioned(engine: Any, digest: str) -> Any:
    return engine.provision(DatabaseSource("d", "postgres", digest, setup=tuple(SetupStatement(text, PLACE) for text in SETUP)))


def rows(session: Any, sql: str) -> Sequence[Any]:
    result = session.execute(sql)
    assert isinstance(result, ResultSet), result
    return result.rows


def used_by(database: Any, *seconds: float) -> set[str]:
    """The names of the copies that items got which wrote side by side, each holding its own for so long."""
    names: list[str] = []

    def write(held_s: float) -> None:
        statement = "INSERT INTO t (n) VALUES (1)"
        for _ in range(10):
            with database.writing([statement]) as session:
                session.execute(statement)
                names.append(rows(session, "SELECT current_database()")[0][0])
                time.sleep(held_s)

    threads = [threading.Thread(target=write, args=(held_s,)) for held_s in seconds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return set(names)


def test_short_items_share_a_copy(engine: Any) -> None:
    assert len(used_by(provisioned(engine, "short"), 0.0, 0.0)) == 1


def test_items_that_waited_as_long_as_a_copy_takes_get_another(engine: Any) -> None:
    # In all, the other's twenty turns would have to be waited for, two seconds.
    assert len(used_by(provisioned(engine, "long"), 0.1, 0.1)) == 2


@pytest.mark.parametrize("number", [0, 199, 200, SEQUENCES - 1])
def test_a_sequence_gives_each_item_the_same_numbers(engine: Any, number: int) -> None:
    database = provisioned(engine, "sequences")
    statement = f"INSERT INTO t (n) VALUES (nextval('s{number}')), (nextval('s{number}'))"
    for _ in range(2):
        with database.writing([statement]) as session:
            session.execute(statement)
            assert rows(session, "SELECT id, n FROM t WHERE id > 9 ORDER BY id") == ((10, 1), (11, 2))


def test_no_item_sees_that_another_took_a_number(engine: Any) -> None:
    database = provisioned(engine, "sequences")
    for statement in ("SELECT nextval('s5'), setval('s5', 9)", "SELECT currval('s5')"):
        with database.writing([statement]) as session:
            ran = session.execute(statement)
    assert isinstance(ran, SqlError)
    assert ran.code == "55000"


def test_nobody_waits_for_a_copy_that_is_given_up(engine: Any) -> None:
    database = provisioned(engine, "given up")
    seconds: list[float] = []

    def spoil() -> None:
        # The rollback fails with the transaction gone, so that the copy does not come back.
        with database.writing(["SELECT 1"]) as session:
            database._clones._copy_s = 60.0
            held.set()
            time.sleep(0.3)
            session.execute("SELECT 1; ROLLBACK")

    held = threading.Event()
    thread = threading.Thread(target=spoil)
    thread.start()
    held.wait()
    began = time.monotonic()
    with database.writing(["SELECT 1"]) as session:
        seconds.append(time.monotonic() - began)
        assert isinstance(session.execute("SELECT 1"), ResultSet)
    thread.join()
    assert seconds[0] < 5


def test_a_sequence_that_an_item_makes_or_drops_is_no_fault(engine: Any) -> None:
    database = provisioned(engine, "sequences")
    names = set()
    changes = ("CREATE SEQUENCE fresh", "DROP SEQUENCE s7", "ALTER SEQUENCE s8 RESTART WITH 50", "SELECT setval('s9', 50, false)")
    for statement in changes:
        with database.writing([statement]) as session:
            assert isinstance(session.execute(statement), ResultSet)
            names.add(rows(session, "SELECT current_database()")[0][0])
    with database.writing(["SELECT 1"]) as session:
        assert rows(session, "SELECT nextval('s7'), nextval('s8'), nextval('s9')") == ((1, 1, 1),)
        names.add(rows(session, "SELECT current_database()")[0][0])
    assert len(names) == 1, "all came back clean"
