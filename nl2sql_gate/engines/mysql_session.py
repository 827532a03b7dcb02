"""A session on a MySQL or MariaDB connection: runs SQL under limits and tells the model's errors from ours."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

import pymysql
from pymysql.constants import SERVER_STATUS
from pymysql.cursors import SSCursor

from nl2sql_gate.engines.statements import DEFAULT_BYTES, run_each, timed_out, too_many_bytes, too_many_rows, weight
from nl2sql_gate.engines.watchdog import WATCHDOG, Deadline
from nl2sql_gate.errors import EngineFault, StateTimeout
from nl2sql_gate.records import Execution, Limits, ResultSet, Row, SqlError, State

HANG_S = 10.0
_CHUNK = 8  # a row may weigh 16 MB a column, and is held before it can be weighed
_READ_ONLY_TRANSACTION = getattr(SERVER_STATUS, "SERVER_STATUS_IN_TRANS_READONLY", 8192)
_INTERRUPTED, _TIMEOUTS = 1317, frozenset({1969, 3024})
_REFUSED = frozenset({1044, 1045, 1094, 1095, 1142, 1143, 1148, 1227, 1290, 1370, 1410, 1419, 1792, 3948, 4166})
_TOO_BIG = frozenset({1114, 1153, 1301, 3170})
_OURS = frozenset({1021, 1037, 1040, 1041, 1053, 1077, 1079, 1129, 1152, 1154, 1158, 1159, 1160, 1161, 1203, 1205, 1317, 1927})
_FIRST_CLIENT_ERROR, _LAST_CLIENT_ERROR = 2000, 2999
_KILLS_ITSELF = re.compile(r"\bkill\b", re.IGNORECASE)
_LEAVES_TRACES = re.compile(
    r"@|\b(?:set|use|lock|get_lock|handler|prepare|execute|do|call|begin|start|xa|into|temporary|kill|alter|create|drop)\b",
    re.IGNORECASE,
)

_MAY_PREPARE = re.compile(r"\b(?:xa|execute|call)\b", re.IGNORECASE)
_MAY_HOLD = re.compile(r"\b(?:get_lock|execute|call)\b", re.IGNORECASE)
_NAMES_IT = re.compile(r"\A\s*xa\s+(?:start|begin|prepare)\s+(?P<xid>.+?)[\s;]*\Z", re.IGNORECASE | re.DOTALL)
_IN_GLOBAL_TRANSACTION = 1399

Mode = Literal["autocommit", "rolled back", "read only"]


class MysqlSession:
    """One connection. `kill` ends what runs on it, from another one; `take_state` is told all that has run.

    `rename` makes SQL that names its database name the one that the connection is in.
    """

    def __init__(  # noqa: PLR0913 -- all that a session needs of its database
        self,
        connection: Any,
        *,
        limits: Limits,
        kill: Callable[[int], None],
        take_state: Callable[[Sequence[str]], State],
        mode: Mode = "autocommit",
        dialect: str = "mysql",
        owns_server: bool = False,
        rename: Callable[[str], str] = str,
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._kill = kill
        self._take_state = take_state
        self._mode = mode
        self._dialect = dialect
        self._owns_server = owns_server
        self._rename = rename
        self._max_bytes = limits.bytes or DEFAULT_BYTES
        self._canceller: threading.Thread | None = None
        self._ran: list[str] = []
        self._global: set[str] = set()
        self.left_traces = False
        self.committed = False
        self.clock_stands = False

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands, within the limits. Raises `EngineFault` where the server or the connection fails."""
        self._ran.append(sql)
        self.left_traces = self.left_traces or _LEAVES_TRACES.search(sql) is not None
        limit = self._limits.statement_s
        deadline = WATCHDOG.arm(limit, self._cancel)

        def run_one(statement: str) -> Execution:
            try:
                ran = self._fetch(statement)
            except (UnicodeError, ValueError, OverflowError, RuntimeError) as error:
                return SqlError(str(error), code=type(error).__name__)
            except (pymysql.MySQLError, OSError) as error:
                if deadline.fired and _number(error) in {_INTERRUPTED, *_TIMEOUTS}:
                    return timed_out(limit)
                return sql_error(error, limit=limit, kills_itself=_KILLS_ITSELF.search(statement) is not None)
            if named := _NAMES_IT.match(statement):
                self._global.add(named["xid"])
            # SLEEP() that is interrupted returns a row.
            return timed_out(limit) if deadline.fired else ran

        try:
            return run_each(self._rename(sql), self._dialect, run_one)
        finally:
            self._disarm(deadline)
            if self._mode == "read only":
                with suppress(pymysql.MySQLError, OSError):
                    self._connection.rollback()

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        self._end_global_transactions()
        # Views of the SQL's own making run now, and may have no end.
        deadline = WATCHDOG.arm(self._limits.statement_s, self._cancel)
        try:
            found = self._take_state(self._ran)
        except (pymysql.MySQLError, OSError) as error:
            if deadline.fired and _number(error) in {_INTERRUPTED, *_TIMEOUTS}:
                raise StateTimeout(timed_out(self._limits.statement_s).message) from error
            raise lost(error) from error
        finally:
            self._disarm(deadline)
        if deadline.fired:
            raise StateTimeout(timed_out(self._limits.statement_s).message)
        return found

    def set_clock(self, instant: datetime | None) -> None:
        """Let NOW() and its kin be `instant` in this session, or the machine's clock again."""
        value = "DEFAULT" if instant is None else f"{instant.timestamp():.6f}"
        self._ours(f"SET timestamp = {value}")
        self.clock_stands = instant is not None

    def protect(self) -> None:
        """Refuse writes from now on. The copy is private, so that lifting this again would harm nobody."""
        if self._mode == "rolled back":
            # A transaction cannot turn read-only; what it has written must be seen, so that it ends in a commit.
            self._ours("COMMIT")
            self.committed = True
        self._ours("SET SESSION TRANSACTION READ ONLY")
        self._mode = "read only"

    def let_go(self) -> None:
        """Give up what is held by name on the whole server. The connection may be closed later than the next item begins."""
        self._end_global_transactions()
        if any(_MAY_HOLD.search(text) for text in self._ran):
            with suppress(pymysql.MySQLError, OSError), self._connection.cursor() as cursor:
                cursor.execute("DO RELEASE_ALL_LOCKS()")

    def _end_global_transactions(self) -> None:
        """Roll back what XA has begun here: once prepared it outlives its connection, and its locks with it.

        A server does not say whose a transaction is. On one of ours all that it lists may go; else those that this session is
        known to have begun, and the only one there is where the session stands in one.
        """
        if not any(_MAY_PREPARE.search(text) for text in self._ran):
            return
        with suppress(pymysql.MySQLError, OSError):
            for xid in self._global:
                self._roll_back(xid)
            listed = self._in_global_transaction()
            for xid in listed if self._owns_server or len(listed) == 1 else ():
                self._roll_back(xid)

    def _roll_back(self, xid: str) -> None:
        for statement in ("XA END", "XA ROLLBACK"):
            # It may have come to its end already.
            with suppress(pymysql.MySQLError), self._connection.cursor() as cursor:
                cursor.execute(f"{statement} {xid}")

    def _in_global_transaction(self) -> list[str]:
        """The prepared transactions that the server lists, where this session stands in one."""
        with self._connection.cursor() as cursor:
            try:
                cursor.execute("DO 1")
            except pymysql.MySQLError as error:
                if _number(error) != _IN_GLOBAL_TRANSACTION:
                    raise
            else:
                return []
            cursor.execute("XA RECOVER")
            return [xid_of(row) for row in cursor.fetchall()]

    def _ours(self, statement: str) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
        except (pymysql.MySQLError, OSError) as error:
            raise lost(error) from error

    def _fetch(self, statement: str) -> Execution:
        if self._mode == "read only" and not self._connection.server_status & _READ_ONLY_TRANSACTION:
            with self._connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
                cursor.execute("START TRANSACTION READ ONLY")
        cursor = self._connection.cursor(SSCursor)
        try:
            # Without parameters, so that % is what it is.
            cursor.execute(statement)
            if cursor.description is None:
                return ResultSet((), (), rowcount=cursor.rowcount)
            return self._rows(cursor)
        finally:
            cursor.close()

    def _rows(self, cursor: SSCursor) -> Execution:
        rows: list[Row] = []
        size = 0
        while chunk := cursor.fetchmany(_CHUNK):
            rows += chunk
            size += weight(chunk)
            if size > self._max_bytes or len(rows) > self._limits.rows:
                self._stop_sending(cursor)
                return too_many_rows(self._limits.rows) if len(rows) > self._limits.rows else too_many_bytes(self._max_bytes)
        return ResultSet(tuple(column[0] for column in cursor.description or ()), tuple(rows))

    def _stop_sending(self, cursor: SSCursor) -> None:
        with suppress(pymysql.MySQLError, OSError):
            self._kill(self._connection.thread_id())
        # The protocol has no other end than the last row or an error.
        with suppress(pymysql.MySQLError, OSError):
            cursor.close()

    def _disarm(self, deadline: Deadline) -> None:
        if deadline.disarm() and self._canceller is not None:
            # The kill must not reach the connection's next statement.
            self._canceller.join()

    def _cancel(self) -> None:
        # In a thread of its own: a server that hangs must not hold up everybody's watchdog.
        self._canceller = threading.Thread(target=self._send_kill, name="cancel", daemon=True)
        self._canceller.start()

    def _send_kill(self) -> None:
        with suppress(pymysql.MySQLError, OSError):
            self._kill(self._connection.thread_id())


