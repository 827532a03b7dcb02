"""PostgreSQL values as cells. What Python cannot hold stays the server's own text, so that fetching never fails."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from psycopg import postgres
from psycopg.adapt import Buffer, Loader

from nl2sql_gate.records import Json

if TYPE_CHECKING:
    from psycopg.abc import AdaptContext

_MONEY = re.compile(r"(-?)\$([\d,]+(?:\.\d+)?)\Z")

TABLE: dict[str, str] = {
    "smallint, integer, bigint, oid": "int",
    "numeric": "Decimal, also NaN and infinity",
    "real, double precision": "float, also NaN and infinity",
    "money": "Decimal; the text where it is no dollar amount",
    "boolean": "bool",
    "text, varchar, char, name, enum, xml, tsvector, geometric types, bit": "str, the server's text",
    "bytea": "bytes",
    "date, timestamp": "date, datetime; the text where Python has none (infinity, BC, beyond 9999)",
    "timestamptz": "datetime with zone UTC; else the text",
    "time, timetz": "time; 24:00:00 as text",
    "interval": "timedelta; the text where it has months or years",
    "uuid": "UUID",
    "json, jsonb": "Json",
    "arrays": "list",
    "ranges, multiranges, inet, cidr, macaddr, records": "str, the server's text",
}
"""Types to cells, for the documentation."""

_WITH_FALLBACK = ("date", "timestamp", "timestamptz", "time", "timetz")
_AS_TEXT = ("inet", "cidr", "record", "hstore")


def as_text(data: Buffer) -> str:
    """The server's text of a value."""
    return bytes(data).decode(errors="backslashreplace")


class TextLoader(Loader):
    """The server's text, whatever the type."""

    def load(self, data: Buffer) -> str:
        """The value as text."""
        return as_text(data)


class TolerantTextLoader(Loader):
    """Text, or its bytes where they are no UTF-8 (a database in SQL_ASCII)."""

    def load(self, data: Buffer) -> str | bytes:
        """The value as text where it is text."""
        raw = bytes(data)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw


class JsonLoader(Loader):
    """A document as `Json`."""

    def load(self, data: Buffer) -> Json | str:
        """The parsed document; its text where it is nested too deeply to parse."""
        try:
            return Json(json.loads(bytes(data)))
        except (ValueError, RecursionError):
            return as_text(data)


class MoneyLoader(Loader):
    """An amount as `Decimal`."""

    def load(self, data: Buffer) -> Decimal | str:
        """The amount; the text where the locale writes it another way."""
        text = as_text(data)
        found = _MONEY.match(text)
        return Decimal(found[1] + found[2].replace(",", "")) if found else text


class _Falling(Loader):
    """The driver's loader, then the server's text."""

    driver: type[Loader]

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        # The driver may refuse at construction already, for a date style that the SQL itself has set.
        try:
            self._inner: Loader | None = self.driver(oid, context)
        except Exception:  # noqa: BLE001 -- any refusal means: keep the text
            self._inner = None

    def load(self, data: Buffer) -> Any:
        """The driver's value where it has one."""
        if self._inner is None:
            return as_text(data)
        try:
            return self._inner.load(data)
        except Exception:  # noqa: BLE001 -- infinity, BC, year 10000, 24:00: each raises in its own way
            return as_text(data)


class _IntervalLoader(_Falling):
    """A duration as `timedelta`, unless it counts months: a month is not thirty days."""

    def load(self, data: Buffer) -> Any:
        """The duration, or its text."""
        raw = bytes(data)
        return as_text(data) if b"mon" in raw or b"year" in raw else super().load(data)


def register(context: Any) -> None:
    """Make a connection give cells."""
    types = postgres.types
    adapters = context.adapters
    for name in _WITH_FALLBACK:
        oid = types[name].oid
        driver = adapters.get_loader(oid, 0)
        adapters.register_loader(oid, type(f"Falling{name.title()}", (_Falling,), {"driver": driver}))
    oid = types["interval"].oid
    adapters.register_loader(oid, type("FallingInterval", (_IntervalLoader,), {"driver": adapters.get_loader(oid, 0)}))
    adapters.register_loader("json", JsonLoader)
    adapters.register_loader("jsonb", JsonLoader)
    adapters.register_loader("money", MoneyLoader)
    for info in types:
        if info.name in _AS_TEXT or info.name.endswith(("range", "multirange")):
            adapters.register_loader(info.oid, TextLoader)


def register_tolerant_text(context: Any) -> None:
    """Make a connection give bytes for text that is no UTF-8."""
    for name in ("text", "varchar", "bpchar", "name", "unknown", '"char"'):
        context.adapters.register_loader(name, TolerantTextLoader)
