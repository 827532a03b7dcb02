"""Read-only answers from the database of a configuration, under a deadline and a row limit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from nl2sql_gate import plugins
from nl2sql_gate.errors import GateError, SettingsError
from nl2sql_gate.evaluation.configuration import DBMS, Configuration, ConfigurationError
from nl2sql_gate.evaluation.connection import server_url
from nl2sql_gate.records import DatabaseSource, Execution, SqlError

KEPT_RESULTS = 64
FAULT = "fault"
"""The `reason` of a failure that is the database's own, not the query's."""

_OUR_WORDS = {"limits.statement_s": "timeout_s", "limits.rows": "max_rows"}


class Reading:
    """One database, opened at the first query through the engine of its product; ground-truth results are kept.

    The database is somebody's own: nothing in it can be changed from here. A kept result stands as long as the file does; of a
    server it stands as long as this object.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._dbms = configuration.dbms
        self._path = configuration.db_path
        self._way = (
            # A file that is not there must not be made by opening it; the engine says so.
            f"{self._dbms.value}:///{Path(self._path).absolute()}" if self._dbms.is_file else server_url(self._dbms, self._path)
        )
        self._limits = configuration.limits
        self._insist = configuration.insist
        self._engine: _Stoppable | None = None
        self._database: _Readable | None = None
        self._kept: OrderedDict[tuple[str, Any], Execution] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, sql: str) -> Execution:
        """The result of `sql`, or why there is none, in the database's words. Raises `ConfigurationError` at the first query."""
        if not sql.strip():
            return SqlError("the query is empty")
        try:
            with self._open().reading() as session:
                ran = session.execute(sql)
        except ConfigurationError:
            raise
        except GateError as error:
            return SqlError("; ".join([self._plain(error.what), *error.where]), reason=FAULT)
        return _in_our_words(ran)

    def run_once(self, sql: str) -> Execution:
        """As `run`, and the same answer again while the database's file is the same. Failures are not kept."""
        key = (sql, self._stamp())
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        ran = self.run(sql)
        if not isinstance(ran, SqlError):
            with self._lock:
                self._kept[key] = ran
                if len(self._kept) > KEPT_RESULTS:
                    self._kept.popitem(last=False)
        return ran

    def close(self) -> None:
        """Close connections."""
        with self._lock:
            engine, self._engine, self._database = self._engine, None, None
        if engine is not None:
            engine.stop()

    def _stamp(self) -> tuple[int, int] | None:
        if not self._dbms.is_file:
            return None
        try:
            state = Path(self._path).stat()
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size

    def _open(self) -> _Readable:
        with self._lock:
            if self._database is None:
                if self._dbms is DBMS.DUCKDB:
                    from nl2sql_gate.evaluation.duckdb_file import DuckDbFile

                    self._engine = self._database = DuckDbFile(Path(self._path), limits=self._limits)
                else:
                    self._engine, self._database = self._through_engine()
            return self._database

    def _through_engine(self) -> tuple[_Stoppable, _Readable]:
        dialect = self._dbms.value
        try:
            engine = plugins.load("engine", dialect)(
                name=dialect,
                dialect=dialect,
                way=self._way,
                limits=self._limits,
                workdir="",
                workers=2,
                existing=True,
                insist=self._insist,
            )
            engine.start()
        except SettingsError as error:
            if self._dbms.is_file:
                raise
            # A user who may write, a URL without a host: no pair can be evaluated, and none may score 0 for it.
            raise ConfigurationError(
                self._plain(error.what),
                where=error.where,
                meaning="Nothing was evaluated.",
                next_step=error.next_step.replace("insist: true", '"insist": True in db_params'),
            ) from error
        try:
            return engine, engine.provision(DatabaseSource(_name(self._dbms, self._path), dialect, ""))
        except GateError:
            engine.stop()
            raise

    def _plain(self, what: str) -> str:
        """An engine's message without the name of a setting that an evaluation does not have."""
        return what.removeprefix(f"services.{self._dbms.value}: ")


class _Readable(Protocol):
    """What this needs of a `Database`."""

    def reading(self) -> AbstractContextManager[_Executing]: ...


class _Executing(Protocol):
    """What this needs of a `Session`."""

    def execute(self, sql: str) -> Execution: ...


class _Stoppable(Protocol):
    """What this needs of an `Engine`."""

    def stop(self) -> None: ...


def _in_our_words(ran: Execution) -> Execution:
    """Limits by the names that they have in the configuration."""
    if not isinstance(ran, SqlError) or ran.reason == "error":
        return ran
    message = ran.message
    for theirs, ours in _OUR_WORDS.items():
        message = message.replace(theirs, ours)
    return replace(ran, message=message)


def _name(dbms: DBMS, path: str) -> str:
    if dbms.is_file:
        return Path(path).stem
    return path.split("?", maxsplit=1)[0].rstrip("/").rsplit("/", maxsplit=1)[-1]
