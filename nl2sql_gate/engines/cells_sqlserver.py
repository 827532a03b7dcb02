"""SQL Server values as cells. What the driver cannot turn into a Python value is unpacked here, or stays text."""

from __future__ import annotations

import datetime as dt
import re
import struct
from typing import Any

TABLE: dict[str, str] = {
    "tinyint, smallint, int, bigint": "int",
    "decimal, numeric, money, smallmoney": "Decimal",
    "real, float": "float",
    "bit": "bool",
    "char, varchar, nchar, nvarchar, text, ntext, xml, json": "str",
    "binary, varbinary, image, rowversion": "bytes",
    "date, time": "date, time, to the microsecond",
    "datetime, datetime2, smalldatetime": "datetime, to the microsecond",
    "datetimeoffset": "datetime with its offset, to the microsecond",
    "uniqueidentifier": "UUID",
    "hierarchyid, geometry, geography": "str, as ToString() writes it; hexadecimal where that fails",
    "sql_variant": "the value's own type; with FreeTDS it cannot be read, which leaves the case unscored",
}
"""Types to cells, for the documentation."""

DATETIMEOFFSET, USER_DEFINED = -155, -151
_WHOLE_NUMBERS = (-15, -16, -25, -26, -28)
"""What Microsoft's driver calls the integers inside a sql_variant, for which pyodbc has no reader."""

_OFFSET_IN_VARIANT = 0x4001
_WIDE_TEXT = (-8, -9, -10)
_MICROSOFT_OFFSET = struct.Struct("<6hI2h")
_FREETDS_OFFSET = struct.Struct("<QihH")
_EPOCH = dt.datetime(1900, 1, 1)  # noqa: DTZ001 -- TDS counts days from here, in UTC
_OFFSET_TEXT = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? ?[+-]\d\d:\d\d\Z")


class UserDefined(bytes):
    """A value of a type that is a class in the server: its bytes, until the server says its text."""

    __slots__ = ()


def register(connection: Any) -> None:
    """Make a connection give cells."""
    connection.add_output_converter(DATETIMEOFFSET, datetimeoffset)
    connection.add_output_converter(USER_DEFINED, UserDefined)
    connection.add_output_converter(_OFFSET_IN_VARIANT, datetimeoffset)
    for kind in _WHOLE_NUMBERS:
        connection.add_output_converter(kind, whole_number)


def register_tolerant_text(connection: Any) -> None:
    """Make a connection give text that is no valid UTF-16 as well: half of a surrogate pair stays what it is."""
    for kind in _WIDE_TEXT:
        connection.add_output_converter(kind, tolerant_text)


def tolerant_text(raw: bytes) -> str:
    """UTF-16 as text, whatever it holds."""
    return raw.decode("utf-16-le", errors="surrogatepass" if len(raw) % 2 == 0 else "replace")


def whole_number(raw: bytes) -> int | None:
    """An integer as it lies in memory; nothing where the variant is NULL."""
    return int.from_bytes(raw, "little", signed=len(raw) > 1) if raw else None


def datetimeoffset(raw: bytes) -> dt.datetime | str:
    """A moment with its offset, as either driver packs it; hexadecimal text where it is neither's."""
    try:
        if _OFFSET_TEXT.match(raw.rstrip(b"\0")):
            return _from_text(raw.rstrip(b"\0").decode())
        if len(raw) == _MICROSOFT_OFFSET.size:
            year, month, day, hour, minute, second, nanoseconds, hours, minutes = _MICROSOFT_OFFSET.unpack(raw)
            zone = dt.timezone(dt.timedelta(hours=hours, minutes=minutes))
            return dt.datetime(year, month, day, hour, minute, second, nanoseconds // 1000, tzinfo=zone)
        if len(raw) == _FREETDS_OFFSET.size:
            ticks, days, minutes, _ = _FREETDS_OFFSET.unpack(raw)
            moment = _EPOCH + dt.timedelta(days=days, microseconds=ticks // 10)
            return moment.replace(tzinfo=dt.UTC).astimezone(dt.timezone(dt.timedelta(minutes=minutes)))
    except (ValueError, OverflowError):
        pass
    return hexadecimal(raw)


def hexadecimal(raw: bytes) -> str:
    """Bytes as T-SQL writes them."""
    return "0x" + raw.hex().upper()


def _from_text(text: str) -> dt.datetime:
    day, rest = text[:10], text[11:]
    clock, sign, offset = re.split(r" ?([+-])", rest, maxsplit=1)
    whole, _, fraction = clock.partition(".")
    return dt.datetime.fromisoformat(f"{day}T{whole}.{fraction[:6]:0<6}{sign}{offset}")
