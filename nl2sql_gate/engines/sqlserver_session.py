"""A session on a SQL Server connection: runs batches under limits and tells the model's errors from ours."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyodbc

from nl2sql_gate.engines import sqlserver_fetch
from nl2sql_gate.engines.cells_sqlserver import register_tolerant_text
from nl2sql_gate.engines.sqlserver_errors import connection_lost, sql_error, was_cancelled
from nl2sql_gate.engines.statements import timed_out
from nl2sql_gate.engines.watchdog import WATCHDOG
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import Execution, Limits, ResultSet, SqlError, State

_GRACE_S = 0.02
_HANG_S = 10.0
_AGAIN_S = 0.1
_HAS_GO = re.compile(r"^[ \t]*GO\b", re.IGNORECASE | re.MULTILINE)
_SAVEPOINT = "nl2sql_gate"
_MOST_BATCHES = 1000


class SqlServerSession:
    """One connection. `in_transaction` says that all happens in a transaction of ours, which is rolled back at the end.

    There every text has a savepoint, so that an error undoes its own text and nothing else. `kill` ends the session in the
    server, for a statement that does not obey its cancel. `impersonate` is the user that a protected session becomes.
    """

    def __init__(
        self,
        connection: Any,
        *,
        limits: Limits,
        take_state: Callable[[bool], State],
        kill: Callable[[], None],
        in_transaction: bool = False,
        impersonate: str = "",
        hang_s: float = _HANG_S,
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._take_state = take_state
        self._kill = kill
        self._in_transaction = in_transaction
        self._impersonate = impersonate
        self._hang_s = hang_s
        self._used = False
        self._cursor: Any = None
        # The driver must not free a statement that another thread is cancelling.
        self._statement = threading.Lock()
        self._killed = False

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands, batch by batch. Raises `EngineFault` where the server or the connection fails."""
        limit = self._limits.statement_s
        self._used = True
        started = time.perf_counter()
        ended = threading.Event()
        cancel = WATCHDOG.arm(limit + _GRACE_S, lambda: self._start_cancelling(ended))
        hang_up = WATCHDOG.arm(limit + self._hang_s, self._hang_up)
        try:
            ran = self._in_savepoint(sql, lambda: cancel.fired)
        finally:
            hang_up.disarm()
            cancel.disarm()
            ended.set()
        return replace(ran, elapsed_s=time.perf_counter() - started)

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        try:
            return self._take_state(self._used)
        except pyodbc.Error as error:
            raise connection_lost(error) from error

    def protect(self) -> None:
        """Become a user who may only read, with no way back."""
        try:
            self._run(f"EXECUTE AS USER = N'{self._impersonate}' WITH NO REVERT")
        except pyodbc.Error as error:
            raise connection_lost(error) from error

    def set_clock(self, instant: datetime | None) -> None:
        """Nothing: the clock of this product cannot be set."""

    def _in_savepoint(self, sql: str, is_over: Callable[[], bool]) -> Execution:
        if not self._in_transaction:
            return self._batches(sql, is_over)
        try:
            if not self._open_transaction():
                # A run may not go on half undone; what ended it is no answer of anybody's.
                raise EngineFault("an error before this one ended the transaction that the case ran in")
            self._run(f"SAVE TRANSACTION {_SAVEPOINT}")
            ran = self._batches(sql, is_over)
            if isinstance(ran, SqlError) and self._open_transaction():
                self._run(f"ROLLBACK TRANSACTION {_SAVEPOINT}")
        except pyodbc.Error as error:
            raise connection_lost(error) from error
        return ran

    def _batches(self, sql: str, is_over: Callable[[], bool]) -> Execution:
        last: Execution = SqlError("the text holds no statement")
        shown: ResultSet | None = None
        for batch in batches(sql):
            if is_over():
                return timed_out(self._limits.statement_s)
            last = self._batch(batch, is_over)
            if isinstance(last, SqlError):
                return last
            if last.columns:
                shown = last
        return shown or last

    def _batch(self, batch: str, is_over: Callable[[], bool]) -> Execution:
        try:
            ran = self._tolerant(batch)
        except UnicodeEncodeError as error:
            return SqlError(str(error))
        except pyodbc.Error as error:
            if is_over() and not self._killed and was_cancelled(error):
                return timed_out(self._limits.statement_s)
            ran = sql_error(error, lost=self._killed)
        except (ValueError, OverflowError) as error:
            # The driver meets a value that Python cannot hold.
            raise EngineFault("the ODBC driver cannot read a value of this result", where=[str(error)]) from error
        # A driver may end a cancelled result as if it were complete.
        return timed_out(self._limits.statement_s) if is_over() else ran

    def _tolerant(self, batch: str) -> Execution:
        try:
            return self._fetch(batch)
        except UnicodeDecodeError:
            register_tolerant_text(self._connection)
            if self._in_transaction or self._impersonate:
                # It may have written, and must not do so twice.
                return SqlError("the result holds text that is not valid Unicode")
            return self._fetch(batch)

    def _fetch(self, batch: str) -> Execution:
        cursor = self._connection.cursor()
        self._cursor = cursor
        try:
            return sqlserver_fetch.run(self._connection, cursor, batch, limits=self._limits)
        finally:
            with self._statement:
                self._cursor = None
                with suppress(pyodbc.Error):
                    cursor.close()

    def _run(self, statement: str) -> None:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(statement)

    def _open_transaction(self) -> bool:
        with closing(self._connection.cursor()) as cursor:
            row = cursor.execute("SELECT XACT_STATE()").fetchone()
        return row is not None and row[0] == 1

    def _start_cancelling(self, ended: threading.Event) -> None:
        threading.Thread(target=self._keep_cancelling, args=(ended,), name="cancel", daemon=True).start()

    def _keep_cancelling(self, ended: threading.Event) -> None:
        # Again and again, since a cancel between two statements hits neither.
        while True:
            with self._statement:
                if self._cursor is not None and not ended.is_set():
                    with suppress(pyodbc.Error):
                        self._cursor.cancel()
            if ended.wait(_AGAIN_S):
                return

    def _hang_up(self) -> None:
        def kill() -> None:
            self._killed = True
            self._kill()

        # In a thread of its own: a server that hangs must not hold up everybody's watchdog.
        threading.Thread(target=kill, name="hang-up", daemon=True).start()


def batches(sql: str) -> list[str]:
    """The batches of `sql`, each as it stands: T-SQL's variables live as long as theirs. Without GO there is one."""
    from nl2sql_gate.sqltext import is_blank, split_batches

    if not _HAS_GO.search(sql):
        return [] if is_blank(sql, "sqlserver") else [sql]
    found = [batch.text for batch in split_batches(sql) for _ in range(min(batch.repeat, _MOST_BATCHES))]
    return found[:_MOST_BATCHES]
