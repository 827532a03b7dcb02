"""The extension API: one protocol for each thing that can be replaced. Built-ins use the same entry points (`plugins`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from nl2sql_gate.records import (
    Ask,
    Case,
    Completion,
    DatabaseSource,
    Execution,
    Limits,
    Run,
    Schema,
    Score,
    ServiceFacts,
    State,
)


@runtime_checkable
class Session(Protocol):
    """One connection to one database, used by one case at a time."""

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands; of several statements each runs, and the last result counts.

        Returns `SqlError` where the database (or a limit) refuses. Raises `EngineFault` where the connection or the server fails.
        """
        ...

    def state(self) -> State:
        """What the database holds now, as this session sees it."""
        ...

    def protect(self) -> None:
        """From now on refuse writes, as a reading session does: a dql item with setup_sql runs on a private copy, read-only."""
        ...

    def set_clock(self, instant: datetime | None) -> None:
        """Let the clock stand at `instant` (`None`: run again). Does nothing where the engine's clock cannot be set."""
        ...


@runtime_checkable
class Database(Protocol):
    """One provisioned database: a template that nobody writes, read directly and cloned for writing."""

    name: str
    digest: str

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, keys, types, comments, and up to `sample_values` distinct values a column."""
        ...

    def reading(self) -> AbstractContextManager[Session]:
        """A read-only session, reset when it comes back. Read-only by the database's own means."""
        ...

    def writing(self, statements: Sequence[str]) -> AbstractContextManager[Session]:
        """A session on a private copy that is discarded. `statements` are all that will run: they choose the isolation."""
        ...

    def dsn(self) -> str:
        """A URL with which another program may read this database; empty where there is none."""
        ...


@runtime_checkable
class Engine(Protocol):
    """One database product, started by us or given."""

    def start(self) -> ServiceFacts:
        """Start or reach the server and wait until a query answers. Raises `ServiceError` with its last log lines."""
        ...

    def provision(self, source: DatabaseSource) -> Database:
        """Build the database, or reuse the one of the same digest. Raises `ProvisionError` with statement, file and line."""
        ...

    def stop(self) -> None:
        """Stop and remove what `start` and `provision` made. Safe to call twice, from a signal handler's thread too."""
        ...


class EngineFactory(Protocol):
    """What an entry point in `nl2sql_gate.engines` names."""

    def __call__(self, *, name: str, dialect: str, way: str, limits: Limits, workdir: str, workers: int) -> Engine:
        """An engine for the service `name`; `way` as in the settings (`auto`, `embedded`, `container…`, a URL)."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Where completions come from."""

    async def preflight(self) -> None:
        """One cheap call. Raises `CredentialsError` or `EndpointError` where a run could not succeed."""
        ...

    async def complete(self, ask: Ask) -> Completion:
        """The model's reply. Raises `EndpointFault` after all retries; a refusal or a cut-off reply is a `Completion`."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """What identifies the model in provenance and cache keys: name, parameters, never a secret."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """One metric. Pure: whatever happens inside is either a `Score` or an exception, which becomes `ScoreFault`."""

    name: str
    version: str

    def score(self, case: Case) -> Score:
        """The score of an answered case, in [0, 1], with a reason where it is below 1."""
        ...


@runtime_checkable
class BaselineStore(Protocol):
    """Where baselines live."""

    def fetch(self) -> bytes | None:
        """The baseline file, or `None` where there is none yet. Raises `BaselineError` where it cannot be had."""
        ...

    def store(self, content: bytes, *, message: str) -> str:
        """Write it; returns where it went, in words."""
        ...


@runtime_checkable
class Reporter(Protocol):
    """One rendering of a report, pure text."""

    def render(self, report: Any) -> str:
        """The whole file as text."""
        ...


@runtime_checkable
class Embedding(Protocol):
    """Vectors for texts."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order. Raises `ScorerFault`."""
        ...


__all__ = [
    "BaselineStore",
    "Database",
    "Embedding",
    "Engine",
    "EngineFactory",
    "Generator",
    "Reporter",
    "Run",
    "Scorer",
    "Session",
]
