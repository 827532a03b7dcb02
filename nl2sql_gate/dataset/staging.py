"""Rows of a script, had by running its INSERTs once in DuckDB, in memory and shut in: then they are values, not expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from nl2sql_gate.dataset.column_types import ColumnType, converted
from nl2sql_gate.dataset.postgres_to_char import to_char
from nl2sql_gate.dataset.script_tables import ScriptTables, UntranslatableError, without_schema
from nl2sql_gate.dataset.table_shapes import TableShape
from nl2sql_gate.records import Cell

_READ_AS_THEY_ARE = frozenset({"postgres", "sqlite", "duckdb"})
"""Dialects whose INSERTs DuckDB mostly reads itself, a hundred times faster than a translation."""

_UNITS = {"MIN": "MINUTE", "MINS": "MINUTE", "SEC": "SECOND", "SECS": "SECOND", "HR": "HOUR", "HRS": "HOUR", "MON": "MONTH"}
_TYPES = {
    "smallint": "SMALLINT", "integer": "INTEGER", "bigint": "BIGINT", "real": "REAL", "double": "DOUBLE", "boolean": "BOOLEAN",
    "date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP", "bytes": "BLOB",
}  # fmt: skip
_AS_TEXT = frozenset({"decimal", "money"})


class Staging:
    """A scratch database with the script's tables."""

    def __init__(self, dialect: str, tables: ScriptTables) -> None:
        import duckdb

        self._dialect = dialect
        self._tables = tables
        self._connection = duckdb.connect()
        self._schemas: set[str] = set()
        self._sequences = 0
        # Setup scripts are the author's, yet nothing in them has business with files or the network.
        for statement in (
            "SET TimeZone = 'UTC'",
            "SET enable_external_access = false",
            "SET autoinstall_known_extensions = false",
            "CREATE SCHEMA public",
            "SET schema = 'public'",
        ):
            self._connection.execute(statement)
        # The scripts' own function; DuckDB has none of this name.
        self._connection.create_function("to_char", to_char, ["TIMESTAMPTZ", "VARCHAR"], "VARCHAR", side_effects=False)

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()

    def create(self, table: TableShape) -> None:
        """An empty table that takes what the script's own would take; without keys, which the target checks.

        Raises `UntranslatableError`.
        """
        import duckdb

        schema = table.schema or "public"
        if schema not in self._schemas:
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}")
            self._schemas.add(schema)
        parts = []
        for column in table.columns:
            text = f"{_quoted(column.name)} {_staged(column.type)}"
            if column.is_serial:
                self._sequences += 1
                self._connection.execute(f"CREATE SEQUENCE serial_{self._sequences}")
                text += f" DEFAULT nextval('serial_{self._sequences}')"
            elif column.default:
                text += f" DEFAULT {column.default}"
            parts.append(text)
        try:
            self._connection.execute(f"CREATE OR REPLACE TABLE {_path(table)} ({', '.join(parts)})")
        except duckdb.Error as error:
            raise UntranslatableError(_words(error)) from error

    def fit(self, table: TableShape) -> None:
        """Add the columns that an ALTER TABLE added."""
        described = self._connection.execute(f"DESCRIBE {_path(table)}").fetchall()
        for column in table.columns[len(described) :]:
            default = f" DEFAULT {column.default}" if column.default else ""
            self._connection.execute(
                f"ALTER TABLE {_path(table)} ADD COLUMN {_quoted(column.name)} {_staged(column.type)}{default}"
            )

    def run(self, sql: str) -> None:
        """Run one INSERT, UPDATE or DELETE of the script. Raises `UntranslatableError`."""
        import duckdb

        if self._dialect in _READ_AS_THEY_ARE:
            try:
                self._connection.execute(_usual_schema(sql))
            except duckdb.Error:
                pass
            else:
                return
        try:
            self._connection.execute(_usual_schema(self._translated(sql)))
        except duckdb.Error as error:
            raise UntranslatableError(_words(error)) from error

    def rows(self, table: TableShape) -> tuple[tuple[Cell, ...], ...]:
        """All rows of a table in the order in which they came."""
        found = self._connection.execute(f"SELECT * FROM {_path(table)} ORDER BY rowid").fetchall()
        exact = [i for i, column in enumerate(table.columns) if column.type.kind in _AS_TEXT]
        if not exact:
            return tuple(found)
        return tuple(_with_decimals(row, exact) for row in found)

    def _translated(self, sql: str) -> str:
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        tree = self._tables.parsed(sql)
        without_schema(tree, every=False)
        for interval in tree.find_all(exp.Interval):
            unit = interval.args.get("unit")
            if unit is not None and unit.name.upper() in _UNITS:
                interval.set("unit", exp.var(_UNITS[unit.name.upper()]))
        try:
            return str(tree.sql(dialect="duckdb"))
        except SqlglotError as error:
            raise UntranslatableError(str(error)) from error


def _words(error: Exception) -> str:
    """What the database says, without the picture of the statement."""
    return " ".join(str(error).split("\n\n")[0].split())[:300]


def _with_decimals(row: Sequence[Any], exact: Sequence[int]) -> tuple[Cell, ...]:
    cells = list(row)
    for index in exact:
        cells[index] = converted(cells[index], ColumnType("decimal"))
    return tuple(cells)


def _staged(wanted: ColumnType) -> str:
    """The scratch type. Decimals without a scale stay text here, since DuckDB would give them three digits."""
    if wanted.kind == "decimal" and wanted.arguments:
        return f"DECIMAL({', '.join(map(str, wanted.arguments))})"
    return _TYPES.get(wanted.kind, "VARCHAR")


def _usual_schema(sql: str) -> str:
    """`main` is a schema of DuckDB's own, `main.t` a table of SQLite's only database."""
    return re.sub(r"(?i)^(\s*insert\s+into\s+)main\.", r"\1", sql)


def _path(table: TableShape) -> str:
    return f"{_quoted(table.schema or 'public')}.{_quoted(table.name)}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
