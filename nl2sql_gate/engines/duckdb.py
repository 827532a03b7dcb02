"""DuckDB: one file a database, read through one read-only instance, written in private copies."""

from __future__ import annotations

import hashlib
import shutil
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from nl2sql_gate.engines.background import BackgroundWork
from nl2sql_gate.engines.duckdb_build import build
from nl2sql_gate.engines.duckdb_catalogue import DuckdbTemplate, read_schema
from nl2sql_gate.engines.duckdb_session import DuckdbSession, fault, lock, settings
from nl2sql_gate.engines.server_process import working_folder
from nl2sql_gate.errors import EngineFault, ServiceError, SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Limits, Schema, ServiceFacts

_FORMAT = "1"  # part of a template's file name: change it when the same source would build another file


@dataclass
class DuckdbCopy:
    """One private file and the instance that has it open."""

    path: Path
    connection: duckdb.DuckDBPyConnection
    limits: Limits

    def reopen_read_only(self) -> duckdb.DuckDBPyConnection:
        """Close the copy and open what is committed for reading alone."""
        self.connection.close()
        self.connection = _open(self.path, self.limits, read_only=True)
        return self.connection

    def discard(self) -> None:
        """Close it and remove its files."""
        with suppress(duckdb.Error):
            self.connection.close()
        for path in (self.path, self.path.with_name(self.path.name + ".wal")):
            path.unlink(missing_ok=True)


class DuckdbCopies:
    """Copies of one template, made ahead: a failed statement ends a transaction here, so that rolling back serves nobody."""

    def __init__(self, template: Path, folder: Path, *, limits: Limits, work: BackgroundWork, ahead: int) -> None:
        self._template = template
        self._folder = folder
        self._limits = limits
        self._work = work
        self._lock = threading.Lock()
        self._spare: list[DuckdbCopy] = []
        self._coming = 0
        large = template.stat().st_size > limits.max_clone_mb * 2**20
        self._ahead = 0 if large else ahead
        # A large database is copied for one item at a time.
        self._turn = threading.Lock() if large else None

    @contextmanager
    def lend(self) -> Iterator[DuckdbCopy]:
        """A fresh copy, thrown away afterwards."""
        if self._turn is not None:
            self._turn.acquire()
        try:
            copy = self._take()
            try:
                yield copy
            finally:
                copy.discard()
        finally:
            if self._turn is not None:
                self._turn.release()

    def close(self) -> None:
        """Discard what was made ahead."""
        with self._lock:
            spare, self._spare = self._spare, []
        for copy in spare:
            copy.discard()

    def _take(self) -> DuckdbCopy:
        with self._lock:
            copy = self._spare.pop() if self._spare else None
            missing = max(0, self._ahead - len(self._spare) - self._coming)
            self._coming += missing
        for _ in range(missing):
            self._work.put(self._make_spare)
        try:
            return copy or self._make()
        except (OSError, duckdb.Error) as error:
            raise EngineFault("a private copy of the DuckDB file cannot be made", where=[f"{self._folder}: {error}"]) from error

    def _make_spare(self) -> None:
        copy = None
        # The item that needs one makes it itself, and tells why it cannot.
        with suppress(OSError, duckdb.Error):
            copy = self._make()
        with self._lock:
            self._coming -= 1
            if copy is not None:
                self._spare.append(copy)

    def _make(self) -> DuckdbCopy:
        path = self._folder / f"copy-{uuid.uuid4().hex}.duckdb"
        shutil.copyfile(self._template, path)
        connection = _open(path, self._limits, read_only=False)
        return DuckdbCopy(path, connection, self._limits)


