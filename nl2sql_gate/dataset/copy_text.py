"""The lines of PostgreSQL's COPY … FROM stdin, as a dump has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nl2sql_gate.dataset.column_types import ColumnType, converted
from nl2sql_gate.records import Cell

_ONE_NAME = r'(?:"(?:[^"]|"")+"|[\w$]+)'
_HEAD = re.compile(
    rf"\s*COPY\s+(?:ONLY\s+)?({_ONE_NAME}(?:\.{_ONE_NAME})?)\s*(?:\(((?:{_ONE_NAME}|[\s,])*)\))?\s*FROM\s+stdin\b([^;]*)",
    re.IGNORECASE,
)
_NAME = re.compile(r"\"((?:[^\"]|\"\")+)\"|([\w$]+)")
_ESCAPE = re.compile(r"\\(?:([bfnrtv\\])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def copy_head(sql: str) -> tuple[str, str, tuple[str, ...]] | None:
    """(schema or nothing, table, columns) of a COPY in text format; `None` where it is not one."""
    found = _HEAD.match(sql)
    if found is None or re.search(r"\b(?:csv|binary|delimiter|null)\b", found.group(3), re.IGNORECASE):
        return None
    path = _names(found.group(1))
    schema = path[0] if len(path) > 1 and path[0] != "public" else ""
    return schema, path[-1], tuple(_names(found.group(2) or ""))


def copy_rows(data: str, types: Sequence[ColumnType]) -> tuple[tuple[Cell, ...], ...]:
    """The rows of the lines, each cell by its column's type. Raises `ValueError` with the number of the line."""
    rows = []
    for number, line in enumerate(data.split("\n"), start=1):
        text = line.removesuffix("\r")
        if not text and number > data.count("\n"):
            break
        cells = text.split("\t")
        if len(cells) != len(types):
            message = f"line {number} of the data has {len(cells)} cells, the table {len(types)} columns"
            raise ValueError(message)
        try:
            rows.append(tuple(_cell(cell, wanted) for cell, wanted in zip(cells, types, strict=True)))
        except ValueError as error:
            message = f"line {number} of the data: {error}"
            raise ValueError(message) from error
    return tuple(rows)


def _cell(text: str, wanted: ColumnType) -> Cell:
    if text == "\\N":
        return None
    if "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    if wanted.kind == "bytes" and text.startswith("\\x"):
        return bytes.fromhex(text[2:])
    return converted(text, wanted)


def _unescaped(found: re.Match[str]) -> str:
    letter, octal, digits, other = found.groups()
    if letter:
        return _LETTERS[letter]
    if octal:
        return chr(int(octal, 8))
    return chr(int(digits, 16)) if digits else other


def _names(text: str) -> list[str]:
    return [quoted.replace('""', '"') if quoted else plain for quoted, plain in _NAME.findall(text)]
