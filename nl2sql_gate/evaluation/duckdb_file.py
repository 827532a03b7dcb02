"""A DuckDB file that is somebody's own, read only; statements run in a process that can be killed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from nl2sql_gate.engines.distant_sessions import Distant
from nl2sql_gate.engines.duckdb_database import DuckdbDatabase
from nl2sql_gate.engines.killable import Workers
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Limits, State


class DuckDbFile:
    """One file, opened read-only, without access to other files or the network, its configuration locked."""

    def __init__(self, path: Path, *, limits: Limits) -> None:
        if not path.is_file():
            raise EngineFault("there is no DuckDB file", where=[str(path)])
        try:
            duckdb.connect(str(path), read_only=True).close()
        except duckdb.Error as error:
            raise EngineFault("the DuckDB file cannot be opened", where=[f"{path}: {error}"]) from error
        self._processes = Workers(lambda: Path(tempfile.gettempdir()))
        self._distant = Distant(
            self._processes,
            opener="nl2sql_gate.evaluation.duckdb_file:open_file",
            key=str(path),
            options={"path": str(path.resolve()), "limits": limits},
            template=lambda: State({}, {}),
        )

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A connection of its own; what it sets or makes goes with it."""
        with self._distant.session(None) as session:
            yield session

    def stop(self) -> None:
        """Close the file."""
        self._processes.stop()


def open_file(*, path: str, limits: Limits, folder: Path) -> DuckdbDatabase:
    """The file in a process of its own, for reading."""
    del folder
    return DuckdbDatabase(name=Path(path).stem, digest="", path=Path(path), limits=limits)
