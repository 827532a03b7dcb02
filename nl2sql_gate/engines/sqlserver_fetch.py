"""Runs one T-SQL batch and takes the rows of its last result, within the limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import Any

from nl2sql_gate.engines.cells_sqlserver import UserDefined, hexadecimal
from nl2sql_gate.engines.statements import DEFAULT_BYTES, too_many_bytes, too_many_rows
from nl2sql_gate.records import Execution, Limits, ResultSet, Row

_NUMBER_WEIGHT = 8
_TYPES = ("hierarchyid", "geometry", "geography")
_AT_ONCE = 500
_CONTINUED = re.compile(r"\\(?=\r?\n)")

_DESCRIBE = (
    "SELECT column_ordinal, LOWER(CONCAT(user_type_name, ' ', assembly_qualified_type_name, ' ', system_type_name))"
    " FROM sys.dm_exec_describe_first_result_set({}, NULL, 0)"
)


def run(connection: Any, cursor: Any, batch: str, *, limits: Limits) -> Execution:
    """Run `batch`; of several results the last with columns counts. Raises the driver's errors."""
    # Braces are part of the text: the driver must not take them for its own escapes.
    with suppress(AttributeError):
        cursor.noscan = True
    cursor.execute(batch)
    shown: ResultSet | None = None
    count = -1
    while True:
        if cursor.description:
            found = _rows(cursor, limits)
            if not isinstance(found, ResultSet):
                return found
            shown = found
        else:
            count = cursor.rowcount
        if not cursor.nextset():
            break
    if shown is None:
        return ResultSet((), (), count)
    return _with_text(connection, batch, shown)


def text_size(limits: Limits) -> int:
    """How much of one value the server may send: just enough to tell that it passes the limit."""
    return min((limits.bytes or DEFAULT_BYTES) + 2, 2**31 - 1)


def _rows(cursor: Any, limits: Limits) -> Execution:
    columns = tuple(column[0] or "" for column in cursor.description)
    most = limits.bytes or DEFAULT_BYTES
    rows: list[Row] = []
    weight = 0
    # One at a time: a handful of wide rows can hold gigabytes. The driver fetches from its buffer all the same.
    for fetched in islice(iter(cursor.fetchone, None), limits.rows + 1):
        row = tuple(fetched)
        rows.append(row)
        weight += _weight(row)
        if weight > most:
            return too_many_bytes(most)
    if len(rows) > limits.rows:
        return too_many_rows(limits.rows)
    return ResultSet(columns, tuple(rows), cursor.rowcount)


def _weight(row: Row) -> int:
    total = 0
    for cell in row:
        kind = cell.__class__
        if kind is str:
            # As the server counts it: two bytes a letter.
            total += 2 * len(cell)
        elif kind is bytes or kind is bytearray or kind is UserDefined:
            total += len(cell)
        else:
            total += _NUMBER_WEIGHT
    return total


def _with_text(connection: Any, batch: str, result: ResultSet) -> ResultSet:
    """The result with the values of class types as text, which only the server can write.

    Microsoft's driver says which they are; FreeTDS gives them as any bytes, so that the server has to be asked.
    """
    marked = {i for row in result.rows for i, cell in enumerate(row) if cell.__class__ is UserDefined}
    suspect = marked or {i for row in result.rows for i, cell in enumerate(row) if cell.__class__ is bytes}
    if not suspect:
        return result
    kinds = _kinds(connection, batch)
    columns = {i: kinds.get(i, "") for i in suspect if i in marked or kinds.get(i)}
    if not columns:
        return result
    texts = {i: _texts(connection, kind, [row[i] for row in result.rows]) for i, kind in columns.items()}
    rows = tuple(
        tuple(texts[i][number] if i in columns else cell for i, cell in enumerate(row)) for number, row in enumerate(result.rows)
    )
    return ResultSet(result.columns, rows, result.rowcount)


def _kinds(connection: Any, batch: str) -> dict[int, str]:
    """The class type of each column, by position, as far as the server can tell without running the batch again."""
    import pyodbc

    with suppress(pyodbc.Error), closing(connection.cursor()) as cursor:
        described = cursor.execute(_DESCRIBE.format(literal(batch))).fetchall()
        return {int(row[0]) - 1: next((kind for kind in _TYPES if kind in str(row[1])), "") for row in described}
    return {}


def _texts(connection: Any, kind: str, values: Sequence[bytes | None]) -> list[str | None]:
    import pyodbc

    distinct = list(dict.fromkeys(value for value in values if value is not None))
    known: dict[bytes, str] = {}
    if kind:
        with suppress(pyodbc.Error), closing(connection.cursor()) as cursor:
            for start in range(0, len(distinct), _AT_ONCE):
                part = distinct[start : start + _AT_ONCE]
                listed = ", ".join(f"({number}, {hexadecimal(value)})" for number, value in enumerate(part))
                query = f"SELECT CAST(v.b AS {kind}).ToString() FROM (VALUES {listed}) AS v(n, b) ORDER BY v.n"
                known.update(zip(part, (row[0] for row in cursor.execute(query).fetchall()), strict=True))
    return [None if value is None else known.get(value, hexadecimal(value)) for value in values]


def literal(text: str) -> str:
    """`text` as a T-SQL literal that stands for exactly that text."""
    quoted = text.replace("'", "''")
    # A backslash before a line end would join the lines.
    parted = _CONTINUED.sub("\\\\' + N'", quoted)
    return f"N'{quoted}'" if parted == quoted else f"CAST(N'' AS nvarchar(max)) + N'{parted}'"
