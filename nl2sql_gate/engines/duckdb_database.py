"""One DuckDB file: read through one read-only instance, written in private copies. All in one process (see `duckdb`)."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from nl2sql_gate.engines.background import BackgroundWork
from nl2sql_gate.engines.duckdb_catalogue import DuckdbTemplate, read_schema
from nl2sql_gate.engines.duckdb_session import DuckdbSession, fault, lock, settings
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Limits, Schema


@dataclass
class DuckdbCopy:
    """One private file, in a folder of its own, and the instance that has it open."""

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
        shutil.rmtree(self.path.parent, ignore_errors=True)


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
        self._ahead = 0 if template.stat().st_size > limits.max_clone_mb * 2**20 else ahead

    @contextmanager
    def lend(self) -> Iterator[DuckdbCopy]:
        """A fresh copy, thrown away afterwards."""
        copy = self._take()
        try:
            yield copy
        finally:
            copy.discard()

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
        # The file's name is the database's, also to SQL.
        path = self._folder / f"copy-{uuid.uuid4().hex}" / self._template.name
        path.parent.mkdir()
        shutil.copyfile(self._template, path)
        connection = _open(path, self._limits, read_only=False)
        return DuckdbCopy(path, connection, self._limits)


class DuckdbDatabase:
    """One file that nobody writes. Without `copies` it is for reading alone."""

    def __init__(self, *, name: str, digest: str, path: Path, limits: Limits, copies: DuckdbCopies | None = None) -> None:
        self.name = name
        self.digest = digest
        self._path = path
        self._limits = limits
        self._copies = copies
        self._lock = threading.Lock()
        self._instance: duckdb.DuckDBPyConnection | None = None
        self.template = DuckdbTemplate(self._cursor)

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
            yield DuckdbSession(connection, limits=self._limits, take_state=lambda _: self.template.state())
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
        if self._copies is None:
            raise RuntimeError("this database is for reading")
        with self._copies.lend() as copy:
            yield DuckdbSession(
                copy.connection,
                limits=self._limits,
                take_state=lambda ran: self.template.after(copy.connection, ran) if ran else self.template.state(),
                reopen=copy.reopen_read_only,
            )

    def close(self) -> None:
        """Close the instance and discard copies."""
        self._forget()
        if self._copies is not None:
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


def _open(path: Path, limits: Limits, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(str(path), read_only=read_only, config=settings(limits))
    if not read_only:
        # A copy is thrown away, so that tidying it up at the end is time lost.
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    lock(connection)
    return connection


def open_with_copies(*, name: str, digest: str, path: str, limits: Limits, folder: Path) -> DuckdbDatabase:
    """The database for one session at a time, its copies in `folder`."""
    copies = DuckdbCopies(Path(path), folder, limits=limits, work=BackgroundWork(), ahead=1)
    return DuckdbDatabase(name=name, digest=digest, path=Path(path), limits=limits, copies=copies)
