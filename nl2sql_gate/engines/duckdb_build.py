"""Builds a DuckDB file from a database source: scripts, rows, scripts."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from nl2sql_gate.engines.duckdb_session import lock, settings
from nl2sql_gate.engines.provision_errors import fails
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import DatabaseSource, Json, Limits, SetupStatement, TableData

_CHUNK = 20_000


def build(source: DatabaseSource, path: Path, *, limits: Limits) -> None:
    """Write the database to `path`, all or nothing. Raises `ProvisionError` with the statement or the row."""
    # In a folder of its own, because the file's name is the database's to the scripts too.
    partial = path.parent / f"{os.getpid()}.{uuid.uuid4().hex[:8]}" / path.name
    try:
        partial.parent.mkdir()
        connection = duckdb.connect(str(partial), config={**settings(limits), "memory_limit": "4GB"})
        try:
            lock(connection)
            _run(connection, (*source.pre, *source.setup))
            _load(connection, source.tables)
            _run(connection, source.post)
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        partial.replace(path)
    except (duckdb.Error, OSError) as error:
        raise ProvisionError(
            f"the DuckDB file of database {source.name} cannot be written",
            where=[f"{path}: {error}"],
            meaning="The run did not start.",
            next_step="Check the folder, its permissions and the free space.",
        ) from error
    finally:
        shutil.rmtree(partial.parent, ignore_errors=True)


def quoted(name: str) -> str:
    """A name as DuckDB takes it whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _run(connection: duckdb.DuckDBPyConnection, statements: Sequence[SetupStatement]) -> None:
    for statement in statements:
        try:
            connection.execute(statement.text)
        except (duckdb.Error, RuntimeError, ValueError) as error:
            raise fails("a setup statement fails on duckdb", error, statement.place, statement.text) from error


def _load(connection: duckdb.DuckDBPyConnection, tables: Sequence[TableData]) -> None:
    waiting = list(tables)
    while waiting:
        refused: list[tuple[TableData, Exception]] = []
        for table in waiting:
            try:
                _insert(connection, table)
            except duckdb.ConstraintException as error:
                # Files come in no particular order: the table that it refers to may be next.
                if "foreign key" not in str(error).lower():
                    raise fails(f"the rows of table {table.table} cannot be inserted", error, table.place) from error
                refused.append((table, error))
            except duckdb.Error as error:
                raise fails(f"the rows of table {table.table} cannot be inserted", error, table.place) from error
        if len(refused) == len(waiting):
            table, last = refused[0]
            raise fails(f"the rows of table {table.table} cannot be inserted", last, table.place) from last
        waiting = [table for table, _ in refused]


def _insert(connection: duckdb.DuckDBPyConnection, table: TableData) -> None:
    known = connection.execute(
        "SELECT schema_name, table_name, list(column_name ORDER BY column_index) FILTER (NOT is_generated) FROM duckdb_columns()"
        " WHERE NOT internal AND (lower(table_name) = lower(?) OR lower(schema_name || '.' || table_name) = lower(?))"
        " GROUP BY schema_name, table_name",
        [table.table, table.table],
    ).fetchall()
    if not known:
        raise fails(f"there is no table {table.table}", "its rows have nowhere to go", table.place)
    schema, name, all_columns = next((row for row in known if row[0] == "main"), known[0])
    low = {column.lower(): column for column in all_columns}
    missing = [column for column in table.columns if column.lower() not in low]
    if missing:
        raise fails(f"table {table.table} has no column {missing[0]}", "the header names it", table.place)
    columns = [low[column.lower()] for column in table.columns] or all_columns
    wide = next((number for number, row in enumerate(table.rows, start=1) if len(row) != len(columns)), 0)
    if wide:
        raise fails(f"row {wide} of table {table.table} has not {len(columns)} cells", "the table's columns", table.place)
    # As texts, column by column: each column's own type decides what they mean, and a list is one parameter.
    marks = ", ".join("unnest(?::VARCHAR[])" for _ in columns)
    insert = f"INSERT INTO {quoted(schema)}.{quoted(name)} ({', '.join(map(quoted, columns))}) SELECT {marks}"
    connection.execute("BEGIN")
    try:
        for start in range(0, len(table.rows), _CHUNK):
            chunk = table.rows[start : start + _CHUNK]
            connection.execute(insert, [[_text(row[i]) for row in chunk] for i in range(len(columns))])
        connection.execute("COMMIT")
    except duckdb.Error:
        connection.execute("ROLLBACK")
        raise


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes):
        return "".join(f"\\x{byte:02X}" for byte in cell)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, Json):
        return json.dumps(cell.value, ensure_ascii=False)
    if isinstance(cell, dict):
        return json.dumps(cell, ensure_ascii=False, default=str)
    if isinstance(cell, list):
        return "[" + ", ".join("NULL" if inner is None else str(_text(inner)) for inner in cell) + "]"
    return str(cell)
