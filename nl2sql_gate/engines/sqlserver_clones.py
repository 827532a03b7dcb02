"""Private databases for writing: a transaction that is rolled back where nothing can end it, else a copy that is thrown away.

Copies are made ahead by a background thread, so that an item waits for a connection and not for a copy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pyodbc

from nl2sql_gate.engines.background import BackgroundWork
from nl2sql_gate.engines.sqlserver_batches import rows_of, run_to_end
from nl2sql_gate.engines.sqlserver_catalogue import bracketed
from nl2sql_gate.engines.sqlserver_cluster import SqlServerCluster
from nl2sql_gate.engines.sqlserver_errors import connection_lost
from nl2sql_gate.errors import GateError

_COUNTERS = """
SELECT i.object_id, CAST(i.last_value AS decimal(38, 0)), SCHEMA_NAME(o.schema_id), o.name
FROM sys.identity_columns AS i JOIN sys.tables AS o ON o.object_id = i.object_id
UNION ALL
SELECT s.object_id, CAST(s.current_value AS decimal(38, 0)), N'', N'' FROM sys.sequences AS s
ORDER BY 1
"""
_OURS = "SELECT XACT_STATE(), @@TRANCOUNT, CURRENT_TRANSACTION_ID()"


def can_roll_back(statements: Sequence[str]) -> bool:
    """Whether nothing in `statements` can end a transaction or refuses to run in one."""
    from nl2sql_gate.sqltext import transaction_control

    return not any(transaction_control(text, "sqlserver") for text in statements)


@dataclass
class Copy:
    """One private database, and its counters where it is used more than once."""

    database: str
    counters: Sequence[tuple[Any, ...]] = ()


class SqlServerClones:
    """All private copies of one template. `make` fills a database of a given name."""

    def __init__(
        self, cluster: SqlServerCluster, make: Callable[[str], None], *, ahead: int, work: BackgroundWork, one_at_a_time: bool
    ) -> None:
        self._cluster = cluster
        self._make = make
        self._ahead = ahead
        self._work = work
        self._lock = threading.Lock()
        self._spare: list[str] = []
        self._coming = 0
        self._kept: list[Copy] = []
        # A large database is copied once, and its items take turns.
        self._turn = threading.Lock() if one_at_a_time else None

    @contextmanager
    def lend(self, statements: Sequence[str]) -> Iterator[tuple[Any, bool]]:
        """A connection as the writer, and whether it is in a transaction of ours."""
        if self._turn is not None:
            self._turn.acquire()
        try:
            with self._transaction() if can_roll_back(statements) else self._throw_away() as lent:
                yield lent
        except pyodbc.Error as error:
            raise connection_lost(error) from error
        finally:
            if self._turn is not None:
                self._turn.release()

    @contextmanager
    def _transaction(self) -> Iterator[tuple[Any, bool]]:
        copy = self._take_kept()
        clean = False
        try:
            with closing(self._cluster.connect(copy.database, login=self._cluster.writer)) as connection:
                copy.counters = copy.counters or rows_of(connection, _COUNTERS)
                run_to_end(connection, "BEGIN TRANSACTION")
                begun = rows_of(connection, _OURS)
                yield connection, True
                clean = _roll_back(connection, begun, copy)
        finally:
            if clean:
                with self._lock:
                    self._kept.append(copy)
            else:
                self._discard(copy.database)

    @contextmanager
    def _throw_away(self) -> Iterator[tuple[Any, bool]]:
        database = self._take_spare()
        try:
            with closing(self._cluster.connect(database, login=self._cluster.writer)) as connection:
                yield connection, False
        finally:
            self._discard(database)

    def _take_kept(self) -> Copy:
        with self._lock:
            if self._kept:
                return self._kept.pop()
        return Copy(self._take_spare())

    def _take_spare(self) -> str:
        with self._lock:
            name = self._spare.pop() if self._spare else ""
            missing = 0 if self._turn is not None else self._ahead - len(self._spare) - self._coming
            self._coming += max(0, missing)
        for _ in range(max(0, missing)):
            self._work.put(self._make_spare)
        return name or self._new()

    def _make_spare(self) -> None:
        name = ""
        # The item that needs a copy makes it itself, and tells why it cannot.
        with suppress(pyodbc.Error, GateError):
            name = self._new()
        with self._lock:
            self._coming -= 1
            if name:
                self._spare.append(name)

    def _new(self) -> str:
        name = self._cluster.new_name()
        self._make(name)
        return name

    def _discard(self, database: str) -> None:
        def drop() -> None:
            with suppress(pyodbc.Error):
                self._cluster.drop_database(database)

        if self._turn is not None:
            drop()
        else:
            self._work.put(drop)


def _roll_back(connection: Any, begun: Sequence[Sequence[Any]], copy: Copy) -> bool:
    """Whether the copy is as it was. A transaction that is not the one we began may have been preceded by a COMMIT."""
    try:
        if rows_of(connection, _OURS) != begun:
            return False
        run_to_end(connection, "ROLLBACK TRANSACTION")
        now = rows_of(connection, _COUNTERS)
        if now == copy.counters:
            return True
        if [row[0] for row in now] != [row[0] for row in copy.counters]:
            return False
        # Numbers do not roll back, and both sides must get the same ones.
        for before, after in zip(copy.counters, now, strict=True):
            if before == after:
                continue
            if before[1] is None or not before[3]:
                return False
            table = f"{bracketed(before[2])}.{bracketed(before[3])}".replace("'", "''")
            run_to_end(connection, f"DBCC CHECKIDENT (N'{table}', RESEED, {before[1]}) WITH NO_INFOMSGS")
        return rows_of(connection, _COUNTERS) == copy.counters
    except pyodbc.Error:
        return False
