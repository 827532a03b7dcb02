"""The dataset: items, their SQL per dialect, and what was odd about the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nl2sql_gate.dialects import lookup_order

QueryType = Literal["dql", "dml", "ddl"]


@dataclass(frozen=True, slots=True)
class SqlField:
    """The SQL of one field of an item, per dialect: non-blank strings only, possibly none."""

    by_dialect: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    everywhere: tuple[str, ...] = ()

    def pick(self, dialect: str) -> tuple[str, ...]:
        """The SQL for `dialect`; MariaDB takes MySQL's where it has none of its own."""
        for name in lookup_order(dialect):
            if self.by_dialect.get(name):
                return self.by_dialect[name]
        return self.everywhere

    def __bool__(self) -> bool:
        """Whether any dialect has SQL here."""
        return bool(self.everywhere) or any(self.by_dialect.values())


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something stands; `line` counts from 1, 0 where unknown."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """`file:line`, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its golden SQL in every dialect that the author gives."""

    id: str
    question: str
    query_type: QueryType
    database: str
    dialects: tuple[str, ...]
    golden_sql: SqlField
    evidence: str = ""
    eval_query: SqlField = SqlField()
    setup_sql: SqlField = SqlField()
    cleanup_sql: SqlField = SqlField()
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    other: Mapping[str, Any] = field(default_factory=dict)
    columns: str = ""
    golden_mode: str = ""
    state: str = ""
    row_order: str = ""
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a user should know that stops nothing. `code` is stable, `subject` an item id or a file."""

    code: str
    message: str
    subject: str = ""
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items in file order, and what was odd about the file. `digest` is sha256 over the parsed content."""

    items: tuple[Item, ...]
    path: str
    digest: str
    warnings: tuple[Warned, ...] = ()
