"""A session on a PostgreSQL connection: runs SQL under limits and tells the model's errors from ours."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

import psycopg
from psycopg import sql as compose
from psycopg.pq import TransactionStatus

from nl2sql_gate.engines import postgres_fetch
from nl2sql_gate.engines.cells_postgres import register_tolerant_text
from nl2sql_gate.engines.statements import run_each, timed_out
from nl2sql_gate.engines.watchdog import WATCHDOG, Deadline
from nl2sql_gate.errors import EngineFault, StateTimeout
from nl2sql_gate.records import Execution, Limits, SqlError, State

_GRACE_S = 0.05  # the server's own statement_timeout comes first, unless the SQL has lifted it
_HANG_S = 10.0
_SAVEPOINT = "nl2sql_gate"
_REFUSED = frozenset({"42501", "25006"})
_TOO_BIG = frozenset({"53400", "54000"})
_OURS = ("08", "55P03", "57P", "58", "F0", "XX001", "XX002", "53000", "53100", "53200", "53300")


_PREPARES = re.compile(r"\bprepare\b.*\btransaction\b", re.IGNORECASE | re.DOTALL)

Mode = Literal["autocommit", "rolled back", "read only"]
"""Statements commit by themselves · in a transaction of the clone's pool · in read-only transactions of our own."""


