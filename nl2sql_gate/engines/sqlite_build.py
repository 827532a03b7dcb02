"""Builds a SQLite file from a database source: scripts, rows, scripts."""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

from nl2sql_gate.engines.provision_errors import fails
from nl2sql_gate.engines.sqlite_guard import WriteGuard
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import DatabaseSource, Json, SetupStatement, TableData

_TRUTH = {"true": 1, "false": 0}


def build(source: DatabaseSource, path: Path) -> None:
    """Write the database to `path`, all or nothing. Raises `ProvisionError` with the statement or the row."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}")
    try:
        with closing(sqlite3.connect(partial, isolation_level=None, cached_statements=0)) as connection:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            if source.sqlite_file:
                _copy(source, connection)
            # Setup scripts are the author's, yet nothing in them has business with other files.
            connection.set_authorizer(WriteGuard(is_near=False))
            _run(connection, (*source.pre, *source.setup))
            _load(connection, source.tables)
            _run(connection, source.post)
        partial.replace(path)
    except sqlite3.Error as error:
        raise ProvisionError(
            f"the SQLite file of database {source.name} cannot be written",
            where=[f"{path}: {error}"],
            meaning="The run did not start.",
            next_step="Check the folder, its permissions and the free space.",
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def _copy(source: DatabaseSource, connection: sqlite3.Connection) -> None:
    """Fill `connection` from the source's file, which is only read. A file in the middle of a write is copied whole."""
    uri = f"{Path(source.sqlite_file).as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as given:
            given.backup(connection)
    except sqlite3.Error as error:
        raise ProvisionError(
            f"the SQLite file of database {source.name} cannot be read",
            where=[f"{source.sqlite_file}: {error}"],
            meaning="The run did not start.",
            next_step="Give a whole SQLite database; one in WAL mode needs its -wal file beside it.",
        ) from error


def _run(connection: sqlite3.Connection, statements: Sequence[SetupStatement]) -> None:
    connection.execute("BEGIN")
    for statement in statements:
        # A pragma or a script's own transaction must not find one open.
        if connection.in_transaction and statement.text.lstrip()[:6].lower() in {"pragma", "begin", "begin;", "vacuum", "commit"}:
            connection.execute("COMMIT")
        try:
            connection.execute(statement.text).fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            if str(error) == "cannot commit - no transaction is active":
                continue
            raise fails("a setup statement fails on sqlite", error, statement.place, statement.text) from error
    if connection.in_transaction:
        connection.execute("COMMIT")


def _load(connection: sqlite3.Connection, tables: Sequence[TableData]) -> None:
    # Files come in no particular order; the rows are checked by nobody's foreign keys while they arrive.
    enforced = connection.execute("PRAGMA foreign_keys").fetchone()[0]
    connection.execute("PRAGMA foreign_keys=OFF")
    for table in tables:
        connection.execute("BEGIN")
        _insert(connection, table)
        connection.execute("COMMIT")
    connection.execute(f"PRAGMA foreign_keys={enforced}")


def _insert(connection: sqlite3.Connection, table: TableData) -> None:
    name = quoted(table.table)
    described = connection.execute(f"PRAGMA table_info({name})").fetchall()
    if not described:
        raise fails(f"there is no table {table.table}", "its rows have nowhere to go", table.place)
    types = {column[1].lower(): str(column[2]).upper() for column in described}
    columns = table.columns or tuple(column[1] for column in described)
    missing = [column for column in columns if column.lower() not in types]
    if missing:
        raise fails(f"table {table.table} has no column {missing[0]}", "the header names it", table.place)
    booleans = [index for index, column in enumerate(columns) if "BOOL" in types[column.lower()]]
    listed = f" ({', '.join(map(quoted, columns))})" if table.columns else ""
    insert = f"INSERT INTO {name}{listed} VALUES ({', '.join('?' * len(columns))})"
    rows = [_bound(row, booleans) for row in table.rows]
    try:
        connection.executemany(insert, rows)
    except (sqlite3.Error, OverflowError) as error:
        number, worst = _first_bad(connection, insert, rows)
        raise fails(f"row {number} of table {table.table} cannot be inserted", worst or error, table.place) from error


def _first_bad(connection: sqlite3.Connection, insert: str, rows: Sequence[Sequence[Any]]) -> tuple[int, object]:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    connection.execute("BEGIN")
    for number, row in enumerate(rows, start=1):
        try:
            connection.execute(insert, row)
        except (sqlite3.Error, OverflowError) as error:
            return number, error
    return 0, None


def _bound(row: Sequence[Any], booleans: Sequence[int]) -> list[Any]:
    bound: list[Any] = [cell if cell.__class__ in (str, int, float, bytes) or cell is None else _as_sqlite(cell) for cell in row]
    for index in booleans:
        if index < len(bound) and isinstance(bound[index], str):
            bound[index] = _TRUTH.get(bound[index].strip().lower(), bound[index])
    return bound


def _as_sqlite(cell: Any) -> Any:
    """SQLite stores integers, floats, text and blobs; everything else becomes the one that reads back best."""
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() and abs(cell) < 2**63 else float(cell)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    if isinstance(cell, Json):
        return json.dumps(cell.value, ensure_ascii=False)
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False, default=str)
    if isinstance(cell, bytearray | memoryview):
        return bytes(cell)
    return str(cell)


def quoted(name: str) -> str:
    """A name as SQLite takes it whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
