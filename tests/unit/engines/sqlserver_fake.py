"""A SQL Server at the driver's boundary: connections that answer batches from a script and write down what they were sent."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyodbc

Rows = Sequence[tuple[Any, ...]]
Answer = Any
"""`(columns, rows)`, a row count, an exception, a list of these, or a function of the connection and the batch giving one."""

FACTS = (("version", "edition", "sysadmin"), [("16.0.4125.3", 3, 1)])


def error(state: str, number: int, message: str, *, kind: type[pyodbc.Error] = pyodbc.ProgrammingError) -> pyodbc.Error:
    """An error as pyodbc raises it for Microsoft's driver."""
    prefix = f"[{state}] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]"
    return kind(state, f"{prefix}{message} ({number}) (SQLExecDirectW)")


@dataclass
class Sent:
    """One batch that reached the server."""

    user: str
    database: str
    sql: str


@dataclass
class FakeServer:
    """One server. Later answers come before earlier ones; what nobody answers has no result."""

    log: list[Sent] = field(default_factory=list)
    answers: list[tuple[re.Pattern[str], Answer]] = field(default_factory=list)
    connections: list[FakeConnection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.on(r"SERVERPROPERTY\('ProductVersion'\)", FACTS)
        self.on(r"sp_getapplock", (("taken",), [(0,)]))
        self.on(r"@@SPID", (("spid",), [(51,)]))
        self.on(r"\ASELECT XACT_STATE\(\)\Z", (("state",), [(1,)]))
        self.on(r"CURRENT_TRANSACTION_ID", (("state", "count", "id"), [(1, 1, 900)]))
        self.on(r"sys\.identity_columns", (("id", "value", "schema", "name"), []))
        self.on(r"FROM sys\.databases WHERE name LIKE .*\nUNION", (("name",), []))
        self.on(r"\.sys\.database_files WHERE type = 0", (("mb",), [(8.0,)]))
        self.on(r"SELECT name, type FROM \[\w+\]\.sys\.database_files", (("name", "type"), [("db", 0), ("db_log", 1)]))
        self.on(r"sys\.master_files", (("physical_name",), [("/var/opt/mssql/data/x.mdf",)]))
        self.on(r"session_id FROM sys\.dm_exec_sessions", (("session_id",), []))
        self.on(r"\ASELECT name FROM sys\.(?:databases|database_principals|server_principals) WHERE", (("name",), []))

    def on(self, pattern: str, answer: Answer) -> None:
        """Answer batches that match, before all that was said so far."""
        self.answers.insert(0, (re.compile(pattern, re.DOTALL), answer))

    def connect(self, address: Any, *, database: str = "", user: str = "", password: str = "", login_s: int = 15) -> Any:
        """What the engine is given to open connections with."""
        del password, login_s
        connection = FakeConnection(self, user or address.user, database)
        self.connections.append(connection)
        return connection

    def sent(self, pattern: str, *, user: str = "") -> list[str]:
        """The batches that match, from logins whose name contains `user`."""
        return [entry.sql for entry in self.log if re.search(pattern, entry.sql, re.DOTALL) and user in entry.user]

    def open_connections(self) -> int:
        """How many connections are open."""
        return sum(not connection.closed for connection in self.connections)


@dataclass
class FakeConnection:
    """One connection."""

    server: FakeServer
    user: str
    database: str
    closed: bool = False
    timeout: int = 0
    converters: dict[int, Callable[[bytes], Any]] = field(default_factory=dict)

    def cursor(self) -> FakeCursor:
        """A cursor; an error where the connection is closed, as the driver has it."""
        if self.closed:
            raise pyodbc.ProgrammingError("HY000", "Attempt to use a closed connection.")
        return FakeCursor(self)

    def add_output_converter(self, kind: int, function: Callable[[bytes], Any]) -> None:
        """Remember how a type is turned into a cell."""
        self.converters[kind] = function

    def close(self) -> None:
        """Close."""
        self.closed = True


class FakeCursor:
    """One cursor over the results of one batch."""

    def __init__(self, connection: FakeConnection) -> None:
        self._connection = connection
        self._results: list[Any] = []
        self._rows: list[tuple[Any, ...]] = []
        self.description: list[tuple[Any, ...]] | None = None
        self.rowcount = -1
        self.noscan = False
        self.cancelled = threading.Event()

    def execute(self, sql: str) -> FakeCursor:
        """Run a batch."""
        server = self._connection.server
        server.log.append(Sent(self._connection.user, self._connection.database, sql))
        sql.encode("utf-16-le")
        answer: Answer = -1
        for pattern, found in server.answers:
            if pattern.search(sql):
                answer = found
                break
        if callable(answer):
            answer = answer(self, sql)
        self._results = list(answer) if isinstance(answer, list) else [answer]
        self._next()
        return self

    def nextset(self) -> bool:
        """Go on to the next result."""
        if not self._results:
            return False
        self._next()
        return True

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        return self._rows.pop(0) if self._rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        rows, self._rows = self._rows, []
        return rows

    def cancel(self) -> None:
        """Cancel from another thread."""
        self.cancelled.set()

    def close(self) -> None:
        """Close."""

    def _next(self) -> None:
        result = self._results.pop(0)
        if isinstance(result, BaseException):
            raise result
        if isinstance(result, int):
            self.description, self._rows, self.rowcount = None, [], result
            return
        columns, rows = result
        self.description = [(name, str, None, None, None, None, None) for name in columns]
        self._rows, self.rowcount = list(rows), -1


CATALOGUE: list[Answer] = [
    (
        ("object_id", "schema", "name", "type", "definition", "comment"),
        [
            (10, "dbo", "stock", "U", "", "what we have"),
            (20, "sales", "Order Line", "U", "", ""),
            (30, "dbo", "low", "V", "CREATE VIEW low AS SELECT item FROM stock WHERE qty < 15", ""),
        ],
    ),
    (
        ("columns",),
        [
            (10, 1, "id", "int", 4, 10, 0, False, True, False, "", "", "", "", "", 0),
            (10, 2, "item", "nvarchar", 40, 0, 0, False, False, False, "", "", "its\nname", "", "Latin1_General_CI_AS", 0),
            (10, 3, "qty", "int", 4, 10, 0, True, False, False, "((7))", "", "", "", "", 0),
            (10, 4, "double", "int", 4, 10, 0, True, False, True, "", "([qty]*(2))", "", "", "", 0),
            (20, 1, "stock_id", "int", 4, 10, 0, True, False, False, "", "", "", "", "", 0),
            (20, 2, "price", "decimal", 9, 8, 2, True, False, False, "", "", "", "", "", 0),
            (20, 3, "place", "hierarchyid", 892, 0, 0, True, False, False, "", "", "", "", "", 0),
            (20, 4, "note", "varchar", -1, 0, 0, True, False, False, "", "", "", "", "Latin1_General_CI_AS", 0),
            (20, 5, "code", "postcode", 20, 0, 0, True, False, False, "", "", "", "dbo", "", 0),
            (30, 1, "item", "nvarchar", 40, 0, 0, False, False, False, "", "", "", "", "Latin1_General_CI_AS", 0),
        ],
    ),
    (
        ("indexes",),
        [
            (10, 1, "PK_1", True, True, False, "", 1, False, False),
            (10, 2, "UQ_1", False, True, True, "", 2, False, False),
            (20, 1, "by_price", False, False, False, "([price]>(0))", 2, False, True),
            (20, 1, "by_price", False, False, False, "([price]>(0))", 1, True, False),
        ],
    ),
    (("foreign_keys",), [(7, 20, 10, 1, 1, "NO_ACTION", "NO_ACTION")]),
    (("checks",), [(10, "([qty]>=(0))")]),
    (
        ("others",),
        [("P", "dbo", "refill", 0, "CREATE PROCEDURE refill AS UPDATE stock SET qty = 1"), ("SO", "dbo", "numbers", 0, "")],
    ),
    (("schemas",), [("sales",)]),
    (("aliases",), [("dbo", "postcode", "nvarchar", 20, 0, 0, True)]),
]
"""The catalogue of a small database, as the queries of the product ask for it."""
