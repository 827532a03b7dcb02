"""What SQL Server and its drivers say, in their words, and whose fault it is."""

from __future__ import annotations

import re

from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import SqlError

_FIRST = re.compile(r"(.*?)\s*\((-?\d+)\)\s*\(SQL\w+\)", re.DOTALL)
_PREFIX = re.compile(r"\s*(?:\[[^\]]*\]\s*)+")
_CANCELLED = frozenset({"HYT00", "HY008"})
_LOST_STATES = ("08", "HYT01", "IMC06")
_UNREADABLE = frozenset({"HY106", "HY091", "HY004", "HYC00"})
_STATE = re.compile(r"[0-9A-Z]{5}\Z")

_REFUSED = frozenset({
    *(229, 230, 262, 297, 300, 916, 1088, 3701, 3704, 3906, 4701, 4834, 5011, 6102, 8104),
    *(10011, 15151, 15247, 15281, 15517, 15562),
})  # fmt: skip
"""Permission denied on an object, a column, a statement, a database; it is read-only; a feature is switched off."""

_OURS = frozenset({
    *(233, 596, 701, 802, 823, 824, 825, 945, 978, 983, 1105, 1204, 1205, 1222, 3957, 3960, 4060, 6005, 8645, 8651, 9001, 9002),
    *(20004, 20006, 20009, 20017, 20047, 10053, 10054, 10060, 11001, 17189, 18401, 18456, 40197, 40501, 40613, 49918),
})  # fmt: skip
"""Sessions ended, memory and disks full, deadlocks, lock waits, logins refused, servers that go down."""


def sql_error(error: Exception, *, lost: bool = False) -> SqlError:
    """The error of a statement. Raises `EngineFault` where server, driver or connection are to blame, or `lost` says so."""
    state, number, words = read(error)
    if lost or number in _OURS or state.startswith(_LOST_STATES):
        raise connection_lost(error) from error
    if state in _UNREADABLE:
        raise EngineFault(
            "the ODBC driver cannot read a type of this result",
            where=[words],
            meaning="This case could not be measured.",
            next_step="Use Microsoft's driver, or cast the column in golden SQL.",
        ) from error
    reason = "refused" if number in _REFUSED else "error"
    return SqlError(words, code=str(number) if number > 0 else state, reason=reason)


def was_cancelled(error: Exception) -> bool:
    """Whether the statement ended because somebody cancelled it or its time was over."""
    return read(error)[0] in _CANCELLED


def connection_lost(error: BaseException) -> EngineFault:
    """The fault of a connection or a server that is gone."""
    words = read(error)[2] if isinstance(error, Exception) else str(error)
    return EngineFault(
        "the connection to SQL Server failed",
        where=[words or type(error).__name__],
        meaning="This case could not be measured.",
    )


def read(error: Exception) -> tuple[str, int, str]:
    """(SQLSTATE, the server's number or 0, its words) of a driver's error; of several messages the first."""
    arguments = [str(argument) for argument in error.args]
    # Errors of pyodbc's own come with state and words the other way round.
    state = next((argument for argument in arguments[:2] if len(arguments) > 1 and _STATE.match(argument)), "")
    text = next((argument for argument in reversed(arguments) if argument != state), str(error))
    found = _FIRST.match(text)
    message, number = (found[1], int(found[2])) if found else (text, 0)
    return state, number, " ".join(_PREFIX.sub("", message, count=1).split())
