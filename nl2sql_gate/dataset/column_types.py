"""Types of columns that every dialect has in some spelling, read from any SQL type, and inferred from the cells of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from nl2sql_gate.records import Cell

_MOST_DIGITS = 38
_INT_BITS = 31
_BIGINT_BITS = 63
_LONGEST_KEY = 255


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A kind with its arguments: `decimal (10, 2)`, `varchar (20)`, `integer`. An empty kind is one that we do not know."""

    kind: str
    arguments: tuple[int, ...] = ()


TEXT = ColumnType("text")

_SPELLINGS: dict[str, str] = {
    **dict.fromkeys(("int2", "smallint", "tinyint", "smallserial", "int1"), "smallint"),
    **dict.fromkeys(("int", "integer", "int4", "mediumint", "serial", "serial4", "signed", "year"), "integer"),
    **dict.fromkeys(("bigint", "int8", "bigserial", "serial8", "hugeint", "unsigned"), "bigint"),
    **dict.fromkeys(("decimal", "numeric", "dec", "number", "bignumeric"), "decimal"),
    **dict.fromkeys(("money", "smallmoney"), "money"),
    **dict.fromkeys(("real", "float4"), "real"),
    **dict.fromkeys(("double", "double precision", "float", "float8"), "double"),
    **dict.fromkeys(("bool", "boolean", "bit"), "boolean"),
    "date": "date",
    **dict.fromkeys(("time", "time without time zone", "timetz", "time with time zone"), "time"),
    **dict.fromkeys(("timestamp", "timestamp without time zone", "datetime", "datetime2", "smalldatetime"), "timestamp"),
    **dict.fromkeys(("timestamptz", "timestamp with time zone", "datetimeoffset"), "timestamptz"),
    **dict.fromkeys(("text", "clob", "longtext", "mediumtext", "tinytext", "ntext", "string", "citext", "name", "enum"), "text"),
    **dict.fromkeys(("varchar", "character varying", "nvarchar", "varchar2", "nvarchar2", "sysname"), "varchar"),
    **dict.fromkeys(("char", "character", "nchar", "bpchar"), "char"),
    **dict.fromkeys(("bytea", "blob", "longblob", "mediumblob", "tinyblob", "varbinary", "binary", "image"), "bytes"),
    **dict.fromkeys(("json", "jsonb"), "json"),
    **dict.fromkeys(("uuid", "uniqueidentifier"), "uuid"),
}
_NAMES: dict[str, dict[str, str]] = {
    "sqlite": {
        "smallint": "INTEGER", "bigint": "INTEGER", "decimal": "REAL", "real": "REAL", "double": "REAL", "varchar": "TEXT",
        "char": "TEXT", "bytes": "BLOB", "json": "TEXT", "uuid": "TEXT", "timestamptz": "TIMESTAMP", "money": "REAL",
    },
    "postgres": {
        "double": "DOUBLE PRECISION", "bytes": "BYTEA", "json": "JSONB", "timestamptz": "TIMESTAMPTZ", "money": "NUMERIC(19, 4)",
    },
    "mysql": {
        "timestamp": "DATETIME(6)", "timestamptz": "DATETIME(6)", "bytes": "LONGBLOB", "text": "LONGTEXT", "uuid": "CHAR(36)",
        "decimal": "DECIMAL(38, 10)", "real": "DOUBLE", "money": "DECIMAL(19, 4)", "time": "TIME(6)",
    },
    "duckdb": {
        "bytes": "BLOB", "timestamptz": "TIMESTAMPTZ", "decimal": "DECIMAL(38, 10)", "money": "DECIMAL(19, 4)",
        "varchar": "VARCHAR", "char": "VARCHAR", "text": "VARCHAR",
    },
    "sqlserver": {
        "double": "FLOAT", "boolean": "BIT", "timestamp": "DATETIME2", "timestamptz": "DATETIMEOFFSET", "text": "NVARCHAR(MAX)",
        "varchar": "NVARCHAR", "char": "NCHAR", "bytes": "VARBINARY(MAX)", "json": "NVARCHAR(MAX)", "uuid": "UNIQUEIDENTIFIER",
        "decimal": "DECIMAL(38, 10)", "integer": "INT",
    },
}  # fmt: skip
_SIZED = frozenset({"decimal", "varchar", "char"})
_NOT_SIZED = {"sqlite": _SIZED, "duckdb": frozenset({"varchar", "char"})}
_DECLARED = re.compile(
    r"([A-Za-z][A-Za-z0-9_ ]*?)\s*(?:\(\s*([^()]*)\s*\))?\s*(with(?:out)? time zone|varying)?\s*\Z", re.IGNORECASE
)