def xid_of(row: Sequence[Any]) -> str:
    """One transaction of XA RECOVER, as XA ROLLBACK takes it."""
    form, length, _, data = row
    raw = data if isinstance(data, bytes) else str(data).encode()
    return f"X'{raw[:length].hex()}',X'{raw[length:].hex()}',{form}"


def sql_error(error: Exception, *, limit: float = 0, kills_itself: bool = False) -> SqlError:
    """The error of a statement in the server's words. Raises `EngineFault` where server or connection are to blame."""
    number = _number(error)
    message = str(error.args[1]) if isinstance(error, pymysql.MySQLError) and len(error.args) > 1 else str(error)
    if number in _TIMEOUTS:
        return timed_out(limit)
    client = number == 0 or _FIRST_CLIENT_ERROR <= number <= _LAST_CLIENT_ERROR
    if kills_itself and (client or number in _OURS):
        return SqlError(f"the statement ended its own connection: {message}", code=str(number), reason="refused")
    if client or number in _OURS:
        raise lost(error) from error
    reason = "refused" if number in _REFUSED else "too_many_bytes" if number in _TOO_BIG else "error"
    return SqlError(message, code=str(number), reason=reason)


def lost(error: BaseException) -> EngineFault:
    """The fault of a connection or a server that is gone."""
    return EngineFault(
        "the connection to the MySQL or MariaDB server failed",
        where=[" ".join(str(error).split()) or type(error).__name__],
        meaning="This case could not be measured.",
    )


def _number(error: BaseException) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0
