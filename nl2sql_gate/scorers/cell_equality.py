"""When two cells are the same value.

| Cells | Equal when |
|---|---|
| NULL | both are NULL |
| NaN | both are NaN, binary or decimal |
| infinity | both are the same infinity |
| integers, decimals, booleans | exactly equal as numbers: 1 = 1.00 = true |
| numbers, one of them a binary float | within a relative 1e-9 |
| text | the same characters: no trimming, no case folding |
| date, time, interval, timestamp without zone | equal values of the same kind: a date is no timestamp, whatever its hour |
| timestamp with zone | the same instant; never equal to one without a zone |
| UUID | the same UUID, or its text in either case |
| bytes | the same bytes; never equal to text |
| array | element by element, by these rules |
| JSON document | the same content: key order is free, `true` is not 1; never equal to a text or to NULL |
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from datetime import datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from nl2sql_gate.records import Cell, Json

RELATIVE_TOLERANCE = 1e-9
"""How far two numbers may be apart where one of them is a binary float."""

_DAWN = datetime(1, 1, 1)  # noqa: DTZ001 - only differences to it are used
_NAN = ("nan",)
_UUID_TEXT = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_AS_IT_IS = frozenset({type(None), bool, int, str, bytes})


def cell_key(cell: Cell) -> Hashable:
    """A hashable value that is equal for two cells exactly when they are equal without tolerance."""
    kind = type(cell)
    if kind in _AS_IT_IS:
        return cell  # type: ignore[no-any-return]
    if kind is float:
        return _NAN if cell != cell else cell  # noqa: PLR0124 - only NaN differs from itself
    if isinstance(cell, Decimal):
        return _NAN if cell.is_nan() else cell
    if isinstance(cell, datetime | time):
        return _moment_key(cell)
    if isinstance(cell, UUID):
        return str(cell)
    if isinstance(cell, list | tuple):
        return ("list", tuple(map(cell_key, cell)))
    if isinstance(cell, Json):
        return ("json", _json_key(cell.value))
    if isinstance(cell, dict):
        return ("struct", frozenset((cell_key(name), cell_key(value)) for name, value in cell.items()))
    if isinstance(cell, bytearray | memoryview):
        return bytes(cell)
    return cell if isinstance(cell, Hashable) else repr(cell)


def uuid_text_key(cell: Cell) -> Hashable:
    """As `cell_key`, but a UUID written as text is read without regard to case, for columns whose other side holds UUIDs."""
    if isinstance(cell, str) and _UUID_TEXT.match(cell):
        return cell.lower()
    return cell_key(cell)


def equal_cells(golden: Cell, generated: Cell) -> bool:
    """Whether two cells are the same value, by the table above."""
    if type(golden) is type(generated) and type(golden) in _AS_IT_IS:
        return bool(golden == generated)
    if isinstance(golden, float) or isinstance(generated, float):
        if is_number(golden) and is_number(generated):
            return close_numbers(golden, generated)
    elif isinstance(golden, UUID) or isinstance(generated, UUID):
        return uuid_text_key(golden) == uuid_text_key(generated)
    elif isinstance(golden, list | tuple | dict | Json):
        return _equal_nested(golden, generated)
    return cell_key(golden) == cell_key(generated)


def is_number(cell: Cell) -> bool:
    """Whether a cell is a finite number; booleans are."""
    if isinstance(cell, int):
        return True
    return isinstance(cell, float | Decimal) and not (cell != cell or cell in (math.inf, -math.inf))  # noqa: PLR0124 - NaN


def close_numbers(one: Any, other: Any) -> bool:
    """Whether two finite numbers are equal: exactly, or within the tolerance where one of them is a binary float."""
    if one == other:
        return True
    if not (isinstance(one, float) or isinstance(other, float)):
        return False
    try:
        return math.isclose(float(one), float(other), rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)
    except OverflowError:  # an integer or decimal beyond the range of binary floats
        return False


def close_to_neighbour(one: Any, other: Any) -> bool:
    """As `close_numbers` with both taken for binary floats: true wherever two numbers could be equal in any company."""
    if one == other:
        return True
    try:
        return close_numbers(float(one), float(other))
    except OverflowError:
        return False


def skeleton(cell: Cell, numbers: list[Any]) -> Hashable:
    """The key of a cell with a placeholder for each finite number; the numbers are appended to `numbers` in a fixed order."""
    if is_number(cell):
        numbers.append(cell)
        return _NUMBER
    if isinstance(cell, list | tuple):
        return ("list", tuple(skeleton(part, numbers) for part in cell))
    if isinstance(cell, Json):
        return ("json", _json_skeleton(cell.value, numbers))
    if isinstance(cell, dict):
        return ("struct", tuple((cell_key(name), skeleton(cell[name], numbers)) for name in sorted(cell, key=repr)))
    return cell_key(cell)


def holds_float(cell: Cell) -> bool:
    """Whether a binary float stands in a cell, at any depth."""
    if isinstance(cell, float):
        return True
    if isinstance(cell, list | tuple):
        return any(map(holds_float, cell))
    if isinstance(cell, Json):
        return holds_float(cell.value)
    return isinstance(cell, dict) and any(map(holds_float, cell.values()))


_NUMBER = ("number",)


def _moment_key(cell: datetime | time) -> Hashable:
    if isinstance(cell, time):
        return cell
    offset = cell.utcoffset()
    if offset is None:
        return cell.replace(fold=0)
    # Python never calls two times equal that fall into the hour a clock goes back; as differences to a fixed point they are.
    return ("instant", cell.replace(tzinfo=None, fold=0) - _DAWN - offset)


def _json_key(value: Any) -> Hashable:
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return frozenset((name, _json_key(part)) for name, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_json_key, value))
    return cell_key(value)


def _json_skeleton(value: Any, numbers: list[Any]) -> Hashable:
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return ("object", tuple((name, _json_skeleton(value[name], numbers)) for name in sorted(value)))
    if isinstance(value, list | tuple):
        return tuple(_json_skeleton(part, numbers) for part in value)
    return skeleton(value, numbers)


def _equal_nested(golden: Cell, generated: Cell) -> bool:
    one: list[Any] = []
    other: list[Any] = []
    return skeleton(golden, one) == skeleton(generated, other) and all(map(close_numbers, one, other))
