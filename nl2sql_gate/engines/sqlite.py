"""SQLite: one file a database, built once, read immutably, written in private copies."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import threading
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from nl2sql_gate.engines.server_process import working_folder
from nl2sql_gate.engines.sqlite_build import build
from nl2sql_gate.engines.sqlite_copies import SqliteCopies
from nl2sql_gate.engines.sqlite_guard import CELL_BYTES, limit_connection, read_authorizer
from nl2sql_gate.engines.sqlite_schema import read_schema
from nl2sql_gate.engines.sqlite_session import SqliteSession
from nl2sql_gate.engines.sqlite_state import SqliteTemplate
from nl2sql_gate.errors import EngineFault, ServiceError, SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Limits, Schema, ServiceFacts

_FORMAT = "1"  # part of a template's file name: change it when the same source would build another file


class SqliteDatabase:
    """One file. `immutable` is true for files that we built, which nobody writes."""

    def __init__(self, *, name: str, digest: str, path: Path, folder: Path, limits: Limits, immutable: bool = True) -> None:
        self.name = name
        self.digest = digest
        self._path = path
        self._folder = folder
        self._limits = limits
        self._immutable = immutable
        self._idle: list[sqlite3.Connection] = []
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._copies: SqliteCopies | None = None
        self._template = SqliteTemplate(self._connect)

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
        connection = self._take()
        session = SqliteSession(
            connection, limits=self._limits, take_state=self._template.state, stored_bytes=self._template.stored_bytes
        )
        try:
            yield session
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if session.has_own_clock:
                session.close_clock()
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)

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
                self._copies = SqliteCopies(self._path, self._folder, limits=self._limits)
        with self._copies.lend(statements) as copy:
            connection, guard = copy.connection, copy.guard
            session = SqliteSession(
                connection,
                limits=self._limits,
                writable=True,
                take_state=lambda: self._template.after(connection, guard),
                stored_bytes=self._template.stored_bytes,
            )
            try:
                yield session
            finally:
                if session.has_own_clock:
                    session.close_clock()
                    guard.dirty = True

    def dsn(self) -> str:
        """A read-only SQLAlchemy URL."""
        return f"sqlite:///file:{urllib.parse.quote(str(self._path.resolve()))}?mode=ro&uri=true"

    def close(self) -> None:
        """Close idle connections and discard copies."""
        with self._lock:
            idle, self._idle = self._idle, []
            copies, self._copies = self._copies, None
        for connection in idle:
            connection.close()
        if copies is not None:
            copies.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._pid != os.getpid():
                # SQLite connections must not be carried across a fork.
                self._idle, self._pid = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        limit_connection(connection, attached=0, cell_bytes=min(CELL_BYTES, self._limits.bytes or CELL_BYTES))
        connection.execute("PRAGMA query_only=1")
        connection.set_authorizer(read_authorizer)
        return connection

    def _connect(self) -> sqlite3.Connection:
        flags = "mode=ro&immutable=1" if self._immutable else "mode=ro"
        try:
            return sqlite3.connect(
                f"{self._path.resolve().as_uri()}?{flags}", uri=True, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise EngineFault(f"the SQLite file of {self.name} cannot be opened", where=[f"{self._path}: {error}"]) from error


class SqliteEngine:
    """SQLite in this process. `workdir` keeps built databases between runs where it is given."""

    deterministic = True

    def __init__(  # noqa: PLR0913 -- the factory's signature, the same for every engine
        self,
        *,
        name: str,
        dialect: str,
        way: str,
        limits: Limits,
        workdir: str,
        workers: int,
        existing: bool = False,
        insist: bool = False,
    ) -> None:
        del workers, insist
        self._name = name
        self._dialect = dialect
        self._way = way
        self._limits = limits
        self._workdir = workdir
        self._existing = existing
        self._folder: Path | None = None
        self._databases: list[SqliteDatabase] = []
        self._lock = threading.Lock()

    def start(self) -> ServiceFacts:
        """Nothing to start; settles where files lie. Raises `SettingsError` for a way that SQLite does not have."""
        given = "://" in self._way
        if self._way.partition(":")[0] == "container" or (given and not self._way.startswith("sqlite:///")):
            raise SettingsError(
                f"services.{self._name}: sqlite cannot come from {self._way.partition(':')[0]!r}",
                meaning="SQLite runs in this process; there is no server to start.",
                next_step="Use auto, embedded, or sqlite:///path/of/a/file.db with existing: true.",
            )
        if given and not self._existing:
            raise SettingsError(
                f"services.{self._name}: a SQLite file by URL is somebody's own data",
                meaning="The gate builds its databases itself, and would not touch this file.",
                next_step="Say existing: true to ask read-only questions of it, or use auto.",
            )
        try:
            self._folder = working_folder("nl2sql-gate-sqlite-", self._workdir)
        except OSError as error:
            raise ServiceError("SQLite has no folder to work in", where=[f"{self._workdir}: {error}"]) from error
        return ServiceFacts(self._name, self._dialect, "SQLite", sqlite3.sqlite_version, "given" if given else "embedded")

    def provision(self, source: DatabaseSource) -> SqliteDatabase:
        """Build the file, or reuse the one of the same digest and the same SQLite."""
        for known in self._databases:
            if (known.name, known.digest) == (source.name, source.digest):
                return known
        if "://" in self._way:
            return self._keep(self._given(source))
        folder = Path(self._workdir, "templates") if self._workdir else self._place()
        folder.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(f"{_FORMAT}\0{sqlite3.sqlite_version}\0{source.name}\0{source.digest}".encode()).hexdigest()[:32]
        path = folder / f"{key}.sqlite"
        if not path.exists():
            build(source, path)
        return self._keep(
            SqliteDatabase(name=source.name, digest=source.digest, path=path, folder=self._place(), limits=self._limits)
        )

    def stop(self) -> None:
        """Close connections and remove all copies."""
        with self._lock:
            databases, self._databases = self._databases, []
            folder, self._folder = self._folder, None
        for database in databases:
            # A statement may still run in another thread; its file goes all the same.
            with suppress(sqlite3.Error):
                database.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _given(self, source: DatabaseSource) -> SqliteDatabase:
        path = Path(self._way.removeprefix("sqlite:///"))
        if not path.is_file():
            raise ServiceError(
                f"services.{self._name}: there is no SQLite file", where=[str(path)], next_step="Correct the path."
            )
        return SqliteDatabase(
            name=source.name, digest=source.digest, path=path, folder=self._place(), limits=self._limits, immutable=False
        )

    def _place(self) -> Path:
        if self._folder is None:
            raise RuntimeError("start() comes before provision()")
        return self._folder

    def _keep(self, database: SqliteDatabase) -> SqliteDatabase:
        with self._lock:
            self._databases.append(database)
        return database
