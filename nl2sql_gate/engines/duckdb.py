"""DuckDB: one file a database. Every statement runs in a process that can be killed: many of its functions see no interrupt."""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import duckdb

from nl2sql_gate.engines.distant_sessions import Distant
from nl2sql_gate.engines.duckdb_build import build
from nl2sql_gate.engines.duckdb_database import DuckdbDatabase
from nl2sql_gate.engines.killable import Workers
from nl2sql_gate.engines.server_process import working_folder
from nl2sql_gate.errors import ServiceError, SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Limits, Schema, ServiceFacts

_FORMAT = "2"  # part of a template's file name: change it when the same source would build another file
_TAKEN = frozenset({"main", "memory", "system", "temp", "information_schema", "pg_catalog"})
_HEAD = 300  # characters of a statement in which it says what it makes; behind them a dump may have megabytes of rows
_READY = 4  # processes that start with the engine; more follow as they are needed


class KillableDuckdb:
    """One file. This process reads its schema and its first state; what is asked of it runs in others."""

    def __init__(self, *, name: str, digest: str, path: Path, limits: Limits, workers: Workers) -> None:
        self.name = name
        self.digest = digest
        self._path = path
        self._ours = DuckdbDatabase(name=name, digest=digest, path=path, limits=limits)
        options = {"name": name, "digest": digest, "path": str(path), "limits": limits}
        self._distant = Distant(
            workers,
            opener="nl2sql_gate.engines.duckdb_database:open_with_copies",
            key=str(path),
            options=options,
            template=self._ours.template.state,
        )
        # A large database is copied for one item at a time.
        large = path.stat().st_size > limits.max_clone_mb * 2**20
        self._turn = threading.Lock() if large else nullcontext()

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments and sample values, read from DuckDB's catalogue."""
        return self._ours.schema(sample_values=sample_values)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A connection of its own to a read-only instance; what it sets or makes goes with it."""
        with self._distant.session(None) as session:
            yield session

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy."""
        with self._turn, self._distant.session(statements) as session:
            yield session

    def dsn(self) -> str:
        """The file; another process can read it while this one does."""
        return f"duckdb:///{self._path.resolve()}?access_mode=read_only"

    def close(self) -> None:
        """Close what this process has open."""
        self._ours.close()


class DuckdbEngine:
    """DuckDB, which has no server. `workdir` keeps built databases between runs where it is given."""

    deterministic = True

    def __init__(self, *, name: str, dialect: str, way: str, limits: Limits, workdir: str, workers: int) -> None:
        self._name = name
        self._dialect = dialect
        self._way = way
        self._limits = limits
        self._workdir = workdir
        self._workers = workers
        self._folder: Path | None = None
        self._databases: list[KillableDuckdb] = []
        self._processes = Workers(self._place)
        self._lock = threading.Lock()

    def start(self) -> ServiceFacts:
        """Nothing to start; settles where files lie. Raises `SettingsError` for a way that DuckDB does not have."""
        if self._way not in {"auto", "embedded"}:
            raise SettingsError(
                f"services.{self._name}: duckdb cannot come from {self._way.partition(':')[0]!r}",
                meaning="DuckDB has no server to start.",
                next_step="Use auto or embedded.",
            )
        try:
            self._folder = working_folder("nl2sql-gate-duckdb-", self._workdir)
        except OSError as error:
            raise ServiceError("DuckDB has no folder to work in", where=[f"{self._workdir}: {error}"]) from error
        self._processes.warm(min(self._workers, _READY))
        return ServiceFacts(self._name, self._dialect, "DuckDB", str(duckdb.__version__), "embedded")

    def provision(self, source: DatabaseSource) -> KillableDuckdb:
        """Build the file, or reuse the one of the same digest and the same DuckDB."""
        for known in self._databases:
            if (known.name, known.digest) == (source.name, source.digest):
                return known
        folder = Path(self._workdir, "templates") if self._workdir else self._place()
        folder.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(f"{_FORMAT}\0{duckdb.__version__}\0{source.name}\0{source.digest}".encode()).hexdigest()[:32]
        path = folder / key / f"{_file_name(source)}.duckdb"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            build(source, path, limits=self._limits)
        database = KillableDuckdb(name=source.name, digest=source.digest, path=path, limits=self._limits, workers=self._processes)
        with self._lock:
            self._databases.append(database)
        return database

    def stop(self) -> None:
        """Close connections and remove all copies."""
        with self._lock:
            databases, self._databases = self._databases, []
            folder, self._folder = self._folder, None
        self._processes.stop()
        for database in databases:
            database.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _place(self) -> Path:
        if self._folder is None:
            raise RuntimeError("start() comes before provision()")
        return self._folder


def _file_name(source: DatabaseSource) -> str:
    """The database's own name where SQL can use it, because DuckDB calls a database what its file is called: `shop.customer`.

    A schema of that name would be ambiguous then, so that the file gets another.
    """
    name = source.name
    own_schema = re.compile(rf"\bschema\b.*\b{re.escape(name)}\b", re.IGNORECASE | re.DOTALL)
    scripts = (one.text[:_HEAD] for one in (*source.pre, *source.setup, *source.post))
    usable = re.fullmatch(r"\w[\w-]{0,99}", name) and name.lower() not in _TAKEN
    return name if usable and not any(map(own_schema.search, scripts)) else "database"
