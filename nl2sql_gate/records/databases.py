"""What builds a database, what bounds the work in it, what runs it, and what its catalogue says."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql_gate.records.items import Place, Warned
from nl2sql_gate.records.results import Cell


@dataclass(frozen=True, slots=True)
class SetupStatement:
    """One statement of a setup script, unedited, with the place of its first word.

    `data` holds the lines that follow PostgreSQL's `COPY … FROM stdin`, as a dump has them.
    """

    text: str
    place: Place
    data: str = ""


@dataclass(frozen=True, slots=True)
class TableData:
    """Rows for one table. `columns` is empty where the file has no header: then rows are positional."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class DatabaseSource:
    """All that builds one database in one dialect, in order: pre, setup, tables, post. `digest` covers all of it.

    `sqlite_file` is the path of a SQLite file to be copied instead, where `dialect` is sqlite; the rest is then empty.
    `transpiled_from` is the dialect whose scripts or files this was translated from; `warnings` say what could not be.
    """

    name: str
    dialect: str
    digest: str
    pre: tuple[SetupStatement, ...] = ()
    setup: tuple[SetupStatement, ...] = ()
    tables: tuple[TableData, ...] = ()
    post: tuple[SetupStatement, ...] = ()
    sqlite_file: str = ""
    transpiled_from: str = ""
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one statement. `None` is no limit."""

    statement_s: float = 30.0
    rows: int = 100_000
    bytes: int | None = None
    memory_mb: int | None = None
    max_clone_mb: int = 512


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """What runs the SQL: product and version as the server says, and how we came to it (embedded, given, container)."""

    name: str
    dialect: str
    product: str
    version: str
    way: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column as the catalogue has it; `samples` are distinct values as text, at most as many as were asked for."""

    name: str
    type: str
    nullable: bool = True
    primary_key: bool = False
    comment: str = ""
    default: str = ""
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """One table with its keys. `foreign_keys` holds `(columns, other table, other columns)`."""

    name: str
    columns: tuple[Column, ...]
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    comment: str = ""
    is_view: bool = False
    ddl: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one database, by name; `ddl` is what a prompt shows."""

    database: str
    dialect: str
    tables: tuple[Table, ...]
    ddl: str
