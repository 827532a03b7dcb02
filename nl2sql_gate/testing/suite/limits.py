"""Limits hold in the database itself, and what passes them is the model's."""

from __future__ import annotations

import threading
import time
from typing import Any

import psutil

from nl2sql_gate.records import SqlError
from nl2sql_gate.testing.bench import LIMITS, Bench, read, rows
from nl2sql_gate.testing.suite.part import Part, needs

SLACK_S = 0.6
"""How much later than the limit a statement may end."""

_SERIES = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 500) SELECT x, {} FROM c"
_COUNT = "SELECT COUNT(*) FROM stock"
_MEASURED_S, _IDLE_S = 0.3, 0.15


def _reason(result: object) -> str:
    return result.reason if isinstance(result, SqlError) else "no error"


def _wide(bench: Bench, characters: int) -> str:
    return bench.traits.wide_cell.format(characters)


class StatementLimits(Part):
    """What `limits` demands."""

    def test_a_statement_without_end_is_cancelled_in_the_server(self, bench: Bench, stock: Any) -> None:
        started = time.monotonic()
        result = read(stock, bench.traits.endless)
        took = time.monotonic() - started
        assert isinstance(result, SqlError)
        assert result.reason == "timeout"
        assert LIMITS.statement_s <= took < LIMITS.statement_s + SLACK_S
        assert f"{LIMITS.statement_s:g} s" in result.message
        _assert_idle(bench)
        assert rows(stock, _COUNT) == [(3,)]

    @needs("sleep")
    def test_waiting_is_cancelled_too(self, bench: Bench, stock: Any) -> None:
        started = time.monotonic()
        assert _reason(read(stock, bench.traits.sleep or "")) == "timeout"
        assert time.monotonic() - started < LIMITS.statement_s + SLACK_S

    def test_rows_without_end_stop_at_the_row_limit(self, bench: Bench, stock: Any) -> None:
        started = time.monotonic()
        result = read(stock, bench.traits.endless_rows)
        assert isinstance(result, SqlError)
        assert result.reason == "too_many_rows"
        assert f"{LIMITS.rows:,}" in result.message
        assert time.monotonic() - started < LIMITS.statement_s
        assert rows(stock, _COUNT) == [(3,)]

    def test_exactly_the_row_limit_is_allowed(self, bench: Bench, stock: Any) -> None:
        counted = bench.traits.counted_rows
        assert LIMITS.rows == len(rows(stock, counted.format(LIMITS.rows)))
        assert _reason(read(stock, counted.format(LIMITS.rows + 1))) == "too_many_rows"

    def test_a_cell_beyond_the_byte_limit_is_refused(self, bench: Bench, stock: Any) -> None:
        assert _reason(read(stock, f"SELECT {_wide(bench, 9_000_000)}")) == "too_many_bytes"

    def test_rows_beyond_the_byte_limit_are_refused(self, bench: Bench, stock: Any) -> None:
        assert _reason(read(stock, _SERIES.format(_wide(bench, 60_000)))) == "too_many_bytes"

    def test_a_cancel_never_hits_the_next_statement(self, bench: Bench, stock: Any) -> None:
        failures: list[object] = []

        def work() -> None:
            read(stock, bench.traits.endless)
            for _ in range(20):
                result = read(stock, _COUNT)
                if isinstance(result, SqlError):
                    failures.append(result)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def _assert_idle(bench: Bench) -> None:
    processes = [psutil.Process()]
    pid = getattr(bench.engine, "server_pid", 0)
    if pid:
        server = psutil.Process(pid)
        processes += [server, *server.children(recursive=True)]
    before = sum(sum(process.cpu_times()[:2]) for process in processes)
    time.sleep(_MEASURED_S)  # the time over which idleness is measured
    spent = sum(sum(process.cpu_times()[:2]) for process in processes if process.is_running()) - before
    assert spent < _IDLE_S
