"""The two kinds of CSV that a setup directory holds, and what their cells mean.

*Without a header* (EvalBench): rows are positional and every cell is an SQL literal: `'text'`, `12`, `1.50`, `true`, `NULL`.
*With a header*: the first row names the columns and cells are plain values: nothing is NULL, `""` is the empty text.

The first row is a header where every cell is a column of the table's CREATE TABLE. Where that statement is not to be seen in
setup.sql, it is one where all cells are different plain names and none is a literal (`NULL`, `true`); a wrong guess then fails
loudly, since the table has no such columns. Literal texts are in single quotes and so never look like a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from nl2sql_gate.dataset.csv_rows import CsvFault, CsvRow
from nl2sql_gate.records import Cell

_NAME = re.compile(r"[^\W\d][\w$ ]*")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,3}))?")
_HEX = re.compile(r"[xX]'((?:[0-9A-Fa-f]{2})*)'")
_LONGEST_NUMBER = 1000
_NULLS = frozenset({"", "null", "none"})
_TRUTH = {"true": True, "false": False, "t": True, "f": False, "1": True, "0": False}
_BOOLEAN_TYPE = re.compile(r"bool|bit(?:\(1\))?$|tinyint\(1\)", re.IGNORECASE)
_NUMBER_TYPE = re.compile(
    r"(?:u?(?:tiny|small|medium|big|huge)?int(?:eger|\d+)?|(?:small|big)?serial\d?|(?:big)?numeric|dec(?:imal)?|number|real"
    r"|float\d*|double)\b",
    re.IGNORECASE,
)


def is_header(row: CsvRow, columns: Mapping[str, str] | None) -> bool:
    """Whether `row` names columns; `columns` maps the lower-case names of the table's columns to types, `None` where unknown.

    Raises `CsvFault` where some of its cells are columns and others are plain names that are not.
    """
    cells = [cell.strip() for cell in row.cells]
    lowered = [cell.lower() for cell in cells]
    if columns is None:
        plain = all(_NAME.fullmatch(cell) and cell.lower() not in _NULLS | {"true", "false"} for cell in cells)
        return plain and len(set(lowered)) == len(cells)
    foreign = [cell for cell in cells if cell.lower() not in columns]
    if not foreign:
        repeated = sorted({cell for cell in lowered if lowered.count(cell) > 1})
        if repeated:
            raise CsvFault(f"the header names {', '.join(repeated)} twice", row.line)
        return True
    if len(foreign) < len(cells) and all(_NAME.fullmatch(cell) for cell in cells):
        raise CsvFault(
            f"the first row looks like a header, but the table has no column {', '.join(foreign[:5])}; "
            "if it is data, put its texts into single quotes",
            row.line,
        )
    return False


def literal_cells(row: CsvRow, types: Sequence[str]) -> tuple[Cell, ...]:
    """The values of a row of SQL literals. A bare word is a text, as EvalBench's own files have it."""
    return tuple(_literal(cell, types[index] if index < len(types) else "", row) for index, cell in enumerate(row.cells))


def plain_cells(row: CsvRow, types: Sequence[str]) -> tuple[Cell, ...]:
    """The values of a row of plain cells: numbers and booleans where the column's declared type says so, else text."""
    return tuple(
        None if cell == "" and index not in row.quoted else _typed(cell, types[index] if index < len(types) else "")
        for index, cell in enumerate(row.cells)
    )


def _literal(text: str, declared: str, row: CsvRow) -> Cell:
    text = text.strip()
    lowered = text.lower()
    if lowered in _NULLS:
        return None
    if text[0] == "'" or lowered[:2] in {"n'", "e'"}:
        opening = text.index("'")
        if len(text) < opening + 2 or not text.endswith("'"):
            message = f"the text {text[:30]} has no closing single quote; a cell with a comma goes into double quotes"
            raise CsvFault(message, row.line)
        inner = text[opening + 1 : -1].replace("''", "'")
        return _typed(inner, declared) if _BOOLEAN_TYPE.match(declared) else inner
    if lowered in {"true", "false"}:
        return lowered == "true"
    found = _HEX.fullmatch(text)
    return bytes.fromhex(found.group(1)) if found else _number(text)


def _typed(text: str, declared: str) -> Cell:
    if _BOOLEAN_TYPE.match(declared):
        return _TRUTH.get(text.strip().lower(), text)
    return _number(text.strip(), otherwise=text) if _NUMBER_TYPE.match(declared) else text


def _number(text: str, *, otherwise: str | None = None) -> Cell:
    """An int or a Decimal, exactly; the text itself where it is none, or longer than any database takes."""
    convert: Callable[[str], Cell] | None = int if _INTEGER.fullmatch(text) else Decimal if _NUMBER.fullmatch(text) else None
    if convert is None or len(text) > _LONGEST_NUMBER:
        return text if otherwise is None else otherwise
    return convert(text)
