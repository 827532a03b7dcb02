"""A session on a SQLite connection: runs SQL under limits and tells the model's errors from ours."""

from __future__ import annotations

import marshal
import re
import sqlite3
from collections.abc import Callable
from datetime import datetime

from nl2sql_gate.engines.sqlite_clock import Clock
from nl2sql_gate.engines.sqlite_guard import NEAR_CELL_BYTES, Guard, ReadGuard, Unbounded, compiles_soon
from nl2sql_gate.engines.statements import DEFAULT_BYTES, run_each, timed_out, too_many_bytes, too_many_rows
from nl2sql_gate.engines.watchdog import WATCHDOG
from nl2sql_gate.errors import EngineFault, StateTimeout
from nl2sql_gate.records import Execution, Limits, ResultSet, Row, SqlError, State

_FIRST_ROWS, _CHUNK = 16, 64
_REFUSED = frozenset({sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
_OURS = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_NOLFS,
    }
)
_VIEW = re.compile(r"\bview\b", re.IGNORECASE)
_CORRUPT_VTAB = 267  # a full-text index that its own SQL broke


def tolerant_text(raw: bytes) -> str | bytes:
    """The text of a cell; its bytes where they are no UTF-8, since nothing else keeps every two values apart."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def longest_cell(limits: Limits, *, is_near: bool) -> int:
    """The longest text, blob or row that a connection takes."""
    most = limits.bytes or DEFAULT_BYTES
    return min(NEAR_CELL_BYTES, most) if is_near else most


class SqliteSession:
    """One connection. `take_state` reads the state of the database as this connection sees it.

    Where `guard` is near, in the run's own process, what could not be stopped there raises `Unbounded`.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        limits: Limits,
        guard: Guard,
        writable: bool = False,
        take_state: Callable[[], State],
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._guard = guard
        self._writable = writable
        self._take_state = take_state
        self._max_bytes = limits.bytes or DEFAULT_BYTES
        self._longest = longest_cell(limits, is_near=guard.is_near)
        self._clock: Clock | None = None
        self._views = ""

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands, within the limits. Raises `EngineFault` where the file or the disk fails."""
        if self._guard.is_near:
            # The views that it makes stay.
            self._views = f"{self._views}\n{sql}" if self._writable and _VIEW.search(sql) else self._views
            if not compiles_soon(f"{self._views}\n{sql}" if self._views else sql):
                raise Unbounded
        self._guard.begin()
        deadline = WATCHDOG.arm(self._limits.statement_s, self._connection.interrupt)

        def run_one(statement: str) -> Execution:
            try:
                ran = self._one(statement)
            except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
                if self._is_unbounded(error):
                    raise Unbounded from error
                return timed_out(self._limits.statement_s) if deadline.fired else sql_error(error)
            return timed_out(self._limits.statement_s) if deadline.fired else ran

        try:
            return run_each(sql, "sqlite", run_one)
        finally:
            deadline.disarm()

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        self._guard.begin()
        deadline = WATCHDOG.arm(self._limits.statement_s, self._connection.interrupt)
        late = StateTimeout(timed_out(self._limits.statement_s).message)
        try:
            found = self._take_state()
        except sqlite3.Error as error:
            if self._is_unbounded(error):
                raise Unbounded from error
            if deadline.fired:
                raise late from error
            raise EngineFault("the state of a SQLite database cannot be read", where=[str(error)]) from error
        finally:
            deadline.disarm()
        # A view that fails is left out of the state, whatever the reason.
        if self._guard.unbounded:
            raise Unbounded
        if deadline.fired:
            raise late
        return found

    def _is_unbounded(self, error: Exception) -> bool:
        return self._guard.is_near and (self._guard.unbounded or isinstance(error, MemoryError) or needs_more(error))

    def set_clock(self, instant: datetime | None) -> None:
        """Let `now` be `instant` in this session, or the machine's clock again."""
        if self._clock is None:
            if instant is None:
                return
            self._clock = Clock(self._connection)
        self._clock.set(instant)

    @property
    def has_own_clock(self) -> bool:
        """Whether functions of ours took the place of SQLite's: they are slower, and cannot be taken away again."""
        return self._clock is not None

    def close_clock(self) -> None:
        """Release what the clock holds."""
        if self._clock is not None:
            self._clock.close()

    def protect(self) -> None:
        """Refuse writes from now on, as a reading session does."""
        self._writable = False
        self._guard = ReadGuard(is_near=self._guard.is_near)
        self._connection.set_authorizer(self._guard)

    def _one(self, statement: str) -> Execution:
        try:
            return self._fetch(statement)
        except sqlite3.OperationalError as error:
            # A rerun would write twice; a writing connection reads text tolerantly from the start.
            if self._writable or not str(error).startswith("Could not decode to UTF-8"):
                raise
        self._connection.text_factory = tolerant_text
        try:
            return self._fetch(statement)
        finally:
            self._connection.text_factory = str

    def _fetch(self, statement: str) -> Execution:
        cursor = self._connection.execute(statement)
        try:
            if cursor.description is None:
                return ResultSet((), (), rowcount=cursor.rowcount)
            columns = tuple([column[0] for column in cursor.description])
            rows = self._rows(cursor, len(columns))
            return ResultSet(columns, tuple(rows), rowcount=cursor.rowcount) if isinstance(rows, list) else rows
        finally:
            cursor.close()

    def _rows(self, cursor: sqlite3.Cursor, width: int) -> list[Row] | SqlError:
        # Rows are weighed once they are here, so that no chunk may weigh more than a result at its longest.
        most = max(1, self._max_bytes // (width * self._longest))
        rows: list[Row] = cursor.fetchmany(first := min(_FIRST_ROWS, most))
        # The serialized form weighs rows in C; cells are None, int, float, str and bytes only.
        size = len(marshal.dumps(rows))
        if len(rows) == first:
            chunk_size = min(_CHUNK, most)
            while size <= self._max_bytes and (chunk := cursor.fetchmany(chunk_size)):
                rows += chunk
                size += len(marshal.dumps(chunk))
                if size > self._max_bytes or len(rows) > self._limits.rows:
                    break
        if len(rows) > self._limits.rows:
            return too_many_rows(self._limits.rows)
        return too_many_bytes(self._max_bytes) if size > self._max_bytes else rows


def needs_more(error: Exception) -> bool:
    """Whether a statement failed on one of the limits that are narrower near than far."""
    code = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF == sqlite3.SQLITE_TOOBIG or "pattern too complex" in str(error)


def sql_error(error: Exception) -> SqlError:
    """The error of a statement in SQLite's words. Raises `EngineFault` where file, disk or connection are to blame."""
    code = getattr(error, "sqlite_errorcode", None)
    name = getattr(error, "sqlite_errorname", "") or ""
    message = str(error)
    if isinstance(error, MemoryError):
        return SqlError("SQLite ran out of memory", code="SQLITE_NOMEM", reason="too_many_bytes")
    if code is None:
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in message:
            raise EngineFault(
                "the SQLite connection is closed", where=[message], meaning="This case could not be measured."
            ) from error
        return SqlError(message or type(error).__name__, code=type(error).__name__)
    primary = code & 0xFF
    if primary in _OURS and code != _CORRUPT_VTAB:
        raise EngineFault(
            "SQLite cannot read or write its file",
            where=[f"{name}: {message}"],
            meaning="This case could not be measured.",
            next_step="Check the disk and its free space.",
        ) from error
    if primary in _REFUSED or message.startswith("not authorized"):
        return SqlError(message, code=name, reason="refused")
    if primary in {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_FULL}:
        return SqlError(message, code=name, reason="too_many_bytes")
    return SqlError(message, code=name)
