"""Values of any driver as cells: what is no plain value becomes a list, a document, bytes or text."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from nl2sql_gate.records import Json, Row

TABLE: dict[str, str] = {
    "numbers, text, dates, times, booleans": "as the driver gives them",
    "binary": "bytes",
    "arrays, vectors": "list",
    "structs, maps, documents": "Json where the driver parses them, else str",
    "large objects": "their content",
    "everything else": "str",
}
"""Types to cells, for the documentation."""

_PLAIN = (str, int, float, bool, Decimal, bytes, dt.date, dt.time, dt.timedelta, uuid.UUID, type(None))


def row_of(fetched: Sequence[Any]) -> Row:
    """A driver's row as cells."""
    return tuple(cell if cell.__class__ in _PLAIN else _cell(cell) for cell in fetched)


def _cell(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, Mapping):
        return Json({str(name): _inside(part) for name, part in value.items()})
    if isinstance(value, list | tuple):
        return [_cell(part) for part in value]
    if hasattr(value, "read"):
        # A handle on a large object, good only while its connection lives.
        return _cell(value.read())
    if hasattr(value, "tolist"):
        return _cell(value.tolist())
    return str(value)


def _inside(value: Any) -> Any:
    """A value inside a document, as JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _inside(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_inside(part) for part in value]
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
