"""A product that is reached by SQLAlchemy's URL alone, as the contract suite meets it: SQLite files that somebody else made."""

from __future__ import annotations

from pathlib import Path

from nl2sql_gate.engines.generic import GenericDatabase, GenericEngine
from nl2sql_gate.engines.sqlite_build import build
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.records import DatabaseSource, Limits, ServiceFacts
from nl2sql_gate.testing import PROBE, EngineUnderTest, Oddity, never


class FilesByUrl:
    """One service a file, since a URL names one database. The files are made before, as a user's are."""

    def __init__(self, *, name: str, dialect: str, way: str, limits: Limits, workdir: str, workers: int) -> None:
        del way
        self._name = name
        self._dialect = dialect
        self._limits = limits
        self._folder = Path(workdir)
        self._workers = workers
        self._services: dict[tuple[str, str], GenericEngine] = {}

    def start(self) -> ServiceFacts:
        self._folder.mkdir(parents=True, exist_ok=True)
        empty = self._service("sqlite://")
        try:
            return empty.start()
        finally:
            empty.stop()

    def provision(self, source: DatabaseSource) -> GenericDatabase:
        key = (source.name, source.digest)
        if key not in self._services:
            path = self._folder / f"{source.digest}.db"
            build(source, path)
            service = self._service(f"sqlite:///{path}")
            service.start()
            self._services[key] = service
        return self._services[key].provision(source)

    def stop(self) -> None:
        for service in self._services.values():
            service.stop()

    def _service(self, url: str) -> GenericEngine:
        return GenericEngine(
            name=self._name,
            dialect=self._dialect,
            way=url,
            limits=self._limits,
            workdir="",
            workers=self._workers,
            existing=True,
        )


GENERIC = EngineUnderTest(
    name="sqlalchemy",
    dialect="sqlite",
    engine=FilesByUrl,
    oddities=(
        Oddity("wide_cell", "hex(zeroblob({} / 2))", "SQLite has no REPEAT."),
        Oddity("session_setting", None, "What is no query is refused, so that no setting can change."),
        Oddity("division_by_zero", "null", "Division by zero gives NULL."),
        Oddity("sleep", None, "SQLite has no function that waits."),
    ),
    notes=("Only questions are asked there: no database is built and nothing is written.",),
    cells={"1": 1, "0.5": 0.5, "'ä%:x'": "ä%:x", "x'dead'": b"\xde\xad", "NULL": None, "1 = 1": 1, "9e999": float("inf")},
    hostile=(
        "WITH x AS (SELECT 1) DELETE FROM stock",
        "DELETE FROM stock RETURNING id",
        "PRAGMA user_version = 7",
    ),
    ways_out=(f"ATTACH DATABASE '{PROBE}' AS p", f"VACUUM INTO '{PROBE}'"),
    marks={
        "test_no_way_out_of_a_private_copy": never(
            raises=SettingsError, reason="no copy is made of what belongs to others, and writing is refused before anything runs"
        ),
    },
)
