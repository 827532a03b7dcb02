"""Builds a SQL Server database from a database source, as a login that owns this database and sees no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyodbc

from nl2sql_gate.engines.provision_errors import fails
from nl2sql_gate.engines.sqlserver_batches import run_to_end
from nl2sql_gate.engines.sqlserver_catalogue import bracketed, type_text
from nl2sql_gate.engines.sqlserver_cluster import SqlServerCluster
from nl2sql_gate.engines.sqlserver_errors import read, sql_error
from nl2sql_gate.engines.sqlserver_fetch import literal
from nl2sql_gate.errors import EngineFault, ServiceError
from nl2sql_gate.records import DatabaseSource, Json, SetupStatement, TableData

_REFERS_TO_NOTHING = 547
_ROWS_AT_ONCE = 20_000
_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_BINARY = frozenset({"binary", "varbinary", "image"})
_TEXT = frozenset({"char", "varchar", "nchar", "nvarchar", "text", "ntext", "sysname"})
_AS_IT_IS = frozenset({"text", "ntext", "json", "vector"})
_HEX = re.compile(r"(?:0x|\\x)((?:[0-9A-Fa-f]{2})*)\Z")

_WHOLE_DATABASE = re.compile(
    r"(?:CREATE|ALTER|DROP)\s+DATABASE\b(?!\s+SCOPED)|IF\b(?=.*\b(?:DROP|CREATE|ALTER)\s+DATABASE\b)|IF\b(?=.*\bsp_fulltext_database\b)",
    re.IGNORECASE | re.DOTALL,
)
_USE = re.compile(r"USE\s+(?:\[(?:[^\]]|\]\])+\]|\"[^\"]+\"|\w+)\s*;?", re.IGNORECASE)

_COLUMNS = """
SELECT SCHEMA_NAME(o.schema_id), o.name, c.name,
  COALESCE(TYPE_NAME(CASE c.system_type_id WHEN 240 THEN c.user_type_id ELSE c.system_type_id END), TYPE_NAME(c.user_type_id)),
  c.max_length, c.precision, c.scale, c.is_identity
FROM sys.tables AS o JOIN sys.columns AS c ON c.object_id = o.object_id
WHERE LOWER(o.name) = LOWER({name}) AND LOWER(SCHEMA_NAME(o.schema_id)) = LOWER({schema})
  AND c.is_computed = 0 AND c.generated_always_type = 0 AND c.system_type_id <> 189
