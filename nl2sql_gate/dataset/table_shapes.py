"""Tables apart from any dialect, and the statements that make them in one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nl2sql_gate.dataset.column_types import ColumnType, spelled

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARKS = {"mysql": "``", "mariadb": "``", "sqlserver": "[]", "bigquery": "``"}
_SAME_TYPES = frozenset({"mysql", "mariadb", "sqlserver"})
SCHEMAS = frozenset({"postgres", "duckdb", "sqlserver"})
"""Dialects in which a table may lie in a schema of the database; elsewhere the schema's name is left out."""


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """One column. `default` is SQL that every dialect understands, or empty."""

    name: str
    type: ColumnType
    is_nullable: bool = True
    default: str = ""
    is_serial: bool = False


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` refer to `parent_columns` of `parent`; those are empty where the parent's primary key is meant."""

    columns: tuple[str, ...]
    parent: tuple[str, str]
    parent_columns: tuple[str, ...] = ()


@dataclass(slots=True)
class TableShape:
    """One table; `schema` is empty for the dialect's usual one."""

    name: str
    schema: str = ""
    columns: list[ColumnShape] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)

    def label(self, dialect: str) -> str:
        """The table's name as rows name it: with its schema where the dialect has such."""
        return f"{self.schema}.{self.name}" if self.schema and dialect in SCHEMAS else self.name


def statements_for(tables: Sequence[TableShape], dialect: str) -> tuple[list[str], list[str]]:
    """(the statements before the rows, those after them: foreign keys, which need their parents' rows).

    DuckDB cannot add a foreign key to a table with rows and has none here; SQLite declares them at once, since it checks none
    while rows come.
    """
    if dialect in _SAME_TYPES:
        _share_types(tables)
    quote = _quoter(dialect)
    schemas = dict.fromkeys(table.schema for table in tables if table.schema and dialect in SCHEMAS)
    before = [f"CREATE SCHEMA {quote(schema)}" for schema in schemas]
    after: list[str] = []
    for table in tables:
        lines = [f"{quote(column.name)} {_definition(column, table, dialect)}" for column in table.columns]
        if table.primary_key and not _is_rowid(table, dialect):
            lines.append(f"PRIMARY KEY ({_list(table.primary_key, quote)})")
        lines += [f"UNIQUE ({_list(columns, quote)})" for columns in table.unique]
        for key in table.foreign_keys:
            text = f"FOREIGN KEY ({_list(key.columns, quote)}) REFERENCES {_path(key.parent, dialect, quote)}"
            text += f" ({_list(key.parent_columns, quote)})" if key.parent_columns else ""
            if dialect == "sqlite":
                lines.append(text)
            elif dialect != "duckdb":
                after.append(f"ALTER TABLE {_path((table.schema, table.name), dialect, quote)} ADD {text}")
        body = ",\n  ".join(lines)
        before.append(f"CREATE TABLE {_path((table.schema, table.name), dialect, quote)} (\n  {body}\n)")
    return before, after


def usable_keys(table: TableShape, tables: Sequence[TableShape]) -> list[ForeignKey]:
    """The foreign keys of a table whose parent is there and unique in their columns: most databases take no others."""
    by_name = {(parent.schema, parent.name.lower()): parent for parent in tables}
    usable = []
    for key in table.foreign_keys:
        parent = by_name.get((key.parent[0], key.parent[1].lower()))
        if parent is None:
            continue
        wanted = {name.lower() for name in key.parent_columns or parent.primary_key}
        if wanted and any({name.lower() for name in rule} == wanted for rule in (parent.primary_key, *parent.unique)):
            usable.append(key)
    return usable


def _share_types(tables: Sequence[TableShape]) -> None:
    """Give the columns of foreign keys their parents' types, which some databases insist on."""
    by_name = {(table.schema, table.name.lower()): table for table in tables}
    for table in tables:
        for key in table.foreign_keys:
            parent = by_name.get((key.parent[0], key.parent[1].lower()))
            if parent is None:
                continue
            types = {column.name.lower(): column.type for column in parent.columns}
            wanted = dict(zip(key.columns, key.parent_columns or parent.primary_key, strict=False))
            for at, column in enumerate(table.columns):
                if column.name in wanted:
                    table.columns[at] = replace(column, type=types.get(wanted[column.name].lower(), column.type))


def _definition(column: ColumnShape, table: TableShape, dialect: str) -> str:
    keys = {*table.primary_key, *(name for columns in table.unique for name in columns)}
    keys |= {name for key in table.foreign_keys for name in key.columns}
    is_key = column.name in keys
    if column.name in table.primary_key and _is_rowid(table, dialect):
        return "INTEGER PRIMARY KEY"
    text = spelled(column.type, dialect, is_key=is_key)
    if column.is_serial and table.primary_key == (column.name,):
        text += {"postgres": " GENERATED BY DEFAULT AS IDENTITY", "mysql": " AUTO_INCREMENT", "mariadb": " AUTO_INCREMENT"}.get(
            dialect, ""
        )
    elif column.default and not (
        dialect in {"mysql", "mariadb"} and column.type.kind in {"text", "json", "bytes"} and not is_key
    ):
        text += f" DEFAULT {column.default}"
    return text if column.is_nullable and column.name not in table.primary_key else f"{text} NOT NULL"


def _is_rowid(table: TableShape, dialect: str) -> bool:
    """Whether the key is SQLite's own row number, which counts on by itself."""
    if dialect != "sqlite" or len(table.primary_key) != 1:
        return False
    kinds = {column.name: column.type.kind for column in table.columns}
    return kinds.get(table.primary_key[0]) in {"smallint", "integer", "bigint"}


def _path(name: tuple[str, str], dialect: str, quote: Callable[[str], str]) -> str:
    schema, table = name
    return f"{quote(schema)}.{quote(table)}" if schema and dialect in SCHEMAS else quote(table)


def _list(names: Sequence[str], quote: Callable[[str], str]) -> str:
    return ", ".join(map(quote, names))


def _quoter(dialect: str) -> Callable[[str], str]:
    """Names quoted; in PostgreSQL plain ones folded to lower case first, as they are wherever SQL names them without quotes."""
    marks = _MARKS.get(dialect, '""')

    def quote(name: str) -> str:
        text = name.lower() if dialect == "postgres" and _PLAIN.fullmatch(name) else name
        return marks[0] + text.replace(marks[1], marks[1] * 2) + marks[1]

    return quote
