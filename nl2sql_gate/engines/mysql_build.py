"""Builds a MySQL or MariaDB database from a database source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pymysql

from nl2sql_gate.engines.mysql_blueprint import is_generated
from nl2sql_gate.engines.mysql_cluster import quoted
from nl2sql_gate.engines.mysql_session import lost
from nl2sql_gate.engines.provision_errors import fails
from nl2sql_gate.engines.setup_statements import chooses_database
from nl2sql_gate.records import DatabaseSource, Json, SetupStatement, TableData
from nl2sql_gate.sqltext import with_database_renamed

_TRUTH = {"true": 1, "false": 0}
_REFERS_TO_NOTHING = 1452
_CLIENT_ERRORS = range(2000, 3000)


def build(source: DatabaseSource, connection: pymysql.Connection[Any], database: str) -> None:
    """Fill `database`, in which the connection is, and which is empty. Raises `ProvisionError` with the statement or the row."""
    pre, post = (
        [replace(one, text=with_database_renamed(one.text, source.dialect, name=source.name, actual=database)) for one in each]
        for each in ((*source.pre, *source.setup), source.post)
    )
    _run(connection, pre, source.dialect)
    _load(connection, source.tables)
    _run(connection, post, source.dialect)


def _run(connection: pymysql.Connection[Any], statements: Sequence[SetupStatement], dialect: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            if chooses_database(statement.text):
                continue
            try:
                cursor.execute(statement.text)
            except (pymysql.MySQLError, UnicodeError) as error:
                if error.args and error.args[0] in _CLIENT_ERRORS:
                    raise lost(error) from error
                raise fails(f"a setup statement fails on {dialect}", _words(error), statement.place, statement.text) from error


def _load(connection: pymysql.Connection[Any], tables: Sequence[TableData]) -> None:
    waiting = list(tables)
    while waiting:
        refused: list[tuple[TableData, Exception]] = []
        for table in waiting:
            try:
                _insert(connection, table)
            except pymysql.MySQLError as error:
                connection.rollback()
                if error.args and error.args[0] == _REFERS_TO_NOTHING:
                    # Files come in no particular order: the table that it refers to may be next.
                    refused.append((table, error))
                    continue
                raise fails(f"the rows of table {table.table} cannot be inserted", _words(error), table.place) from error
        if len(refused) == len(waiting):
            table, last = refused[0]
            raise fails(f"the rows of table {table.table} cannot be inserted", _words(last), table.place) from last
        waiting = [table for table, _ in refused]


def _insert(connection: pymysql.Connection[Any], table: TableData) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name, column_type, extra FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND LOWER(table_name) = LOWER(%s) ORDER BY table_name <> %s, ordinal_position",
            (table.table, table.table),
        )
        described = list(cursor.fetchall())
        if not described:
            raise fails(f"there is no table {table.table}", "its rows have nowhere to go", table.place)
        name = described[0][0]
        types = {row[1]: row[2].lower() for row in described if row[0] == name and not is_generated(row[3])}
        low = {column.lower(): column for column in types}
        missing = [column for column in table.columns if column.lower() not in low]
        if missing:
            raise fails(f"table {table.table} has no column {missing[0]}", "the header names it", table.place)
        columns = [low[column.lower()] for column in table.columns] or list(types)
        wide = next((number for number, row in enumerate(table.rows, start=1) if len(row) != len(columns)), 0)
        if wide:
            raise fails(f"row {wide} of table {table.table} has not {len(columns)} cells", "the table's columns", table.place)
        booleans = [types[column] in {"tinyint(1)", "bit(1)", "boolean"} for column in columns]
        listed = ", ".join(quoted(column).replace("%", "%%") for column in columns)
        insert = f"INSERT INTO {quoted(name).replace('%', '%%')} ({listed}) VALUES ({', '.join(['%s'] * len(columns))})"
        connection.begin()
        cursor.executemany(
            insert, [[_bound(cell, boolean=b) for cell, b in zip(row, booleans, strict=True)] for row in table.rows]
        )
        connection.commit()


def _bound(cell: Any, *, boolean: bool) -> Any:
    if boolean and isinstance(cell, str):
        return _TRUTH.get(cell.strip().lower(), cell)
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, Json):
        return json.dumps(cell.value, ensure_ascii=False)
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return cell if cell is None or isinstance(cell, int | float | str | bytes) or hasattr(cell, "isoformat") else str(cell)


def _words(error: BaseException) -> str:
    return str(error.args[1]) if len(error.args) > 1 else str(error)
