"""Runs the statements of one text in order; the last result counts, the first error ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from nl2sql_gate.records import Execution, ResultSet, SqlError

DEFAULT_BYTES = 96 * 2**20
"""What a result may weigh where no limit is set: one careless join must not end the run for want of memory."""


def split(sql: str, dialect: str) -> list[str]:
    """The statements of `sql`, each as it stands; none where it holds only comments."""
    body = sql.strip()
    # Most SQL is one statement with at most one semicolon, at its end, and needs no splitter.
    if body and not body.startswith(("--", "/*", "#", ";")) and body.find(";") in {-1, len(body) - 1}:
        return [sql]
    from nl2sql_gate.sqltext import split_statements

    return [statement.text for statement in split_statements(sql, dialect)]


def run_each(sql: str, dialect: str, run_one: Callable[[str], Execution]) -> Execution:
    """Run every statement of `sql` through `run_one`. Of several results the last with columns counts."""
    started = time.perf_counter()
    statements = split(sql, dialect)
    if not statements:
        return SqlError("the text holds no statement", elapsed_s=time.perf_counter() - started)
    last: Execution = SqlError("the text holds no statement")
    shown: ResultSet | None = None
    for statement in statements:
        last = run_one(statement)
        if isinstance(last, SqlError):
            break
        if last.columns:
            shown = last
    elapsed_s = time.perf_counter() - started
    if isinstance(last, ResultSet) and shown is not None:
        last = shown
    return replace(last, elapsed_s=elapsed_s)


def surely_reads(sql: str, dialect: str) -> bool:
    """Whether every statement of `sql` is a query; what no parser understands is none."""
    from nl2sql_gate.sqltext import query_type_of, transaction_control

    return query_type_of(sql, dialect) == "dql" and not transaction_control(sql, dialect)


def too_many_rows(limit: int) -> SqlError:
    """The error of a result that passes the row limit."""
    return SqlError(f"the result has more than {limit:,} rows (limits.rows)", reason="too_many_rows")


def too_many_bytes(limit: int) -> SqlError:
    """The error of a result that passes the byte limit."""
    return SqlError(f"the result holds more than {limit / 2**20:,.0f} MB (limits.bytes)", reason="too_many_bytes")


def timed_out(seconds: float) -> SqlError:
    """The error of a statement that was cancelled at its limit."""
    return SqlError(f"cancelled at the limit of {seconds:g} s (limits.statement_s)", reason="timeout")


def weight(rows: Sequence[Sequence[object]]) -> int:
    """What rows weigh: the lengths of their texts, blobs and nested values."""
    total = 0
    for row in rows:
        for cell in row:
            if cell.__class__ is str or cell.__class__ is bytes:
                total += len(cell)
            elif cell.__class__ in (list, dict):
                total += len(repr(cell))
    return total
