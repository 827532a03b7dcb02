"""DuckDB values as cells, by the type that DuckDB gives each column."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from nl2sql_gate.records import Json, Row

_FIRST, _LAST = dt.datetime.min, dt.datetime.max  # noqa: DTZ901 -- readings of a clock on the wall, as the driver gives them

TABLE: dict[str, str] = {
    "integers, HUGEINT, UHUGEINT, BIGNUM": "int",
    "DECIMAL": "Decimal",
    "FLOAT, DOUBLE": "float, also NaN and infinity",
    "BOOLEAN": "bool",
    "VARCHAR, ENUM, BIT": "str",
    "BLOB": "bytes",
    "DATE": "date; the text where Python has none. DuckDB's driver gives infinity as 9999-12-31",
    "TIMESTAMP": "datetime, infinity as text; nanoseconds are cut to microseconds by the driver",
    "TIMESTAMPTZ": "datetime with zone UTC, infinity as text",
    "TIME, TIMETZ": "time; 24:00:00 as text",
    "INTERVAL": "timedelta; a month counts thirty days, as in DuckDB's own comparison",
    "UUID": "UUID",
    "JSON, STRUCT, MAP, UNION": "Json",
    "lists and arrays": "list",
}
"""Types to cells, for the documentation."""


def converters(description: Sequence[Sequence[Any]]) -> list[tuple[int, Callable[[Any], Any]]]:
    """The columns whose values need work, with what is to be done."""
    found = []
    for index, column in enumerate(description):
        convert = _converter(str(column[1]).upper())
        if convert is not None:
            found.append((index, convert))
    return found


def convert_rows(rows: Sequence[Row], needed: Sequence[tuple[int, Callable[[Any], Any]]]) -> list[Row]:
    """The rows as cells."""
    if not needed:
        return list(rows)
    converted = []
    for row in rows:
        cells = list(row)
        for index, convert in needed:
            if cells[index] is not None:
                cells[index] = convert(cells[index])
        converted.append(tuple(cells))
    return converted


def _converter(kind: str) -> Callable[[Any], Any] | None:
    if any(word in kind for word in ("STRUCT(", "MAP(", "UNION(", "VARIANT")):
        return _document
    if kind == "JSON":
        return _json
    if kind.endswith("]"):
        return _list_of(_converter(kind[: kind.rindex("[")]))
    if kind.startswith("TIMESTAMP"):
        return _zoned if "TIME ZONE" in kind else _timestamp
    return int if kind in {"BIGNUM", "VARINT"} else None


def _json(text: Any) -> Any:
    try:
        return Json(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return text


def _timestamp(value: Any) -> Any:
    # The driver has no other way to say infinity, and nobody stores the last microsecond of the year 9999.
    if value == _LAST:
        return "infinity"
    return "-infinity" if value == _FIRST else value


def _zoned(value: Any) -> Any:
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC)
    return _timestamp(value)


def _list_of(convert: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if convert is None:
        return None
    return lambda values: [None if value is None else convert(value) for value in values]


def _document(value: Any) -> Json:
    return Json(_plain(value))


def _plain(value: Any) -> Any:
    """A nested value in what JSON knows."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
