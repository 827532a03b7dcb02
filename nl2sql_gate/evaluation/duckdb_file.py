"""A DuckDB file that is somebody's own, read only, through the engine's sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from nl2sql_gate.engines.duckdb_session import DuckdbSession, lock, settings
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import Limits, State


class DuckDbFile:
    """One file, opened read-only, without access to other files or the network, its configuration locked."""

    def __init__(self, path: Path, *, limits: Limits) -> None:
        if not path.is_file():
            raise EngineFault("there is no DuckDB file", where=[str(path)])
        try:
            self._instance = duckdb.connect(str(path), read_only=True, config=settings(limits))
            lock(self._instance)
        except duckdb.Error as error:
            raise EngineFault("the DuckDB file cannot be opened", where=[f"{path}: {error}"]) from error
        self._limits = limits

    @contextmanager
    def reading(self) -> Iterator[DuckdbSession]:
        """A connection of its own; what it sets or makes goes with it."""
        connection = self._instance.cursor()
        try:
            yield DuckdbSession(connection, limits=self._limits, take_state=lambda _: State({}, {}))
        finally:
            connection.close()

    def stop(self) -> None:
        """Close the file."""
        self._instance.close()