class PostgresSession:
    """One connection. `take_state` is told whether anything has run yet.

    In a clone's transaction every statement has a savepoint, so that an error undoes its own statement and nothing else.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        *,
        limits: Limits,
        take_state: Callable[[bool], State],
        mode: Mode = "autocommit",
        memory_is_limited: bool = False,
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._mode = mode
        self._memory_is_limited = memory_is_limited
        self._take_state = take_state
        self._canceller: threading.Thread | None = None
        self._used = False
        self._may_prepare = False

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands, within the limits. Raises `EngineFault` where the server or the connection fails."""
        limit = self._limits.statement_s
        self._used = True
        self._may_prepare = self._may_prepare or _PREPARES.search(sql) is not None
        cancel = WATCHDOG.arm(limit + _GRACE_S, self._cancel)
        hang_up = WATCHDOG.arm(limit + _HANG_S, self._hang_up)

        def run_one(statement: str) -> Execution:
            try:
                return self._one(statement)
            except UnicodeEncodeError as error:
                return SqlError(str(error), code="22021")
            except psycopg.errors.QueryCanceled as error:
                if cancel.fired or "statement timeout" in str(error):
                    return timed_out(limit)
                return SqlError(_words(error), code="57014", reason="timeout")
            except psycopg.errors.OutOfMemory as error:
                if not self._memory_is_limited:
                    raise lost(error) from error
                # The limit is one that we have set, on this session's process alone.
                return SqlError(_words(error), code="53200", reason="too_many_bytes")
            except psycopg.Error as error:
                return sql_error(error, connection=self._connection, hung=hang_up.fired)

        try:
            return run_each(sql, "postgres", run_one)
        finally:
            if self._mode == "read only":
                with suppress(psycopg.Error):
                    self._connection.rollback()
            hang_up.disarm()
            self._disarm(cancel)

    def end_prepared_transactions(self) -> None:
        """Roll back what PREPARE TRANSACTION has left, where a server allows it: it outlives its connection, with its locks."""
        if not self._may_prepare:
            return
        with suppress(psycopg.Error):
            self._connection.rollback()
            left = "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND owner = current_user"
            for (gid,) in self._connection.execute(left).fetchall():
                with suppress(psycopg.Error):
                    self._connection.execute(compose.SQL("ROLLBACK PREPARED {}").format(compose.Literal(gid)))

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        # Views of the SQL's own making run now, and it may have lifted the server's limit.
        cancel = WATCHDOG.arm(self._limits.statement_s + _GRACE_S, self._cancel)
        try:
            found = self._take_state(self._used)
        except psycopg.errors.QueryCanceled as error:
            raise StateTimeout(timed_out(self._limits.statement_s).message) from error
        except psycopg.Error as error:
            raise lost(error) from error
        finally:
            self._disarm(cancel)
        if cancel.fired:
            raise StateTimeout(timed_out(self._limits.statement_s).message)
        return found

    def set_clock(self, instant: datetime | None) -> None:
        """Nothing: the clock of this product cannot be set."""

    def protect(self) -> None:
        """Refuse writes from now on. The copy is private, so that lifting this again would harm nobody."""
        try:
            if self._mode == "rolled back":
                self._connection.execute("SET TRANSACTION READ ONLY")
            else:
                self._connection.execute("SET default_transaction_read_only = on")
        except psycopg.Error as error:
            raise lost(error) from error

    def _one(self, statement: str) -> Execution:
        if self._mode == "read only" and self._connection.info.transaction_status == TransactionStatus.IDLE:
            # After its first snapshot a transaction cannot be made to write, whatever rights the user has.
            self._connection.execute("BEGIN READ ONLY; SELECT 1")
        if self._mode != "rolled back":
            return self._tolerant(statement)
        if self._connection.info.transaction_status != TransactionStatus.INTRANS:
            # The SQL has ended the transaction after all; what follows commits in the private copy.
            return self._tolerant(statement)
        self._connection.execute(f"SAVEPOINT {_SAVEPOINT}")
        try:
            ran = self._tolerant(statement)
        except psycopg.Error:
            self._to_savepoint()
            raise
        if isinstance(ran, SqlError):
            self._to_savepoint()
        elif self._connection.info.transaction_status == TransactionStatus.INTRANS:
            with suppress(psycopg.errors.InvalidSavepointSpecification):
                self._connection.execute(f"RELEASE SAVEPOINT {_SAVEPOINT}")
        return ran

    def _to_savepoint(self) -> None:
        status = self._connection.info.transaction_status
        if status in {TransactionStatus.INERROR, TransactionStatus.INTRANS}:
            with suppress(psycopg.Error):
                self._connection.execute(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")

    def _tolerant(self, statement: str) -> Execution:
        try:
            return postgres_fetch.run(self._connection, statement, limits=self._limits)
        except UnicodeDecodeError:
            register_tolerant_text(self._connection)
            if self._mode != "autocommit" or self._connection.info.transaction_status != TransactionStatus.IDLE:
                return SqlError("the result holds text that is not UTF-8", code="22021")
        return postgres_fetch.run(self._connection, statement, limits=self._limits)

    def _disarm(self, cancel: Deadline) -> None:
        if cancel.disarm() and self._canceller is not None:
            # The cancel request must not reach the connection's next statement.
            self._canceller.join()

    def _cancel(self) -> None:
        # In a thread of its own: a server that hangs must not hold up everybody's watchdog.
        self._canceller = threading.Thread(target=self._send_cancel, name="cancel", daemon=True)
        self._canceller.start()

    def _send_cancel(self) -> None:
        with suppress(psycopg.Error, OSError):
            self._connection.cancel_safe(timeout=5)

    def _hang_up(self) -> None:
        # The server did not even obey the cancel: end the wait, which makes it a fault and no time-out of the model.
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self._connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


def sql_error(error: psycopg.Error, *, connection: psycopg.Connection[Any], hung: bool = False) -> SqlError:
    """The error of a statement in PostgreSQL's words. Raises `EngineFault` where server or connection are to blame."""
    code = error.sqlstate or ""
    # 08P01 is what SQL with a placeholder ($1) gets, which has no value.
    ours = code.startswith(_OURS) and code != "08P01"
    if hung or connection.closed or connection.broken or ours:
        raise lost(error) from error
    if not code and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        raise lost(error) from error
    reason = "refused" if code in _REFUSED else "too_many_bytes" if code in _TOO_BIG else "error"
    return SqlError(_words(error), code=code, reason=reason)


def lost(error: BaseException) -> EngineFault:
    """The fault of a connection or a server that is gone."""
    return EngineFault(
        "the connection to PostgreSQL failed",
        where=[" ".join(str(error).split()) or type(error).__name__],
        meaning="This case could not be measured.",
    )


def _words(error: psycopg.Error) -> str:
    diagnostic = error.diag
    parts = [diagnostic.message_primary or str(error)]
    if diagnostic.message_detail:
        parts.append(diagnostic.message_detail)
    if diagnostic.message_hint:
        parts.append(f"HINT: {diagnostic.message_hint}")
    return " ".join(parts)
