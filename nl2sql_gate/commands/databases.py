"""The servers and databases of a run: started side by side, built, and stopped whatever happens."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nl2sql_gate import plugins
from nl2sql_gate.engines.server_process import working_folder
from nl2sql_gate.errors import DatasetError, GateError, SettingsError
from nl2sql_gate.protocols import Database, Engine
from nl2sql_gate.records import DatabaseSource, Limits, ServiceFacts
from nl2sql_gate.settings import Service, Settings

IN_PROCESS = frozenset({"sqlite", "duckdb"})


@dataclass(frozen=True, slots=True)
class Opened:
    """One service that runs, with its databases and the digests of what they were built from."""

    name: str
    dialect: str
    facts: ServiceFacts
    engine: Engine
    databases: Mapping[str, Database]
    digests: Mapping[str, str]

    @property
    def deterministic(self) -> bool:
        """Whether the engine gives the same rows twice for the same SQL on the same data."""
        return bool(getattr(self.engine, "deterministic", False))


def service_of(name: str, settings: Settings) -> Service:
    """The service called `name`; a dialect without one is `auto`."""
    return settings.services.get(name) or Service(dialect=name)


def limits_of(settings: Settings) -> Limits:
    """The limits on one statement."""
    given = settings.limits
    return Limits(given.statement_s, given.rows, given.bytes, given.memory_mb, given.max_clone_mb)


@contextmanager
def open_services(
    wanted: Mapping[str, frozenset[str]], settings: Settings, *, workers: int, sources: Mapping[tuple[str, str], DatabaseSource]
) -> Iterator[dict[str, Opened]]:
    """The services named in `wanted` (name → databases), started and provisioned in parallel; all stopped at the end.

    `sources` holds what builds each (service, database). Raises `ServiceError`, `ProvisionError` or `SettingsError`.
    """
    with start_services(wanted, settings, workers=workers, sources=sources) as ready:
        yield ready()


@contextmanager
def start_services(
    wanted: Mapping[str, frozenset[str]], settings: Settings, *, workers: int, sources: Mapping[tuple[str, str], DatabaseSource]
) -> Iterator[Callable[[], dict[str, Opened]]]:
    """As `open_services`, but without waiting: what it yields waits, and raises what a start has raised."""
    # Signed, so that the next run removes what a killed one left behind.
    workdir = working_folder("nl2sql_gate_", "")
    engines: dict[str, Engine] = {}
    pool = ThreadPoolExecutor(max_workers=max(1, len(wanted)), thread_name_prefix="service")
    try:
        for name in wanted:
            engines[name] = _make(name, service_of(name, settings), settings, workdir=workdir, workers=workers)
        starting = [pool.submit(_open, name, engines[name], wanted[name], settings, sources) for name in wanted]
        has_server = any(service_of(name, settings).dialect not in IN_PROCESS for name in wanted)
        yield partial(_ready, starting, has_server=has_server)
    finally:
        # From the last to the first, each whatever becomes of the others. Leaving the pool waits for its threads, and a start
        # that is interrupted ends only when its engine is stopped; one that had hardly begun may have got a server after that.
        with _undisturbed(), contextlib.ExitStack() as last:
            last.callback(shutil.rmtree, workdir, ignore_errors=True)
            last.callback(_stop, engines)
            last.callback(pool.shutdown)
            last.callback(_stop, engines)


def _ready(starting: Sequence[Future[Opened]], *, has_server: bool) -> dict[str, Opened]:
    if has_server:
        _import_what_the_end_needs()
    return {each.name: each for each in _all(starting)}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Tidying up takes seconds, and a second Ctrl-C within them would leave servers behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _make(name: str, service: Service, settings: Settings, *, workdir: Path, workers: int) -> Engine:
    factory = plugins.load("engine", _engine_name(service))
    folder = workdir / name
    folder.mkdir()
    # A server runs as another user than root: it must be able to pass through.
    workdir.chmod(0o711)
    options: dict[str, Any] = {"existing": True, "insist": service.insist} if service.existing else {}
    try:
        engine: Engine = factory(
            name=name,
            dialect=service.dialect,
            way=service.source(),
            limits=limits_of(settings),
            workdir=str(folder),
            workers=workers,
            **options,
        )
    except TypeError as error:
        if not options:
            raise
        raise SettingsError(
            f"services.{name}: the engine for {service.dialect} cannot use an existing database",
            where=[str(error)],
            meaning="The run did not start.",
            next_step="Remove existing: true, or give the data as a setup directory.",
        ) from error
    return engine


def _engine_name(service: Service) -> str:
    """The engine for a service: its dialect's own, or for a URL the one that takes whatever SQLAlchemy knows."""
    if service.url is None or service.dialect in plugins.names("engine"):
        return service.dialect
    return "sqlalchemy"


def _open(
    name: str, engine: Engine, names: frozenset[str], settings: Settings, sources: Mapping[tuple[str, str], DatabaseSource]
) -> Opened:
    facts = engine.start()
    databases: dict[str, Database] = {}
    for database in sorted(names):
        databases[database] = engine.provision(sources[name, database])
    digests = {database: sources[name, database].digest for database in names}
    return Opened(name, service_of(name, settings).dialect, facts, engine, databases, digests)


def _all(futures: Sequence[Future[Opened]]) -> list[Opened]:
    """The results in order; the first error of the gate's own kind, after all have ended, so that all can be stopped."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in errors:
        if isinstance(error, GateError):
            raise error
    if errors:
        raise errors[0]
    return [future.result() for future in futures]


def _import_what_the_end_needs() -> None:
    """Load the numerical libraries while servers start: they would cost half a second when everybody waits for the verdict.

    Where nothing starts there is nothing to wait for, and the first question should not wait either.
    """
    for name in ("nl2sql_gate.commands.judging", "nl2sql_gate.commands.publish", "rich.console", "rich.table", "sqlglot"):
        importlib.import_module(name)


def _stop(engines: Mapping[str, Engine]) -> None:
    """Stop every engine even where one of them fails to stop."""
    failures: list[Exception] = []
    for engine in engines.values():
        try:
            engine.stop()
        except Exception as error:  # noqa: BLE001 - an engine may be a plugin; the others must be stopped all the same
            failures.append(error)
    with contextlib.suppress(IndexError):
        raise failures[0]


def read_sources(wanted: Mapping[str, frozenset[str]], settings: Settings) -> dict[tuple[str, str], DatabaseSource]:
    """What builds each database of each service: read before any server starts. Raises `DatasetError`."""
    from nl2sql_gate.dataset import read_source

    if settings.setup_directory is None:
        if all(service_of(name, settings).existing for name in wanted):
            return {
                (name, db): DatabaseSource(db, service_of(name, settings).dialect, "unknown")
                for name in wanted
                for db in wanted[name]
            }
        raise DatasetError(
            "no setup_directory is given",
            where=[f"databases asked for: {', '.join(sorted(set().union(*wanted.values())))}"],
            meaning="Without data there is nothing to run SQL on. The run did not start.",
            next_step="Set setup_directory: to the folder with <database>/<dialect>/setup.sql and <database>/data/*.csv.",
        )
    sources: dict[tuple[str, str], DatabaseSource] = {}
    for name, databases in wanted.items():
        service = service_of(name, settings)
        for database in sorted(databases):
            if service.existing:
                sources[name, database] = DatabaseSource(database, service.dialect, "unknown")
            else:
                sources[name, database] = read_source(settings.setup_directory, database, service.dialect)
    return sources
