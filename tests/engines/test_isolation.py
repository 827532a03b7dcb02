"""Writes happen in private copies, which come back clean, and the state they leave is seen."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from conftest import Bench, rows

from nl2sql_gate.records import ResultSet, SqlError, State
from nl2sql_gate.state import StateDifference, describe_difference

ALL = "SELECT id, item, qty FROM stock ORDER BY id"
BEFORE = [(1, "nut", 10), (2, "bolt", 20), (3, "gear", 30)]


def write(database: Any, *statements: str, ask: str = ALL) -> list[tuple[Any, ...]] | SqlError:
    """What `ask` sees after the statements, in one private copy."""
    with database.writing([*statements, ask]) as session:
        for statement in statements:
            result = session.execute(statement)
            if isinstance(result, SqlError):
                return result
        result = session.execute(ask)
        return result if isinstance(result, SqlError) else list(result.rows)


def effect(database: Any, *statements: str) -> tuple[State, State]:
    """The state before and after the statements."""
    with database.writing(statements) as session:
        before = session.state()
        for statement in statements:
            result = session.execute(statement)
            assert isinstance(result, ResultSet), result
        return before, session.state()


def compare(database: Any, golden: Sequence[str], generated: Sequence[str]) -> StateDifference:
    """How the generated statements differ from golden's."""
    return describe_difference(*effect(database, *golden), *effect(database, *generated))


@pytest.mark.parametrize(
    "statements",
    [
        ["UPDATE stock SET qty = qty + 1"],
        ["DELETE FROM stock", "INSERT INTO stock VALUES (9, 'x', 1)"],
        ["DROP TABLE log"],
        ["CREATE TABLE extra(a INTEGER)", "INSERT INTO extra VALUES (1)"],
        ["ALTER TABLE stock ADD COLUMN note VARCHAR(9)"],
        ["CREATE INDEX stock_item ON stock(item)"],
        ["CREATE VIEW low AS SELECT item FROM stock WHERE qty < 15"],
    ],
)
@pytest.mark.parametrize(
    "ending", [[], ["COMMIT"], ["BEGIN", "UPDATE stock SET qty = 0", "COMMIT"]], ids=["plain", "commit", "own"]
)
def test_nothing_reaches_the_next_case(stock: Any, statements: list[str], ending: list[str]) -> None:
    for _ in range(2):
        with stock.writing([*statements, *ending]) as session:
            assert list(session.execute(ALL).rows) == BEFORE
            for statement in statements:
                result = session.execute(statement)
                assert isinstance(result, ResultSet), result
            for statement in ending:
                session.execute(statement)
    assert rows(stock, ALL) == BEFORE
    assert write(stock) == BEFORE
    assert write(stock, "SELECT 1", "COMMIT") != []


def test_each_side_starts_from_the_same_state(stock: Any) -> None:
    added = [(1, "nut", 11), (2, "bolt", 21), (3, "gear", 31)]
    assert write(stock, "UPDATE stock SET qty = qty + 1") == added
    assert write(stock, "UPDATE stock SET qty = qty + 1") == added


def test_an_error_undoes_its_statement_and_nothing_else(stock: Any) -> None:
    with stock.writing(["INSERT INTO stock VALUES (4, 'cog', 1)", "SELECT nope FROM stock"]) as session:
        assert isinstance(session.execute("INSERT INTO stock VALUES (4, 'cog', 1)"), ResultSet)
        assert isinstance(session.execute("SELECT nope FROM stock"), SqlError)
        assert isinstance(session.execute("INSERT INTO stock VALUES (4, 'again', 1)"), SqlError)
        assert [*BEFORE, (4, "cog", 1)] == list(session.execute(ALL).rows)
    assert write(stock) == BEFORE


def test_copies_of_parallel_cases_are_apart(stock: Any) -> None:
    seen: list[object] = []

    def work(number: int) -> None:
        update, ask = f"UPDATE stock SET qty = {number}", "SELECT DISTINCT qty FROM stock"
        seen.extend(write(stock, update, ask=ask) == [(number,)] for _ in range(5))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 20


def test_a_protected_session_refuses_writes(stock: Any) -> None:
    setup = "INSERT INTO stock VALUES (4, 'cog', 40)"
    for statements in ([setup], [setup, "COMMIT"]):
        with stock.writing(statements) as session:
            assert isinstance(session.execute(setup), ResultSet)
            session.protect()
            assert session.execute("SELECT COUNT(*) FROM stock").rows == ((4,),)
            for hostile in ("DELETE FROM stock", "DROP TABLE stock", "CREATE TABLE x(a INTEGER)"):
                assert isinstance(session.execute(hostile), SqlError), hostile
            assert session.execute("SELECT COUNT(*) FROM stock").rows == ((4,),)