def type_of(declared: str) -> ColumnType:
    """What a declared type is; an empty kind where we do not know it (arrays, ranges, geometry)."""
    found = _DECLARED.match(declared.strip())
    if found is None:
        return ColumnType("")
    name = " ".join(found.group(1).lower().split())
    ending = (found.group(3) or "").lower()
    kind = _SPELLINGS.get(f"{name} {ending}".strip()) or _SPELLINGS.get(name, "")
    numbers = tuple(int(part) for part in (found.group(2) or "").split(",") if part.strip().isdecimal())
    if name == "tinyint" and numbers == (1,):
        return ColumnType("boolean")
    if name == "bit" and numbers and numbers != (1,):
        return ColumnType("")
    if kind in {"varchar", "char"} and not numbers:
        # CHAR without a length is one character; VARCHAR without is any text.
        return TEXT if kind == "varchar" else ColumnType("char", (1,))
    return ColumnType(kind, numbers if kind in _SIZED else ())


def spelled(wanted: ColumnType, dialect: str, *, is_key: bool = False) -> str:
    """How `dialect` spells a type. A key of text has a length where the dialect cannot have it otherwise."""
    dialect = "mysql" if dialect == "mariadb" else dialect
    kind = wanted.kind or "text"
    if is_key and kind == "text" and dialect in {"mysql", "sqlserver"}:
        kind, wanted = "varchar", ColumnType("varchar", (_LONGEST_KEY,))
    name = _NAMES.get(dialect, {}).get(kind, kind.upper())
    if wanted.arguments and kind not in _NOT_SIZED.get(dialect, frozenset()):
        return f"{name.partition('(')[0]}({', '.join(map(str, wanted.arguments))})"
    return "VARCHAR(4000)" if name in {"VARCHAR", "NVARCHAR"} and dialect in {"mysql", "sqlserver"} else name


_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[+-]?(?:0|[1-9][0-9]*)?\.[0-9]+|[+-]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_TIMESTAMP = re.compile(_DATE.pattern + r"[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?")
_TRUTH = {"true": True, "false": False}


def inferred(cells: Iterable[str | None]) -> ColumnType:
    """The narrowest type that holds every cell; `None` is NULL. Text where cells differ, where all are NULL, or by `007`."""
    present = [cell for cell in cells if cell is not None]
    if not present:
        return TEXT
    if all(cell.strip().lower() in _TRUTH for cell in present):
        return ColumnType("boolean")
    if all(_INTEGER.fullmatch(cell) for cell in present):
        bits = max(abs(int(cell)).bit_length() for cell in present) if max(map(len, present)) < _MOST_DIGITS else _BIGINT_BITS + 1
        return ColumnType("integer" if bits <= _INT_BITS else "bigint") if bits <= _BIGINT_BITS else TEXT
    if all(_DECIMAL.fullmatch(cell) for cell in present):
        scale = max(len(cell.partition(".")[2]) for cell in present)
        whole = max(len(cell.partition(".")[0].lstrip("+-")) for cell in present)
        return ColumnType("decimal", (max(whole, 1) + scale, scale)) if whole + scale <= _MOST_DIGITS else TEXT
    has_leading_zero = any(re.match(r"[+-]?0[0-9]", cell) for cell in present)
    if not has_leading_zero and all(_FLOAT.fullmatch(cell) for cell in present):
        return ColumnType("double")
    if all(_DATE.fullmatch(cell) for cell in present):
        return ColumnType("date")
    if all(_TIMESTAMP.fullmatch(cell) or _DATE.fullmatch(cell) for cell in present):
        return ColumnType("timestamp")
    return TEXT


def converted(cell: str | None, wanted: ColumnType) -> Cell:
    """A cell's text as a value of the type; dates and times stay text, which every database reads. Raises `ValueError`."""
    if cell is None:
        return None
    kind = wanted.kind
    if kind in {"smallint", "integer", "bigint"}:
        return int(cell)
    if kind in {"decimal", "money"}:
        return _decimal(cell)
    if kind in {"real", "double"}:
        return float(cell)
    if kind == "boolean":
        return _truth(cell)
    if kind == "timestamp":
        return cell.replace("T", " ", 1)
    return cell


def _decimal(cell: str) -> Decimal:
    try:
        return Decimal(cell)
    except InvalidOperation as error:
        message = f"{cell[:40]!r} is no number"
        raise ValueError(message) from error


def _truth(cell: str) -> bool:
    value = {**_TRUTH, "t": True, "f": False, "1": True, "0": False, "yes": True, "no": False}.get(cell.strip().lower())
    if value is None:
        message = f"{cell[:40]!r} is neither true nor false"
        raise ValueError(message)
    return value
