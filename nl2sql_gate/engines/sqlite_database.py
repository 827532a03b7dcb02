"""One SQLite file: read immutably, written in private copies, near or far (see `killable`)."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nl2sql_gate.engines.distant_sessions import Distant
from nl2sql_gate.engines.escalation import EscalatingSession
from nl2sql_gate.engines.killable import Workers
from nl2sql_gate.engines.sqlite_copies import SqliteCopies
from nl2sql_gate.engines.sqlite_guard import ReadGuard, limit_connection
from nl2sql_gate.engines.sqlite_schema import read_schema
from nl2sql_gate.engines.sqlite_session import SqliteSession, longest_cell
from nl2sql_gate.engines.sqlite_state import SqliteTemplate
from nl2sql_gate.errors import EngineFault, SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Limits, Schema


class SqliteDatabase:
    """One file. `immutable` is true for files that we built, which nobody writes.

    SQL runs in this process as long as an interrupt can reach it here; what is not of that kind runs in one of `processes`.
    Without `is_near` this is such a process, and everything runs here.
    """

    def __init__(  # noqa: PLR0913 -- what a database is, where its copies lie, and where its SQL runs
        self,
        *,
        name: str,
        digest: str,
        path: Path,
        folder: Path,
        limits: Limits,
        immutable: bool = True,
        is_near: bool = True,
        processes: Workers | None = None,
    ) -> None:
        self.name = name
        self.digest = digest
        self._path = path
        self._folder = folder
        self._limits = limits
        self._immutable = immutable
        self._is_near = is_near
        self._idle: list[tuple[sqlite3.Connection, ReadGuard]] = []
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._copies: SqliteCopies | None = None
        self.template = SqliteTemplate(self._connect)
        self._own_processes = Workers(lambda: Path(tempfile.gettempdir())) if processes is None else None
        self._distant = Distant(
            processes or self._own_processes or Workers(lambda: folder),
            opener="nl2sql_gate.engines.sqlite_database:open_far",
            key=str(path),
            options={"name": name, "digest": digest, "path": str(path.resolve()), "limits": limits, "immutable": immutable},
            template=self.template.state,
        )

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys and sample values, read from SQLite's catalogue."""
        connection = self._connect()
        try:
            return read_schema(connection, self.name, sample_values=sample_values)
        except sqlite3.Error as error:
            raise EngineFault(f"the schema of {self.name} cannot be read", where=[f"{self._path}: {error}"]) from error
        finally:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A read-only session: the file is opened read-only, and the authorizer denies what does not read."""
        connection, guard = self._take()
        near = SqliteSession(connection, limits=self._limits, guard=guard, take_state=self.template.state)
        session = EscalatingSession(near, lambda: self._distant.session(None), replays=False) if self._is_near else near
        try:
            yield session
        finally:
            if isinstance(session, EscalatingSession):
                session.close()
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if near.has_own_clock:
                near.close_clock()
                connection.close()
            else:
                with self._lock:
                    self._idle.append((connection, guard))

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy. Raises `SettingsError` for a file that is not ours."""
        if not self._immutable:
            raise SettingsError(
                f"the existing database {self.name} is for questions only",
                meaning="Items of type dml and ddl, and items with setup_sql, need a database that the gate has built.",
                next_step="Leave them out with filters: {types: [dql]}, or give a setup directory instead of existing: true.",
            )
        with self._lock:
            if self._copies is None:
                self._copies = SqliteCopies(self._path, self._folder, limits=self._limits, is_near=self._is_near)
        with self._copies.lend(statements) as copy:
            near = SqliteSession(
                copy.connection,
                limits=self._limits,
                guard=copy.guard,
                writable=True,
                take_state=lambda: self.template.after(copy.connection, copy.guard),
            )
            session = EscalatingSession(near, lambda: self._distant.session(statements), replays=True) if self._is_near else near
            try:
                yield session
            finally:
                if isinstance(session, EscalatingSession):
                    session.close()
                if near.has_own_clock:
                    near.close_clock()
                    copy.guard.dirty = True

    def dsn(self) -> str:
        """A read-only SQLAlchemy URL."""
        return f"sqlite:///file:{urllib.parse.quote(str(self._path.resolve()))}?mode=ro&uri=true"

    def close(self) -> None:
        """Close idle connections and discard copies."""
        with self._lock:
            idle, self._idle = self._idle, []
            copies, self._copies = self._copies, None
        for connection, _ in idle:
            connection.close()
        if copies is not None:
            copies.close()
        if self._own_processes is not None:
            self._own_processes.stop()

    def _take(self) -> tuple[sqlite3.Connection, ReadGuard]:
        with self._lock:
            if self._pid != os.getpid():
                # SQLite connections must not be carried across a fork.
                self._idle, self._pid = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        longest = longest_cell(self._limits, is_near=self._is_near)
        limit_connection(connection, attached=0, cell_bytes=longest, is_near=self._is_near)
        connection.execute("PRAGMA query_only=1")
        guard = ReadGuard(is_near=self._is_near)
        connection.set_authorizer(guard)
        return connection, guard

    def _connect(self) -> sqlite3.Connection:
        flags = "mode=ro&immutable=1" if self._immutable else "mode=ro"
        try:
            return sqlite3.connect(
                f"{self._path.resolve().as_uri()}?{flags}", uri=True, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise EngineFault(f"the SQLite file of {self.name} cannot be opened", where=[f"{self._path}: {error}"]) from error


def open_far(*, name: str, digest: str, path: str, folder: Path, limits: Limits, immutable: bool) -> SqliteDatabase:
    """The database in a process that can be killed, where everything runs."""
    return SqliteDatabase(
        name=name, digest=digest, path=Path(path), folder=folder, limits=limits, immutable=immutable, is_near=False
    )
