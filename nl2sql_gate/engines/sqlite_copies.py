"""Private, writable copies of a SQLite file, put back after each use at the price of what was changed.

A copy runs in WAL mode, exclusively locked, never checkpointed while in use. Without a COMMIT a rollback restores it; after one,
the pages named in the WAL are overwritten from the base file. A copy of the file costs as much as the database is large.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from nl2sql_gate.engines.sqlite_guard import WriteGuard, limit_connection
from nl2sql_gate.engines.sqlite_session import longest_cell, tolerant_text
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import Limits

_WAL_HEADER, _FRAME_HEADER = 32, 24
_GROWTH_BYTES = 256 * 2**20
_ENDS_TRANSACTION = re.compile(r"\b(?:commit|rollback|savepoint|release|raise|pragma|vacuum|attach|detach)\b", re.IGNORECASE)
_MAY_END_TRANSACTION = re.compile(r"\b(?:begin|end)\b", re.IGNORECASE)


def can_roll_back(statements: Sequence[str]) -> bool:
    """Whether nothing in `statements` can end a transaction or behaves differently inside one."""
    if any(_ENDS_TRANSACTION.search(sql) for sql in statements):
        return False
    if not any(_MAY_END_TRANSACTION.search(sql) for sql in statements):
        return True
    from nl2sql_gate.sqltext import transaction_control

    return not any(transaction_control(sql, "sqlite") for sql in statements)


class SqliteCopy:
    """One copy and the one connection to it."""

    def __init__(self, base: Path, path: Path, *, limits: Limits, is_near: bool) -> None:
        self.guard = WriteGuard(is_near=is_near)
        self._base = base
        self._path = path
        self._wal = path.with_name(path.name + "-wal")
        self._limits = limits
        self._base_size = base.stat().st_size
        shutil.copyfile(base, path)
        self.connection = self._open()

    def begin(self, *, in_transaction: bool) -> None:
        """Make ready for one use."""
        self.guard.clear()
        self.connection.set_authorizer(self.guard)
        if in_transaction:
            self.connection.execute("BEGIN")

    def restore(self) -> None:
        """Put the copy back as it was. Raises `sqlite3.Error` or `OSError` where only a new copy helps."""
        if self.connection.in_transaction:
            self.connection.set_authorizer(None)
            self.connection.execute("ROLLBACK")
        if self._wal.stat().st_size or self.guard.dirty:
            pages, page_size = _wal_pages(self._wal)
            # Closing moves the WAL into the file, so that exactly these pages differ from the base.
            self.connection.close()
            self._overwrite(pages, page_size)
            self.connection = self._open()

    def discard(self) -> None:
        """Close the connection and remove the files."""
        self.connection.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                self._path.with_name(self._path.name + suffix).unlink()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        connection.text_factory = tolerant_text
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        # A sort takes as much memory as the cache, and as one step; changes need room for themselves all the same.
        connection.execute("PRAGMA cache_size=-2048")
        connection.execute("PRAGMA cache_spill=OFF")
        # Some builds overwrite what is deleted with zeros, and every such page would have to be put back.
        connection.execute("PRAGMA secure_delete=OFF")
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={(self._base_size + _GROWTH_BYTES) // page_size}")
        is_near = self.guard.is_near
        limit_connection(connection, attached=1, cell_bytes=longest_cell(self._limits, is_near=is_near), is_near=is_near)
        return connection

    def _overwrite(self, pages: set[int], page_size: int) -> None:
        if not pages:
            return
        source, target = os.open(self._base, os.O_RDONLY), os.open(self._path, os.O_RDWR)
        try:
            for page in sorted(pages):
                offset = (page - 1) * page_size
                if offset < self._base_size:
                    os.pwrite(target, os.pread(source, page_size, offset), offset)
            os.ftruncate(target, self._base_size)
        finally:
            os.close(source)
            os.close(target)


class SqliteCopies:
    """A pool of copies of one template, grown on demand."""

    def __init__(self, template: Path, folder: Path, *, limits: Limits, is_near: bool) -> None:
        self._is_near = is_near
        self._template = template
        self._folder = folder
        self._limits = limits
        self._idle: list[SqliteCopy] = []
        self._lock = threading.Lock()
        self._base: Path | None = None
        # A large database is copied once, and its items take turns.
        large = template.stat().st_size > limits.max_clone_mb * 2**20
        self._turn: threading.Lock | None = threading.Lock() if large else None
        with closing(sqlite3.connect(f"{template.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute(
                "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%rollback%'"
            ).fetchone()
        self._never_transaction = bool(found[0])

    @contextmanager
    def lend(self, statements: Sequence[str]) -> Iterator[SqliteCopy]:
        """A clean copy, restored afterwards. `statements` are all that will run on it."""
        if self._turn is not None:
            self._turn.acquire()
        try:
            copy = self._take()
            try:
                copy.begin(in_transaction=not self._never_transaction and can_roll_back(statements))
                yield copy
            finally:
                self._give_back(copy)
        finally:
            if self._turn is not None:
                self._turn.release()

    def close(self) -> None:
        """Discard all idle copies."""
        with self._lock:
            idle, self._idle = self._idle, []
        for copy in idle:
            copy.discard()

    def _take(self) -> SqliteCopy:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._base is None:
                self._base = self._make_base()
        try:
            path = self._folder / f"copy-{uuid.uuid4().hex}.sqlite"
            return SqliteCopy(self._base, path, limits=self._limits, is_near=self._is_near)
        except (OSError, sqlite3.Error) as error:
            raise EngineFault("a private copy of the SQLite file cannot be made", where=[f"{self._folder}: {error}"]) from error

    def _give_back(self, copy: SqliteCopy) -> None:
        try:
            copy.restore()
        except (OSError, sqlite3.Error):
            copy.discard()
            return
        with self._lock:
            self._idle.append(copy)

    def _make_base(self) -> Path:
        base = self._folder / f"base-{uuid.uuid4().hex}.sqlite"
        shutil.copyfile(self._template, base)
        connection = sqlite3.connect(base)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.close()
        return base


def _wal_pages(path: Path) -> tuple[set[int], int]:
    """Numbers of all pages that stand in a WAL, and the page size."""
    with path.open("rb") as wal:
        header = wal.read(_WAL_HEADER)
        if len(header) < _WAL_HEADER:
            return set(), 0
        page_size = int.from_bytes(header[8:12], "big")
        page_size = 65536 if page_size == 1 else page_size
        pages = set()
        while len(frame := wal.read(4)) == 4:  # noqa: PLR2004 -- a page number
            pages.add(int.from_bytes(frame, "big"))
            wal.seek(_FRAME_HEADER - 4 + page_size, os.SEEK_CUR)
    return pages, page_size
