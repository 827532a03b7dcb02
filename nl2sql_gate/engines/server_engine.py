"""What the engines of database servers share: their place in the settings, and the databases that were provisioned."""

from __future__ import annotations

import threading
from typing import Generic, Protocol, TypeVar

from nl2sql_gate.engines.background import BackgroundWork
from nl2sql_gate.engines.containers import ServerContainer
from nl2sql_gate.engines.pulse import Pulse
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import DatabaseSource, Limits


class Held(Protocol):
    """A provisioned database, as an engine keeps it."""

    name: str
    digest: str

    def close(self) -> None:
        """Release its connections."""


HeldT = TypeVar("HeldT", bound=Held)


class ServerEngine(Generic[HeldT]):
    """One service of a product that runs as a server."""

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
        del workdir
        self._name = name
        self._dialect = dialect
        self._way = way
        self._limits = limits
        self._workers = workers
        self._existing = existing
        self._insist = insist
        self._container: ServerContainer | None = None
        self._databases: list[HeldT] = []
        self._work = BackgroundWork()
        self._lock = threading.Lock()
        self._pulse: Pulse | None = None

    def _watch(self, pulse: Pulse) -> Pulse:
        """From now on notice when the server does not answer any more."""
        self._pulse = pulse
        pulse.start()
        return pulse

    def _watched(self) -> Pulse:
        if self._pulse is None:
            raise EngineFault("the service is not started")
        return self._pulse

    def _known(self, source: DatabaseSource) -> HeldT | None:
        """The database of this name and digest, where it was provisioned before."""
        return next((each for each in self._databases if (each.name, each.digest) == (source.name, source.digest)), None)

    def _keep(self, database: HeldT) -> HeldT:
        with self._lock:
            self._databases.append(database)
        return database
