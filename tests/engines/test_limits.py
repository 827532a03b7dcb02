"""Limits hold in the database itself, and what passes them is the model's."""

from __future__ import annotations

import time
from typing import Any

import pytest

from nl2sql_gate.testing import LIMITS, Bench, StatementLimits, read, rows

from declared import ENGINES


class TestStatementLimits(StatementLimits):
    engines = ENGINES


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(7000000)) || '1')",
        "SELECT replace(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1', '')",
        "SELECT trim(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || 'x')",
        "SELECT hex(zeroblob(3000000)) LIKE '%' || hex(zeroblob(24000)) || '1'",
        "SELECT hex(zeroblob(3000000)) GLOB '*0*0*0*0*0*0*0*0*0*0*1'",
        "WITH RECURSIVE c(x, s) AS (SELECT 1, 'x' UNION ALL SELECT x + 1, s || s FROM c) SELECT MAX(LENGTH(s)) FROM c",
        f"SELECT {', '.join(['group_concat(a.id || b.id)'] * 300)} FROM stock a, stock b",
        f"SELECT {'(' * 5000}1{')' * 5000}",
        f"SELECT 1{' UNION ALL SELECT 1' * 5000}",
        f"SELECT '{'x' * 2_000_000}'",
    ],
    ids=lambda sql: sql[:30],
)
def test_what_cannot_be_interrupted_is_kept_short(stock: Any, sql: str) -> None:
    started = time.monotonic()
    read(stock, sql)
    assert time.monotonic() - started < LIMITS.statement_s + 0.6
    assert rows(stock, "SELECT REPLACE(item, 'n', 'N') FROM stock WHERE id = 1") == [("Nut",)]


@pytest.mark.engines("sqlite")
def test_long_stored_cells_are_read_beside_any_function(bench: Bench) -> None:
    database = bench.build("CREATE TABLE t(v TEXT)", "INSERT INTO t VALUES (hex(zeroblob(200000)))")
    assert rows(database, "SELECT LENGTH(v), INSTR(v, '1'), LENGTH(REPLACE(v, '00', '1')) FROM t") == [(400000, 0, 200000)]