ORDER BY c.column_id
"""


@dataclass(frozen=True, slots=True)
class _Target:
    """A column that takes a value: `kind` is the bare type, `type` the whole."""

    name: str
    kind: str
    type: str
    identity: bool


def build(source: DatabaseSource, cluster: SqlServerCluster, database: str) -> None:
    """Fill the empty database. Raises `ProvisionError` with the statement or the row, `ServiceError` where the server fails."""
    try:
        with closing(cluster.connect(database, login=cluster.writer)) as connection:
            _run(connection, (*source.pre, *source.setup))
            _load(connection, source.tables)
            _run(connection, source.post)
        cluster.hand_over(database)
    except EngineFault as fault:
        raise ServiceError("SQL Server failed while a database was built", where=fault.where) from fault


def batch_without_database(text: str) -> str:
    """The batch without what chooses a database, since each database here is ours; empty where nothing else is left."""
    from nl2sql_gate.sqltext import is_blank
    from nl2sql_gate.sqltext.lexis import after_trivia

    first = after_trivia(text, 0, "sqlserver")
    while found := _USE.match(text, first):
        text = text[: found.start()] + text[found.end() :]
        first = after_trivia(text, 0, "sqlserver")
    return "" if _WHOLE_DATABASE.match(text, first) or is_blank(text, "sqlserver") else text


def _run(connection: Any, statements: Sequence[SetupStatement]) -> None:
    for statement in statements:
        batch = batch_without_database(statement.text)
        if not batch:
            continue
        try:
            run_to_end(connection, batch)
        except (pyodbc.Error, UnicodeError) as error:
            raise fails("a setup statement fails on sqlserver", _words(error), statement.place, statement.text) from error


def _load(connection: Any, tables: Sequence[TableData]) -> None:
    waiting = list(tables)
    while waiting:
        refused: list[tuple[TableData, Exception]] = []
        for table in waiting:
            try:
                _insert(connection, table)
            except pyodbc.Error as error:
                with suppress(pyodbc.Error):
                    run_to_end(connection, "IF @@TRANCOUNT > 0 ROLLBACK")
                if read(error)[1] != _REFERS_TO_NOTHING:
                    raise _rows_fail(table, error) from error
                # Files come in no particular order: the table that it refers to may be next.
                refused.append((table, error))
        if len(refused) == len(waiting):
            raise _rows_fail(*refused[0]) from refused[0][1]
        waiting = [table for table, _ in refused]


def _rows_fail(table: TableData, error: Exception) -> Exception:
    return fails(f"the rows of table {table.table} cannot be inserted", _words(error), table.place)


def _insert(connection: Any, table: TableData) -> None:
    name, targets = _targets(connection, table)
    run_to_end(connection, "BEGIN TRANSACTION")
    identity = any(target.identity for target in targets)
    if identity:
        run_to_end(connection, f"SET IDENTITY_INSERT {name} ON")
    listed = ", ".join(bracketed(target.name) for target in targets)
    values = ", ".join(_converted(target, f"j.c{number}") for number, target in enumerate(targets))
    columns = ", ".join(f"c{number} nvarchar(max) '$[{number}]'" for number in range(len(targets)))
    for part in _parts(table.rows):
        cells = [[_text(cell, target) for cell, target in zip(row, targets, strict=True)] for row in part]
        rows = literal(json.dumps(cells))
        run_to_end(connection, f"INSERT INTO {name} ({listed}) SELECT {values} FROM OPENJSON({rows}) WITH ({columns}) AS j")
    if identity:
        run_to_end(connection, f"SET IDENTITY_INSERT {name} OFF")
    run_to_end(connection, "COMMIT TRANSACTION")


def _targets(connection: Any, table: TableData) -> tuple[str, list[_Target]]:
    """The table's name as SQL wants it, and the columns that the file fills, in its order."""
    schema, _, bare = table.table.rpartition(".")
    with closing(connection.cursor()) as cursor:
        found = cursor.execute(_COLUMNS.format(name=literal(table.table), schema=literal("dbo"))).fetchall()
        if not found and schema:
            found = cursor.execute(_COLUMNS.format(name=literal(bare), schema=literal(schema))).fetchall()
    if not found:
        raise fails(f"there is no table {table.table}", "its rows have nowhere to go", table.place)
    known = {row[2].lower(): _Target(row[2], row[3], type_text(row[3], *row[4:7]), bool(row[7])) for row in found}
    missing = [column for column in table.columns if column.lower() not in known]
    if missing:
        raise fails(f"table {table.table} has no column {missing[0]}", "the header names it", table.place)
    targets = [known[column.lower()] for column in table.columns] or list(known.values())
    wrong = next((number for number, row in enumerate(table.rows, start=1) if len(row) != len(targets)), 0)
    if wrong:
        raise fails(f"row {wrong} of table {table.table} has not {len(targets)} cells", "the table's columns", table.place)
    return f"{bracketed(found[0][0])}.{bracketed(found[0][1])}", targets


def _converted(target: _Target, value: str) -> str:
    """T-SQL that makes a value of the column's type out of text, and fails where that cannot be done."""
    if target.kind in _BINARY:
        return f"CONVERT(varbinary(max), {value}, 1)"
    if target.kind == "hierarchyid":
        return f"hierarchyid::Parse({value})"
    if target.kind in {"geometry", "geography"}:
        return f"{target.kind}::STGeomFromText({value}, {0 if target.kind == 'geometry' else 4326})"
    if target.kind == "sql_variant":
        return f"CAST({value} AS nvarchar(4000))"
    if target.kind in _TEXT | _AS_IT_IS:
        # An INSERT refuses what is too long, a CONVERT cuts it.
        return value
    return f"CONVERT({target.type}, {value})"


def _text(cell: Any, target: _Target) -> str | None:
    """A cell as the text that its column's type is made from."""
    if cell is None:
        return None
    if target.kind in _BINARY:
        return _hexadecimal(cell)
    if isinstance(cell, bool):
        return str(cell).lower() if target.kind in _TEXT else str(int(cell))
    if isinstance(cell, float) and target.kind in _INTEGERS and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, float) and target.kind in {"decimal", "numeric", "money", "smallmoney"}:
        return format(Decimal(repr(cell)), "f")
    if isinstance(cell, Decimal):
        return format(cell, "f")
    if isinstance(cell, Json | list | dict):
        return json.dumps(cell.value if isinstance(cell, Json) else cell, ensure_ascii=False, default=str)
    return str(cell)


def _hexadecimal(cell: Any) -> str:
    if isinstance(cell, bytes | bytearray | memoryview):
        return "0x" + bytes(cell).hex()
    found = _HEX.match(str(cell))
    return "0x" + (found[1] if found else str(cell).encode().hex())


def _parts(rows: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        yield rows[start : start + _ROWS_AT_ONCE]


def _words(error: Exception) -> str:
    return sql_error(error).message if isinstance(error, pyodbc.Error) else str(error)
