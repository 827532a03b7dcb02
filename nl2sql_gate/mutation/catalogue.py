"""The tables and columns that a database has, as mutation needs them: names, rough types, and what is known to be unique."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nl2sql_gate.records import Column, Schema

Kind = Literal["number", "text", "time", "bool", "other", "unknown"]

_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"bool|tinyint\(1\)"), "bool"),
    (re.compile(r"interval|json|blob|binary|bytea|array|\[\]|geo|point"), "other"),
    (re.compile(r"date|time|year"), "time"),
    (re.compile(r"char|text|clob|string|enum|uuid|name"), "text"),
    (re.compile(r"int|serial|dec|num|real|double|float|money|bit"), "number"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """One column: its name, the kind of its values, whether it may be NULL, and whether no two rows have the same value."""

    name: str
    kind: Kind = "unknown"
    nullable: bool = True
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Columns by table in lower case, with each table's keys; empty where no schema is known."""

    tables: Mapping[str, tuple[Named, ...]]
    keys: Mapping[str, tuple[frozenset[str], ...]]

    def columns(self, table: str) -> tuple[Named, ...]:
        """The columns of `table`, none where it is not known."""
        return self.tables.get(table.lower(), ())


NOTHING_KNOWN = Catalogue({}, {})


def catalogue_of(schema: Schema | None) -> Catalogue:
    """The catalogue of a schema; nothing known where there is none."""
    if schema is None:
        return NOTHING_KNOWN
    tables: dict[str, tuple[Named, ...]] = {}
    keys: dict[str, tuple[frozenset[str], ...]] = {}
    for table in schema.tables:
        key = tuple(column.name for column in table.columns if column.primary_key)
        uniques = [frozenset(name.lower() for name in names) for names in (key, *table.unique) if names]
        keys[table.name.lower()] = tuple(uniques)
        tables[table.name.lower()] = tuple(_named(column, uniques) for column in table.columns)
    return Catalogue(tables, keys)


def kind_of(type_name: str) -> Kind:
    """The kind of values that a declared type holds."""
    lowered = type_name.lower()
    return next((kind for pattern, kind in _KINDS if pattern.search(lowered)), "unknown")


def _named(column: Column, uniques: list[frozenset[str]]) -> Named:
    return Named(
        column.name,
        kind_of(column.type),
        nullable=column.nullable and not column.primary_key,
        unique=frozenset((column.name.lower(),)) in uniques,
    )
