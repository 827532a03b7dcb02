"""Writes happen in private copies, and nothing of them reaches another case."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from nl2sql_gate.records import ResultSet, SqlError
from nl2sql_gate.testing.bench import Bench, rows
from nl2sql_gate.testing.suite.part import Part, needs

ALL = "SELECT id, item, qty FROM stock ORDER BY id"
BEFORE = [(1, "nut", 10), (2, "bolt", 20), (3, "gear", 30)]

_WRITES = {
    "update": ["UPDATE stock SET qty = qty + 1"],
    "replace": ["DELETE FROM stock", "INSERT INTO stock VALUES (9, 'x', 1)"],
    "drop": ["DROP TABLE log"],
    "create": ["CREATE TABLE extra(a INTEGER)", "INSERT INTO extra VALUES (1)"],
    "alter": ["ALTER TABLE stock ADD COLUMN note VARCHAR(9)"],
    "index": ["CREATE INDEX stock_item ON stock(item)"],
    "view": ["CREATE VIEW low AS SELECT item FROM stock WHERE qty < 15"],
}
_ENDINGS = {"plain": [], "commit": ["COMMIT"], "own": ["BEGIN", "UPDATE stock SET qty = 0", "COMMIT"]}


def _write(database: Any, *statements: str, ask: str = ALL) -> list[tuple[Any, ...]] | SqlError:
    """What `ask` sees after the statements, in one private copy."""
    with database.writing([*statements, ask]) as session:
        for statement in statements:
            result = session.execute(statement)
            if isinstance(result, SqlError):
                return result
        result = session.execute(ask)
        return result if isinstance(result, SqlError) else list(result.rows)


class Isolation(Part):
    """What `writing` keeps apart."""

    @pytest.mark.parametrize("statements", _WRITES.values(), ids=_WRITES)
    @pytest.mark.parametrize("ending", _ENDINGS.values(), ids=_ENDINGS)
    def test_nothing_reaches_the_next_case(self, stock: Any, statements: list[str], ending: list[str]) -> None:
        for _ in range(2):
            with stock.writing([*statements, *ending]) as session:
                assert list(session.execute(ALL).rows) == BEFORE
                for statement in statements:
                    result = session.execute(statement)
                    assert isinstance(result, ResultSet), result
                for statement in ending:
                    session.execute(statement)
        assert rows(stock, ALL) == BEFORE
        assert _write(stock) == BEFORE
        assert _write(stock, "SELECT 1", "COMMIT") != []

    def test_each_side_starts_from_the_same_state(self, stock: Any) -> None:
        added = [(1, "nut", 11), (2, "bolt", 21), (3, "gear", 31)]
        assert _write(stock, "UPDATE stock SET qty = qty + 1") == added
        assert _write(stock, "UPDATE stock SET qty = qty + 1") == added

    def test_an_error_undoes_its_statement_and_nothing_else(self, stock: Any) -> None:
        with stock.writing(["INSERT INTO stock VALUES (4, 'cog', 1)", "SELECT nope FROM stock"]) as session:
            assert isinstance(session.execute("INSERT INTO stock VALUES (4, 'cog', 1)"), ResultSet)
            assert isinstance(session.execute("SELECT nope FROM stock"), SqlError)
            assert isinstance(session.execute("INSERT INTO stock VALUES (4, 'again', 1)"), SqlError)
            assert [*BEFORE, (4, "cog", 1)] == list(session.execute(ALL).rows)
        assert _write(stock) == BEFORE

    def test_copies_of_parallel_cases_are_apart(self, stock: Any) -> None:
        seen: list[object] = []

        def work(number: int) -> None:
            update, ask = f"UPDATE stock SET qty = {number}", "SELECT DISTINCT qty FROM stock"
            seen.extend(_write(stock, update, ask=ask) == [(number,)] for _ in range(5))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [True] * 20

    def test_a_protected_session_refuses_writes(self, stock: Any) -> None:
        setup = "INSERT INTO stock VALUES (4, 'cog', 40)"
        for statements in ([setup], [setup, "COMMIT"]):
            with stock.writing(statements) as session:
                assert isinstance(session.execute(setup), ResultSet)
                session.protect()
                assert session.execute("SELECT COUNT(*) FROM stock").rows == ((4,),)
                for hostile in ("DELETE FROM stock", "DROP TABLE stock", "CREATE TABLE x(a INTEGER)"):
                    assert isinstance(session.execute(hostile), SqlError), hostile
                assert session.execute("SELECT COUNT(*) FROM stock").rows == ((4,),)

    @needs("automatic_numbers")
    def test_automatic_numbers_start_from_the_same_value(self, bench: Bench) -> None:
        database = bench.build(*(bench.traits.automatic_numbers or ()))
        for _ in range(3):
            assert _write(database, "INSERT INTO usr(n) VALUES ('bob')", ask="SELECT id, n FROM usr ORDER BY id") == [
                (1, "ann"),
                (2, "bob"),
            ]