class DuckdbDatabase:
    """One file that nobody writes."""

    def __init__(self, *, name: str, digest: str, path: Path, limits: Limits, copies: DuckdbCopies) -> None:
        self.name = name
        self.digest = digest
        self._path = path
        self._limits = limits
        self._copies = copies
        self._lock = threading.Lock()
        self._instance: duckdb.DuckDBPyConnection | None = None
        self._template = DuckdbTemplate(self._cursor)

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments and sample values, read from DuckDB's catalogue."""
        connection = self._cursor()
        try:
            return read_schema(connection, self.name, sample_values=sample_values)
        except duckdb.Error as error:
            raise fault(error) from error
        finally:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A connection of its own to the read-only instance; what it sets or makes goes with it."""
        connection = self._cursor()
        try:
            yield DuckdbSession(connection, limits=self._limits, take_state=lambda _: self._template.state())
        except EngineFault:
            # After a failure of its own DuckDB refuses everything until the file is opened again.
            self._forget()
            raise
        finally:
            with suppress(duckdb.Error):
                connection.close()

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy."""
        del statements
        with self._copies.lend() as copy:
            yield DuckdbSession(
                copy.connection,
                limits=self._limits,
                take_state=lambda ran: self._template.after(copy.connection, ran) if ran else self._template.state(),
                reopen=copy.reopen_read_only,
            )

    def dsn(self) -> str:
        """The file; another process can read it while this one does."""
        return f"duckdb:///{self._path.resolve()}?access_mode=read_only"

    def close(self) -> None:
        """Close the instance and discard copies."""
        self._forget()
        self._copies.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            try:
                if self._instance is None:
                    self._instance = _open(self._path, self._limits, read_only=True)
                return self._instance.cursor()
            except duckdb.Error as error:
                self._instance = None
                raise fault(error) from error

    def _forget(self) -> None:
        with self._lock:
            instance, self._instance = self._instance, None
        if instance is not None:
            with suppress(duckdb.Error):
                instance.close()


class DuckdbEngine:
    """DuckDB in this process. `workdir` keeps built databases between runs where it is given."""

    deterministic = True

    def __init__(self, *, name: str, dialect: str, way: str, limits: Limits, workdir: str, workers: int) -> None:
        self._name = name
        self._dialect = dialect
        self._way = way
        self._limits = limits
        self._workdir = workdir
        self._workers = workers
        self._folder: Path | None = None
        self._databases: list[DuckdbDatabase] = []
        self._work = BackgroundWork()
        self._lock = threading.Lock()

    def start(self) -> ServiceFacts:
        """Nothing to start; settles where files lie. Raises `SettingsError` for a way that DuckDB does not have."""
        if self._way not in {"auto", "embedded"}:
            raise SettingsError(
                f"services.{self._name}: duckdb cannot come from {self._way.partition(':')[0]!r}",
                meaning="DuckDB runs in this process; there is no server to start.",
                next_step="Use auto or embedded.",
            )
        try:
            self._folder = working_folder("nl2sql-gate-duckdb-", self._workdir)
        except OSError as error:
            raise ServiceError("DuckDB has no folder to work in", where=[f"{self._workdir}: {error}"]) from error
        return ServiceFacts(self._name, self._dialect, "DuckDB", str(duckdb.__version__), "embedded")

    def provision(self, source: DatabaseSource) -> DuckdbDatabase:
        """Build the file, or reuse the one of the same digest and the same DuckDB."""
        for known in self._databases:
            if (known.name, known.digest) == (source.name, source.digest):
                return known
        if self._folder is None:
            raise RuntimeError("start() comes before provision()")
        folder = Path(self._workdir, "templates") if self._workdir else self._folder
        folder.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(f"{_FORMAT}\0{duckdb.__version__}\0{source.name}\0{source.digest}".encode()).hexdigest()[:32]
        path = folder / f"{key}.duckdb"
        if not path.exists():
            build(source, path, limits=self._limits)
        copies = DuckdbCopies(path, self._folder, limits=self._limits, work=self._work, ahead=self._workers + 1)
        database = DuckdbDatabase(name=source.name, digest=source.digest, path=path, limits=self._limits, copies=copies)
        with self._lock:
            self._databases.append(database)
        return database

    def stop(self) -> None:
        """Close connections and remove all copies."""
        with self._lock:
            databases, self._databases = self._databases, []
            folder, self._folder = self._folder, None
        self._work.stop()
        for database in databases:
            database.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _open(path: Path, limits: Limits, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(str(path), read_only=read_only, config=settings(limits))
    if not read_only:
        # A copy is thrown away, so that tidying it up at the end is time lost.
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    lock(connection)
    return connection
