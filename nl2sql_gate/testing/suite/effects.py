"""The state that writes leave is seen, and compared with golden's in words."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from nl2sql_gate.records import ResultSet, State
from nl2sql_gate.state import StateDifference, describe_difference
from nl2sql_gate.testing.bench import Bench
from nl2sql_gate.testing.suite.part import Part

_DELETE = "DELETE FROM stock WHERE id = 1"
_KEYED = "CREATE TABLE t(id INTEGER PRIMARY KEY)"
_VIEW = "CREATE VIEW v AS SELECT item FROM stock"

# Golden, generated, what is wrong in words ("" for nothing), and whether it is wrong where an eval_query decides.
_PAIRS: dict[str, tuple[list[str], list[str], str, bool]] = {
    "same_rows": (["UPDATE stock SET qty = qty + 5 WHERE item = 'nut'"], ["UPDATE stock SET qty = 15 WHERE id = 1"], "", False),
    "more_rows": ([_DELETE], ["DELETE FROM stock"], "deletes 2 rows of stock more than golden", True),
    "fewer_rows": ([_DELETE], ["SELECT 1"], "deletes 1 row of stock less than golden", False),
    "another_table": ([_DELETE], [_DELETE, "DELETE FROM log"], "of log that golden keeps", True),
    "other_values": (
        ["UPDATE stock SET qty = 1 WHERE id = 1"],
        ["UPDATE stock SET qty = 2 WHERE id = 1"],
        "other values than golden in 1 row",
        False,
    ),
    "same_table": ([_KEYED], ["create table t (id integer, primary key (id))"], "", False),
    "no_key": ([_KEYED], ["CREATE TABLE t(id INTEGER)"], "does not create primary key t(id)", False),
    "extra_table": (
        ["CREATE TABLE t(id INTEGER)"],
        ["CREATE TABLE t(id INTEGER)", "CREATE TABLE junk(a INTEGER)"],
        "creates table junk",
        True,
    ),
    "other_table": (["CREATE TABLE t(id INTEGER)"], ["CREATE TABLE u(id INTEGER)"], "does not create table t", True),
    "other_column": (
        ["ALTER TABLE stock ADD COLUMN x INTEGER"],
        ["ALTER TABLE stock ADD COLUMN y INTEGER"],
        "creates column stock.y",
        True,
    ),
    "kept_table": (["DROP TABLE log"], ["DELETE FROM log"], "keeps table log, which golden drops", False),
    "same_view": ([f"{_VIEW} WHERE qty < 15"], [f"{_VIEW} WHERE qty <= 14"], "", False),
    "other_view": ([f"{_VIEW} WHERE qty < 15"], [_VIEW], "view v returns other rows", False),
    "same_index": (["CREATE INDEX i ON stock(item)"], ["CREATE INDEX other ON stock(item)"], "", False),
    "no_index": (["CREATE INDEX i ON stock(item)"], ["SELECT 1"], "changes nothing, golden does", False),
    "committed": (["INSERT INTO log VALUES (2)"], ["INSERT INTO log VALUES (2)", "COMMIT"], "", False),
}


def _effect(database: Any, *statements: str) -> tuple[State, State]:
    """The state before and after the statements."""
    with database.writing(statements) as session:
        before = session.state()
        for statement in statements:
            result = session.execute(statement)
            # A database without an open transaction may refuse to commit one.
            assert isinstance(result, ResultSet) or statement == "COMMIT", result
        return before, session.state()


def _compare(database: Any, golden: Sequence[str], generated: Sequence[str]) -> StateDifference:
    """How the generated statements differ from golden's."""
    return describe_difference(*_effect(database, *golden), *_effect(database, *generated))


class Effects(Part):
    """What `state` tells."""

    @pytest.mark.parametrize("golden, generated, wrong, beside_eval", _PAIRS.values(), ids=_PAIRS)  # noqa: PT006 - one text reads better
    def test_effects_are_compared_in_words(
        self, stock: Any, golden: list[str], generated: list[str], wrong: str, *, beside_eval: bool
    ) -> None:
        difference = _compare(stock, golden, generated)
        sentences = difference.wrong(eval_decides=False, strict=False)
        assert bool(sentences) == bool(wrong), difference
        assert wrong in "; ".join(sentences)
        assert bool(difference.wrong(eval_decides=True, strict=False)) == beside_eval, difference

    def test_other_types_are_reported_and_decide_only_when_strict(self, stock: Any) -> None:
        difference = _compare(stock, ["CREATE TABLE t(a INTEGER)"], ["CREATE TABLE t(a VARCHAR(9))"])
        assert difference.wrong(eval_decides=False, strict=False) == ()
        assert len(difference.wrong(eval_decides=False, strict=True)) == 1
        assert "t.a: type is" in difference.catalogue[0]

    def test_what_the_clock_fills_in_is_ignored(self, bench: Bench) -> None:
        database = bench.build("CREATE TABLE msg(id INTEGER, body VARCHAR(9), made TIMESTAMP DEFAULT CURRENT_TIMESTAMP)")
        sides: list[State] = []
        for statement in ("INSERT INTO msg(id, body) VALUES (1, 'hi')", "INSERT INTO msg(body, id) VALUES ('hi', 1)"):
            sides.extend(_effect(database, statement))
            threading.Event().wait(1.1)  # the clock itself is under test: some engines count whole seconds
        difference = describe_difference(*sides)
        assert difference.wrong(eval_decides=False, strict=False) == ()
        assert difference.ignored == ("msg.made",)
