"""Cells as JSON, and back.

Text, booleans, null, whole numbers within ±2⁵³ and finite binary floats are themselves; an array is a JSON array.
Everything else is an object with one key that names the type, so that no reader takes a decimal for a float or rounds a long id:

    {"decimal": "1.10"}  {"float": "nan"}  {"int": "9007199254740993"}  {"bytes": "dead"}  {"uuid": "…"}
    {"date": "2024-01-02"}  {"datetime": "2024-01-02T03:04:05+00:00"}  {"time": "03:04:05"}  {"interval_us": 93600000000}
    {"json": …}  {"json_text": "[NaN]"}  {"struct": [["key", cell], …]}  {"text": "192.0.2.1", "type": "IPv4Address"}

The last is a driver value of a type that the package does not know: it is kept as text and comes back as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from nl2sql_gate.records import Cell, Json

EXACT = 2**53
"""Beyond this, readers that hold numbers as binary floats would change a whole number."""

_MICROSECOND = timedelta(microseconds=1)


def encode_cell(cell: Cell) -> Any:
    """Plain JSON for one cell; never NaN or infinity, never a number that other readers would round."""
    if cell is None or cell is True or cell is False or type(cell) is str:
        return cell
    encoder = _ENCODERS.get(type(cell))
    return encoder(cell) if encoder else _by_instance(cell)


def decode_cell(value: Any) -> Cell:
    """The cell that `encode_cell` made `value` from. Raises `ValueError` on an object that names no type known here."""
    if isinstance(value, list):
        return [decode_cell(each) for each in value]
    if not isinstance(value, dict):
        return value
    for tag, decoder in _DECODERS.items():
        if tag in value:
            try:
                return decoder(value[tag])
            except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
                message = f"{value[tag]!r} is no {tag}"
                raise ValueError(message) from error
    message = f"no type of cell is named by {', '.join(sorted(map(str, value))) or 'an empty object'}"
    raise ValueError(message)


def _float(cell: float) -> Any:
    return cell if math.isfinite(cell) else {"float": repr(float(cell))}


def _int(cell: int) -> Any:
    return cell if -EXACT <= cell <= EXACT else {"int": str(cell)}


def _json(cell: Json) -> Any:
    try:
        text = json.dumps(cell.value, allow_nan=False)
    except (TypeError, ValueError):
        # A document that another reader could not hold: NaN, or values of a driver's own types.
        return {"json_text": json.dumps(cell.value, default=str)}
    if any(character.isdigit() for character in text) and json.loads(text, parse_int=float) != cell.value:
        return {"json_text": text}
    return {"json": cell.value}


def _struct(cell: Mapping[Any, Any]) -> Any:
    return {"struct": [[encode_cell(key), encode_cell(each)] for key, each in cell.items()]}


def _sequence(cell: Any) -> Any:
    return [encode_cell(each) for each in cell]


def _bytes(cell: Any) -> Any:
    return {"bytes": bytes(cell).hex()}


_ENCODERS: dict[type, Callable[[Any], Any]] = {
    int: _int,
    float: _float,
    Decimal: lambda cell: {"decimal": str(cell)},
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    datetime: lambda cell: {"datetime": cell.isoformat()},
    date: lambda cell: {"date": cell.isoformat()},
    time: lambda cell: {"time": cell.isoformat()},
    timedelta: lambda cell: {"interval_us": cell // _MICROSECOND},
    UUID: lambda cell: {"uuid": str(cell)},
    Json: _json,
    list: _sequence,
    tuple: _sequence,
    dict: _struct,
}

_DECODERS: dict[str, Callable[[Any], Any]] = {
    "decimal": Decimal,
    "float": float,
    "int": int,
    "bytes": bytes.fromhex,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "interval_us": lambda value: timedelta(microseconds=value),
    "uuid": UUID,
    "json": Json,
    "json_text": lambda value: Json(json.loads(value)),
    "struct": lambda value: {_hashable(decode_cell(key)): decode_cell(each) for key, each in value},
    "text": str,
}


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def _by_instance(cell: Any) -> Any:
    """Drivers subclass: a `datetime` of pandas or an `int` that is an enum is still its base type."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, int):
        return _int(int(cell))
    if isinstance(cell, float):
        return _float(float(cell))
    for kind in (Decimal, datetime, date, time, timedelta, bytes, UUID):
        if isinstance(cell, kind):
            return _ENCODERS[kind](cell)
    if isinstance(cell, set | frozenset):
        return _sequence(sorted(cell, key=repr))
    return {"text": str(cell), "type": type(cell).__name__}
