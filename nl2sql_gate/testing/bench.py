"""A running engine, and databases built in it from a few statements."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nl2sql_gate.records import DatabaseSource, Execution, Limits, Place, SetupStatement, SqlError, TableData
from nl2sql_gate.testing.spelling import RespelledDatabase, respelled
from nl2sql_gate.testing.traits import Traits
from nl2sql_gate.testing.under_test import EngineUnderTest

LIMITS = Limits(statement_s=2.0, rows=1000, bytes=8 * 2**20)
"""The limits of every engine under test."""

WORKERS = 2
"""How many cases run beside each other, as the engine is told."""

PROBE = Path(f"/tmp/nl2sql_gate_probe_{os.getpid()}")  # noqa: S108 - where every server may write
"""A file that hostile SQL tries to write, and that must never be there."""

_STOCK = (
    "CREATE TABLE stock(id INTEGER PRIMARY KEY, item VARCHAR(20), qty INTEGER)",
    "INSERT INTO stock VALUES (1,'nut',10),(2,'bolt',20),(3,'gear',30)",
)
_LOG = ("CREATE TABLE log(id INTEGER)", "INSERT INTO log VALUES (1)")


@dataclass
class Bench:
    """One running engine, and what is peculiar to it."""

    under_test: EngineUnderTest
    engine: Any
    facts: Any
    folder: Path
    _built: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The engine's name in the tests."""
        return self.under_test.name

    @property
    def dialect(self) -> str:
        """The dialect that it speaks."""
        return self.under_test.dialect

    @property
    def traits(self) -> Traits:
        """What the tests go by."""
        return self.under_test.traits

    def build(self, *setup: str, tables: Sequence[TableData] = (), post: Sequence[str] = ()) -> Any:
        """A database made by the statements; the same one for the same statements. Raises `ProvisionError`."""
        key = hashlib.sha256(repr((setup, tables, post)).encode()).hexdigest()[:12]
        if key not in self._built:
            built = self.engine.provision(self.source(*setup, tables=tables, post=post))
            spelling = self.under_test.spelling
            self._built[key] = RespelledDatabase(built, spelling) if spelling else built
        return self._built[key]

    def source(self, *setup: str, tables: Sequence[TableData] = (), post: Sequence[str] = ()) -> DatabaseSource:
        """What the engine is asked to build."""
        key = hashlib.sha256(repr((setup, tables, post)).encode()).hexdigest()[:12]
        return DatabaseSource(
            f"d{key}",
            self.dialect,
            f"{self.dialect}-{key}",
            setup=self._statements(setup),
            tables=tuple(tables),
            post=self._statements(post),
        )

    def stock(self) -> Any:
        """Three articles, and a log of one line."""
        return self.build(*_STOCK, *_LOG)

    def target(self) -> Any:
        """Three articles, and what the engine's own hostile statements name: nothing that may change."""
        return self.build(*_STOCK, *self.under_test.hostile_setup)

    def _statements(self, texts: Sequence[str]) -> tuple[SetupStatement, ...]:
        spelling = self.under_test.spelling
        return tuple(SetupStatement(respelled(text, spelling), Place("setup.sql", 1)) for text in texts)


def read(database: Any, sql: str) -> Execution:
    """The result of one text in a reading session."""
    with database.reading() as session:
        return session.execute(sql)  # type: ignore[no-any-return]


def rows(database: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of one query that must succeed."""
    result = read(database, sql)
    if isinstance(result, SqlError):
        raise AssertionError(f"{sql}: {result}")  # noqa: TRY004 - a failed test, not a wrong argument
    return list(result.rows)
