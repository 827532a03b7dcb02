"""Runs one statement on a psycopg connection and takes its rows as they come, so that an endless result ends at the cap.

psycopg's own execute() holds the whole result in memory first; its stream() tells no columns where there are no rows.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Any

from psycopg import Connection, OperationalError, errors
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus, TransactionStatus

from nl2sql_gate.engines.statements import DEFAULT_BYTES, too_many_bytes, too_many_rows
from nl2sql_gate.records import Execution, Limits, ResultSet, Row, SqlError

_CHUNK = 8  # more saves no time, and a chunk of wide rows is held in memory before it can be weighed
_ROWS = {ExecStatus.TUPLES_OK, ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK}
_COPIES = {ExecStatus.COPY_IN, ExecStatus.COPY_OUT, ExecStatus.COPY_BOTH}


def run(connection: Connection[Any], statement: str, *, limits: Limits) -> Execution:
    """The result of `statement`, its text untouched. Raises psycopg's errors; the connection may then still be busy."""
    if "\0" in statement:
        # libpq would end the text there and run the rest of nothing.
        return SqlError("the text holds a null character", code="22021")
    pgconn = connection.pgconn
    pgconn.send_query_params(statement.encode(), None)
    if hasattr(pgconn, "set_chunked_rows_mode") and _libpq_has_chunks():
        pgconn.set_chunked_rows_mode(_CHUNK)
    else:
        pgconn.set_single_row_mode()
    try:
        return _Collector(connection, limits).collect()
    finally:
        if pgconn.transaction_status == TransactionStatus.ACTIVE:
            _abandon(connection)


class _Collector:
    """The results of one statement: chunks of rows, then one that ends them, or an error."""

    def __init__(self, connection: Connection[Any], limits: Limits) -> None:
        self._connection = connection
        self._max_rows = limits.rows
        self._max_bytes = limits.bytes or DEFAULT_BYTES
        self._transformer = Transformer(connection)
        self._columns: tuple[str, ...] | None = None
        self._variable: list[int] = []
        self._rows: list[Row] = []
        self._size = 0

    def collect(self) -> Execution:
        """Take results until there are none, or until a limit is passed."""
        failed: Exception | None = None
        refused: SqlError | None = None
        rowcount = -1
        while (result := _next_result(self._connection)) is not None:
            status = result.status
            if status in _ROWS:
                passed = self._add(result)
                if passed is not None:
                    return passed
            elif status in _COPIES:
                _end_copy(self._connection, status)
                refused = SqlError("COPY to or from the client is no query", code="0A000", reason="refused")
            elif status == ExecStatus.FATAL_ERROR and refused is None:
                # The connection is ready for the next statement only after the last result.
                failed = errors.error_from_result(result, encoding="utf-8")
            if result.command_tuples is not None:
                rowcount = result.command_tuples
        if failed is not None:
            raise failed
        return refused or ResultSet(self._columns or (), tuple(self._rows), rowcount=rowcount)

    def _add(self, result: Any) -> SqlError | None:
        if self._columns is None:
            self._columns = tuple((result.fname(i) or b"").decode(errors="replace") for i in range(result.nfields))
            # Only types without a fixed size can be large.
            self._variable = [i for i in range(result.nfields) if result.fsize(i) < 0]
            self._transformer.set_pgresult(result)
        elif result.ntuples:
            self._transformer.set_pgresult(result, set_loaders=False)
        if result.ntuples:
            self._size += _weight(result, self._variable)
            if self._size > self._max_bytes:
                return too_many_bytes(self._max_bytes)
            self._rows += self._transformer.load_rows(0, result.ntuples, tuple)
        return too_many_rows(self._max_rows) if len(self._rows) > self._max_rows else None


def _next_result(connection: Connection[Any]) -> Any:
    pgconn = connection.pgconn
    while pgconn.is_busy():
        _wait(pgconn)
    return pgconn.get_result()


def _wait(pgconn: Any) -> None:
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN | (select.POLLOUT if pgconn.flush() else 0))
    poll.poll()
    pgconn.consume_input()


def _end_copy(connection: Connection[Any], status: ExecStatus) -> None:
    pgconn = connection.pgconn
    if status == ExecStatus.COPY_IN:
        pgconn.put_copy_end(b"refused")
        return
    connection.cancel_safe(timeout=5)
    while (length := pgconn.get_copy_data(1)[0]) >= 0:
        if length == 0:
            _wait(pgconn)


def _weight(result: Any, variable: Sequence[int]) -> int:
    return sum(len(result.get_value(row, column) or b"") for row in range(result.ntuples) for column in variable)


def _abandon(connection: Connection[Any]) -> None:
    """Stop a statement whose result nobody wants any more; close the connection where it will not stop."""
    try:
        connection.cancel_safe(timeout=5)
        while (result := _next_result(connection)) is not None:
            if result.status in _COPIES:
                break
    except (OSError, OperationalError):
        pass
    if connection.pgconn.transaction_status == TransactionStatus.ACTIVE:
        connection.close()


def _libpq_has_chunks() -> bool:
    from psycopg import capabilities

    return capabilities.has_stream_chunked()
