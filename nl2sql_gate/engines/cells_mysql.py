"""MySQL and MariaDB values as cells: PyMySQL's own conversions, but for bits and documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions

from nl2sql_gate.records import Json

TABLE: dict[str, str] = {
    "integers, BOOLEAN, YEAR": "int",
    "DECIMAL": "Decimal",
    "FLOAT, DOUBLE": "float",
    "BIT": "int",
    "CHAR, VARCHAR, TEXT, ENUM, SET, UUID, INET6": "str",
    "BINARY, BLOB, spatial types": "bytes",
    "DATE, DATETIME, TIMESTAMP": "date, datetime; zero and partial dates as text",
    "TIME": "timedelta, also beyond 24 hours",
    "JSON": "Json on MySQL; str on MariaDB, where JSON is a text type",
}
"""Types to cells, for the documentation."""


def _bits(raw: Any) -> int:
    return int.from_bytes(raw, "big") if isinstance(raw, bytes) else int(raw)


def _document(text: Any) -> Any:
    try:
        return Json(json.loads(text))
    except (ValueError, RecursionError):
        return text


CONVERSIONS: dict[Any, Callable[..., Any]] = {**conversions, FIELD_TYPE.BIT: _bits, FIELD_TYPE.JSON: _document}
"""What a connection does with values in both directions."""
