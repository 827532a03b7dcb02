"""A session on any SQLAlchemy dialect's driver: queries only, each undone at its end, cancelled as well as the driver can."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime
from itertools import islice
from typing import Any

from nl2sql_gate.engines.cells_generic import row_of
from nl2sql_gate.engines.statements import DEFAULT_BYTES, run_each, timed_out, too_many_bytes, too_many_rows, weight
from nl2sql_gate.engines.watchdog import WATCHDOG
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import Execution, Limits, ResultSet, Row, SqlError, State

_HANG_S = 10.0
_LOST = ("08", "57P")
_CANCELS = ("cancel", "interrupt")
_READ_ONLY = {
    "oracle": "SET TRANSACTION READ ONLY",
    "postgresql": "SET TRANSACTION READ ONLY",
    "cockroachdb": "SET TRANSACTION READ ONLY",
    "redshift": "SET TRANSACTION READ ONLY",
    "mysql": "START TRANSACTION READ ONLY",
    "mariadb": "START TRANSACTION READ ONLY",
}
"""How a transaction of the product refuses writes, where it can; by SQLAlchemy's name of the dialect."""


class GenericSession:
    """One connection of SQLAlchemy's pool. `language` is our name of what is spoken, `dialect` SQLAlchemy's object for it."""

    def __init__(self, connection: Any, *, language: str, dialect: Any, limits: Limits) -> None:
        self._connection = connection
        self._language = language
        self._dialect = dialect
        self._name = str(dialect.name)
        self._limits = limits
        self._cursor: Any = None
        self.broken = False

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands if it surely reads. Raises `EngineFault` where the server or the connection fails."""
        if not surely_reads(sql, self._language):
            # A text without a statement is told apart: nothing was refused there.
            return run_each(sql, self._language, lambda _: SqlError("only queries run on this database", reason="refused"))
        limit = self._limits.statement_s
        cancel = WATCHDOG.arm(limit, lambda: self._in_thread(self._cancel))
        hang_up = WATCHDOG.arm(limit + _HANG_S, lambda: self._in_thread(self._close))
        try:
            self._begin()
            return run_each(sql, self._language, lambda statement: self._one(statement, lambda: cancel.fired))
        finally:
            hang_up.disarm()
            if cancel.disarm():
                # Whether the cancel has arrived or is still on its way, nobody can tell.
                self.broken = True
            self._undo()

    def state(self) -> State:
        """Nothing: effects are not compared on a database that is only read."""
        return State({}, {})

    def protect(self) -> None:
        """It is protected already."""

    def set_clock(self, instant: datetime | None) -> None:
        """Nothing: the clock is the server's."""

    def _begin(self) -> None:
        if self._name not in _READ_ONLY:
            return
        try:
            with closing(self._connection.cursor()) as cursor:
                cursor.execute(_READ_ONLY[self._name])
        except Exception as error:
            raise self._lost(error) from error

    def _one(self, statement: str, is_over: Callable[[], bool]) -> Execution:
        cursor = self._connection.cursor()
        self._cursor = cursor
        try:
            cursor.execute(as_driver_text(statement, self._name))
            return self._fetch(cursor)
        except UnicodeError as error:
            return SqlError(str(error))
        except Exception as error:
            if is_over():
                return timed_out(self._limits.statement_s)
            if not isinstance(error, self._dialect.loaded_dbapi.Error):
                # Drivers of services raise what their HTTP client raises.
                raise self._lost(error) from error
            return self._sql_error(error)
        finally:
            self._cursor = None
            with suppress(Exception):
                cursor.close()

    def _fetch(self, cursor: Any) -> Execution:
        if not cursor.description:
            return ResultSet((), (), cursor.rowcount)
        columns = tuple(str(column[0]) for column in cursor.description)
        most = self._limits.bytes or DEFAULT_BYTES
        rows: list[Row] = []
        weighed = 0
        for fetched in islice(iter(cursor.fetchone, None), self._limits.rows + 1):
            row = row_of(fetched)
            rows.append(row)
            weighed += weight([row])
            if weighed > most:
                return too_many_bytes(most)
        if len(rows) > self._limits.rows:
            return too_many_rows(self._limits.rows)
        return ResultSet(columns, tuple(rows), len(rows))

    def _sql_error(self, error: Exception) -> SqlError:
        code = str(getattr(error, "sqlstate", "") or getattr(error, "pgcode", "") or "")
        if code.startswith(_LOST) or self._dialect.is_disconnect(error, self._connection.driver_connection, None):
            raise self._lost(error) from error
        return SqlError(" ".join(str(error).split()), code=code or type(error).__name__)

    def _lost(self, error: Exception) -> EngineFault:
        self.broken = True
        return EngineFault(
            f"the connection to {self._name} failed",
            where=[" ".join(str(error).split()) or type(error).__name__],
            meaning="This case could not be measured.",
        )

    def _in_thread(self, function: Callable[[], None]) -> None:
        # A service that hangs must not hold up everybody's watchdog.
        threading.Thread(target=function, name="cancel", daemon=True).start()

    def _cancel(self) -> None:
        cursor, raw = self._cursor, self._connection.driver_connection
        for owner in (cursor, getattr(cursor, "query_job", None), raw):
            for word in _CANCELS:
                method = getattr(owner, word, None)
                if callable(method):
                    with suppress(Exception):
                        method()
                        return
        self._close()

    def _close(self) -> None:
        self.broken = True
        with suppress(Exception):
            self._connection.driver_connection.close()

    def _undo(self) -> None:
        try:
            self._dialect.do_rollback(self._connection)
        except Exception:  # noqa: BLE001 -- each driver has its own; the connection is not used again
            self.broken = True


def surely_reads(sql: str, dialect: str) -> bool:
    """Whether a parser is certain that `sql` only reads. The user's role is the guard; this one stands before it."""
    from nl2sql_gate.sqltext import query_type_of, transaction_control

    return query_type_of(sql, dialect) == "dql" and not transaction_control(sql, dialect)


def as_driver_text(statement: str, name: str) -> str:
    """The statement as the driver must be given it to send it untouched."""
    # BigQuery's halves every doubled percent sign, also where there are no parameters.
    return statement.replace("%", "%%") if name == "bigquery" else statement
