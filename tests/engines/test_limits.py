"""Limits hold in the database itself, and what passes them is the model's."""

from __future__ import annotations

import threading
import time
from typing import Any

import psutil
import pytest
from conftest import LIMITS, STATEMENT_S, Bench, read, rows

from nl2sql_gate.records import SqlError


def _reason(result: object) -> str:
    return result.reason if isinstance(result, SqlError) else "no error"


def test_a_statement_without_end_is_cancelled_in_the_server(bench: Bench, stock: Any) -> None:
    started = time.monotonic()
    result = read(stock, bench.odd.endless)
    took = time.monotonic() - started
    assert _reason(result) == "timeout"
    assert STATEMENT_S <= took < STATEMENT_S + 0.6
    assert f"{STATEMENT_S:g} s" in result.message
    _assert_idle(bench)
    assert rows(stock, "SELECT COUNT(*) FROM stock") == [(3,)]


def _assert_idle(bench: Bench) -> None:
    processes = [psutil.Process()]
    pid = getattr(bench.engine, "server_pid", 0)
    if pid:
        server = psutil.Process(pid)
        processes += [server, *server.children(recursive=True)]
    before = sum(sum(p.cpu_times()[:2]) for p in processes)
    time.sleep(0.3)
    spent = sum(sum(p.cpu_times()[:2]) for p in processes if p.is_running()) - before
    assert spent < 0.15


def test_waiting_is_cancelled_too(bench: Bench, stock: Any) -> None:
    if not bench.odd.sleep:
        return
    started = time.monotonic()
    assert _reason(read(stock, bench.odd.sleep)) == "timeout"
    assert time.monotonic() - started < STATEMENT_S + 0.6


def test_rows_without_end_stop_at_the_row_limit(bench: Bench, stock: Any) -> None:
    started = time.monotonic()
    result = read(stock, bench.odd.endless_rows)
    assert _reason(result) == "too_many_rows"
    assert "1,000" in result.message
    assert time.monotonic() - started < STATEMENT_S
    assert rows(stock, "SELECT COUNT(*) FROM stock") == [(3,)]


def test_exactly_the_row_limit_is_allowed(bench: Bench, stock: Any) -> None:
    limit = LIMITS.rows
    counted = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < {}) SELECT x FROM c"
    assert limit == len(rows(stock, counted.format(limit)))
    assert _reason(read(stock, counted.format(limit + 1))) == "too_many_rows"


def test_a_cell_beyond_the_byte_limit_is_refused(bench: Bench, stock: Any) -> None:
    assert _reason(read(stock, bench.odd.wide_cell)) == "too_many_bytes"


def test_rows_beyond_the_byte_limit_are_refused(bench: Bench, stock: Any) -> None:
    wide = bench.odd.wide_cell.removeprefix("SELECT ").replace("9000000", "60000").replace("4500000", "30000")
    series = f"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 500) SELECT x, {wide} FROM c"
    assert _reason(read(stock, series)) == "too_many_bytes"


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
    assert time.monotonic() - started < STATEMENT_S + 0.6
    assert rows(stock, "SELECT REPLACE(item, 'n', 'N') FROM stock WHERE id = 1") == [("Nut",)]


@pytest.mark.engines("sqlite")
def test_long_stored_cells_are_read_beside_any_function(bench: Bench) -> None:
    database = bench.build("CREATE TABLE t(v TEXT)", "INSERT INTO t VALUES (hex(zeroblob(200000)))")
    assert rows(database, "SELECT LENGTH(v), INSTR(v, '1'), LENGTH(REPLACE(v, '00', '1')) FROM t") == [(400000, 0, 200000)]


def test_a_cancel_never_hits_the_next_statement(bench: Bench, stock: Any) -> None:
    failures: list[object] = []

    def work() -> None:
        read(stock, bench.odd.endless)
        for _ in range(20):
            result = read(stock, "SELECT COUNT(*) FROM stock")
            if isinstance(result, SqlError):
                failures.append(result)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
