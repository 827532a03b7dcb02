"""SQLite: one file a database, built once, read immutably, written in private copies."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from nl2sql_gate.engines.killable import Workers
from nl2sql_gate.engines.server_process import working_folder
from nl2sql_gate.engines.sqlite_build import build
from nl2sql_gate.engines.sqlite_database import SqliteDatabase
from nl2sql_gate.errors import ServiceError, SettingsError
from nl2sql_gate.records import DatabaseSource, Limits, ServiceFacts

_FORMAT = "1"  # part of a template's file name: change it when the same source would build another file


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
        self._processes = Workers(self._place)
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
        return self._keep(self._database(source, path))

    def stop(self) -> None:
        """Close connections and remove all copies."""
        with self._lock:
            databases, self._databases = self._databases, []
            folder, self._folder = self._folder, None
        self._processes.stop()
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
        return self._database(source, path, immutable=False)

    def _database(self, source: DatabaseSource, path: Path, *, immutable: bool = True) -> SqliteDatabase:
        return SqliteDatabase(
            name=source.name,
            digest=source.digest,
            path=path,
            folder=self._place(),
            limits=self._limits,
            immutable=immutable,
            processes=self._processes,
        )

    def _place(self) -> Path:
        if self._folder is None:
            raise RuntimeError("start() comes before provision()")
        return self._folder

    def _keep(self, database: SqliteDatabase) -> SqliteDatabase:
        with self._lock:
            self._databases.append(database)
        return database