def test_automatic_numbers_start_from_the_same_value(bench: Bench) -> None:
    kind = {"sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT", "postgres": "SERIAL PRIMARY KEY"}.get(
        bench.dialect, "INT AUTO_INCREMENT PRIMARY KEY"
    )
    if bench.dialect == "duckdb":
        setup = ["CREATE SEQUENCE ids START 2", "CREATE TABLE usr(id INTEGER PRIMARY KEY DEFAULT nextval('ids'), n VARCHAR(9))"]
        database = bench.build(*setup, "INSERT INTO usr VALUES (1, 'ann')")
    else:
        database = bench.build(f"CREATE TABLE usr(id {kind}, n VARCHAR(9))", "INSERT INTO usr(n) VALUES ('ann')")
    for _ in range(3):
        assert write(database, "INSERT INTO usr(n) VALUES ('bob')", ask="SELECT id, n FROM usr ORDER BY id") == [
            (1, "ann"),
            (2, "bob"),
        ]


@pytest.mark.parametrize(
    ("golden", "generated", "wrong", "wrong_beside_eval"),
    [
        (["UPDATE stock SET qty = qty + 5 WHERE item = 'nut'"], ["UPDATE stock SET qty = 15 WHERE id = 1"], "", False),
        (["DELETE FROM stock WHERE id = 1"], ["DELETE FROM stock"], "deletes 2 rows of stock more than golden", True),
        (["DELETE FROM stock WHERE id = 1"], ["SELECT 1"], "deletes 1 row of stock less than golden", False),
        (
            ["DELETE FROM stock WHERE id = 1"],
            ["DELETE FROM stock WHERE id = 1", "DELETE FROM log"],
            "of log that golden keeps",
            True,
        ),
        (
            ["UPDATE stock SET qty = 1 WHERE id = 1"],
            ["UPDATE stock SET qty = 2 WHERE id = 1"],
            "other values than golden in 1 row",
            False,
        ),
        (["CREATE TABLE t(id INTEGER PRIMARY KEY)"], ["create table t (id integer, primary key (id))"], "", False),
        (["CREATE TABLE t(id INTEGER PRIMARY KEY)"], ["CREATE TABLE t(id INTEGER)"], "does not create primary key t(id)", False),
        (
            ["CREATE TABLE t(id INTEGER)"],
            ["CREATE TABLE t(id INTEGER)", "CREATE TABLE junk(a INTEGER)"],
            "creates table junk",
            True,
        ),
        (["CREATE TABLE t(id INTEGER)"], ["CREATE TABLE u(id INTEGER)"], "does not create table t", True),
        (["ALTER TABLE stock ADD COLUMN x INTEGER"], ["ALTER TABLE stock ADD COLUMN y INTEGER"], "creates column stock.y", True),
        (["DROP TABLE log"], ["DELETE FROM log"], "keeps table log, which golden drops", False),
        (
            ["CREATE VIEW v AS SELECT item FROM stock WHERE qty < 15"],
            ["CREATE VIEW v AS SELECT item FROM stock WHERE qty <= 14"],
            "",
            False,
        ),
        (
            ["CREATE VIEW v AS SELECT item FROM stock WHERE qty < 15"],
            ["CREATE VIEW v AS SELECT item FROM stock"],
            "view v returns other rows",
            False,
        ),
        (["CREATE INDEX i ON stock(item)"], ["CREATE INDEX other ON stock(item)"], "", False),
        (["CREATE INDEX i ON stock(item)"], ["SELECT 1"], "changes nothing, golden does", False),
        (["INSERT INTO log VALUES (2)", "COMMIT"], ["INSERT INTO log VALUES (2)"], "", False),
    ],
)
def test_effects_are_compared_in_words(
    stock: Any, golden: list[str], generated: list[str], wrong: str, wrong_beside_eval: bool
) -> None:
    commits = "COMMIT" in golden
    difference = compare(stock, golden[:-1] if commits else golden, generated)
    sentences = difference.wrong(eval_decides=False, strict=False)
    assert bool(sentences) == bool(wrong), difference
    assert wrong in "; ".join(sentences)
    assert bool(difference.wrong(eval_decides=True, strict=False)) == wrong_beside_eval, difference


def test_other_types_are_reported_and_decide_only_when_strict(stock: Any) -> None:
    difference = compare(stock, ["CREATE TABLE t(a INTEGER)"], ["CREATE TABLE t(a VARCHAR(9))"])
    assert difference.wrong(eval_decides=False, strict=False) == ()
    assert len(difference.wrong(eval_decides=False, strict=True)) == 1
    assert "t.a: type is" in difference.catalogue[0]


def test_what_the_clock_fills_in_is_ignored(bench: Bench) -> None:
    database = bench.build("CREATE TABLE msg(id INTEGER, body VARCHAR(9), made TIMESTAMP DEFAULT CURRENT_TIMESTAMP)")
    sides = []
    for statement in ("INSERT INTO msg(id, body) VALUES (1, 'hi')", "INSERT INTO msg(body, id) VALUES ('hi', 1)"):
        sides.extend(effect(database, statement))
        threading.Event().wait(1.1)  # the clock itself is under test: some engines count whole seconds
    difference = describe_difference(*sides)
    assert difference.wrong(eval_decides=False, strict=False) == ()
    assert difference.ignored == ("msg.made",)


def test_an_untouched_table_is_not_read(stock: Any) -> None:
    before, after = effect(stock, "UPDATE stock SET qty = 0")
    assert after.tables["log"] is before.tables["log"]
    assert after.tables["stock"] is not before.tables["stock"]
