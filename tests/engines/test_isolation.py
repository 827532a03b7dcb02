"""Writes happen in private copies, which come back clean, and the state they leave is seen."""

from __future__ import annotations

from typing import Any

from nl2sql_gate.records import ResultSet
from nl2sql_gate.testing import Effects, Isolation

from declared import ENGINES


class TestIsolation(Isolation):
    engines = ENGINES


class TestEffects(Effects):
    engines = ENGINES


def test_an_untouched_table_is_not_read(stock: Any) -> None:
    statement = "UPDATE stock SET qty = 0"
    with stock.writing([statement]) as session:
        before = session.state()
        assert isinstance(session.execute(statement), ResultSet)
        after = session.state()
    assert after.tables["log"] is before.tables["log"]
    assert after.tables["stock"] is not before.tables["stock"]
