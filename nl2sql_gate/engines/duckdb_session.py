"""A session on a DuckDB connection: runs SQL under limits and tells the model's errors from ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import duckdb

from nl2sql_gate.engines.cells_duckdb import convert_rows, converters
from nl2sql_gate.engines.statements import DEFAULT_BYTES, run_each, timed_out, too_many_bytes, too_many_rows, weight
from nl2sql_gate.engines.watchdog import WATCHDOG
from nl2sql_gate.errors import EngineFault, StateTimeout
from nl2sql_gate.records import Execution, Limits, ResultSet, Row, SqlError, State

_CHUNK = 64
_MEMORY_MB = 1024
_OURS = (duckdb.FatalException, duckdb.InternalException, duckdb.ConnectionException, duckdb.IOException)
_READ_ONLY = "attached in read-only mode"


class DuckdbSession:
    """One connection. `protect` opens the copy again, read-only; `take_state` is told all that has run."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        limits: Limits,
        take_state: Callable[[Sequence[str]], State],
        reopen: Callable[[], duckdb.DuckDBPyConnection] | None = None,
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._take_state = take_state
        self._reopen = reopen
        self._max_bytes = limits.bytes or DEFAULT_BYTES
        self._ran: list[str] = []

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands, within the limits. Raises `EngineFault` where DuckDB itself fails."""
        self._ran.append(sql)
        deadline = WATCHDOG.arm(self._limits.statement_s, self._interrupt)

        def run_one(statement: str) -> Execution:
            try:
                ran = self._fetch(statement)
            except duckdb.InterruptException as error:
                return timed_out(self._limits.statement_s) if deadline.fired else SqlError(str(error), reason="timeout")
            except (duckdb.Error, RuntimeError, ValueError, OverflowError) as error:
                return timed_out(self._limits.statement_s) if deadline.fired else sql_error(error)
            return timed_out(self._limits.statement_s) if deadline.fired else ran

        try:
            return run_each(sql, "duckdb", run_one)
        finally:
            deadline.disarm()

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        deadline = WATCHDOG.arm(self._limits.statement_s, self._interrupt)
        late = StateTimeout(timed_out(self._limits.statement_s).message)
        try:
            found = self._take_state(self._ran)
        except duckdb.Error as error:
            raise (late if deadline.fired else fault(error)) from error
        finally:
            deadline.disarm()
        if deadline.fired:
            # What was made of the SQL's own views is incomplete.
            raise late
        return found

    def set_clock(self, instant: datetime | None) -> None:
        """Nothing: the clock of this product cannot be set."""

    def protect(self) -> None:
        """Refuse writes from now on: what is committed is read by a read-only connection."""
        if self._reopen is not None:
            try:
                self._connection = self._reopen()
            except duckdb.Error as error:
                raise fault(error) from error

    def _interrupt(self) -> None:
        with suppress(duckdb.Error):
            self._connection.interrupt()

    def _fetch(self, statement: str) -> Execution:
        cursor = self._connection.execute(statement)
        description = cursor.description
        if not description:
            return ResultSet((), ())
        columns = tuple(str(column[0]) for column in description)
        needed = converters(description)
        rows: list[Row] = []
        size = 0
        while chunk := cursor.fetchmany(_CHUNK):
            size += weight(chunk)
            if size > self._max_bytes:
                return self._ended(too_many_bytes(self._max_bytes))
            rows += convert_rows(chunk, needed)
            if len(rows) > self._limits.rows:
                return self._ended(too_many_rows(self._limits.rows))
        if _is_no_result(description, statement):
            return ResultSet((), (), rowcount=rows[0][0] if rows and isinstance(rows[0][0], int) else -1)
        return ResultSet(columns, tuple(rows))

    def _ended(self, error: SqlError) -> SqlError:
        # An unfinished result goes on holding its memory until the connection does something else.
        with suppress(duckdb.Error):
            self._connection.interrupt()
            self._connection.execute("SELECT 1").fetchall()
        return error


def _is_no_result(description: Any, statement: str) -> bool:
    """What is no query answers with one column called Count or Success."""
    if len(description) != 1 or description[0][0] not in {"Count", "Success"}:
        return False
    from nl2sql_gate.sqltext import statement_kinds

    return "dql" not in statement_kinds(statement, "duckdb")


def sql_error(error: Exception) -> SqlError:
    """The error of a statement in DuckDB's words. Raises `EngineFault` where DuckDB itself is to blame."""
    message = str(error)
    if isinstance(error, _OURS) or "database has been invalidated" in message:
        raise fault(error) from error
    code = type(error).__name__.removesuffix("Exception")
    if isinstance(error, duckdb.OutOfMemoryException):
        return SqlError(message, code=code, reason="too_many_bytes")
    refused = isinstance(error, duckdb.PermissionException) or _READ_ONLY in message or "has been locked" in message
    return SqlError(message, code=code, reason="refused" if refused else "error")


def fault(error: Exception) -> EngineFault:
    """The fault of a DuckDB that fails by itself."""
    return EngineFault(
        "DuckDB failed",
        where=[" ".join(str(error).split())[:300]],
        meaning="This case could not be measured.",
    )


def settings(limits: Limits) -> dict[str, Any]:
    """What no SQL can change once the configuration is locked."""
    return {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        # Names of Python variables are no tables.
        "python_enable_replacements": False,
        # Parallel sums of floats change their last digits from run to run.
        "threads": 1,
        "memory_limit": f"{limits.memory_mb or _MEMORY_MB}MB",
        "temp_directory": "",
    }


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Fix the time zone and the configuration of a whole instance."""
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.execute("SET GLOBAL lock_configuration = true")
