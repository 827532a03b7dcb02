"""The tables and columns that a database has, as mutation needs them: names, rough types, and what is known to be unique."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nl2sql_gate.records import Column, Schema, Table

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
    """One column: its name, the kind of its values, and what is known of them. `whole`: numbers without a fraction."""

    name: str
    kind: Kind = "unknown"
    nullable: bool = True
    unique: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Columns by table in lower case, with each table's keys; empty where no schema is known.

    `keys` are sets of columns that are never NULL and never equal in two rows. `references` holds, for each table, what a foreign
    key of one column says: (column, other table, other column). All names are in lower case.
    """

    tables: Mapping[str, tuple[Named, ...]]
    keys: Mapping[str, tuple[frozenset[str], ...]]
    references: Mapping[str, frozenset[tuple[str, str, str]]]

    def columns(self, table: str) -> tuple[Named, ...]:
        """The columns of `table`, none where it is not known."""
        return self.tables.get(table.lower(), ())


NOTHING_KNOWN = Catalogue({}, {}, {})


def catalogue_of(schema: Schema | None) -> Catalogue:
    """The catalogue of a schema; nothing known where there is none."""
    if schema is None:
        return NOTHING_KNOWN
    tables: dict[str, tuple[Named, ...]] = {}
    keys: dict[str, tuple[frozenset[str], ...]] = {}
    references: dict[str, frozenset[tuple[str, str, str]]] = {}
    for table in schema.tables:
        key = tuple(column.name for column in table.columns if column.primary_key)
        uniques = [frozenset(name.lower() for name in names) for names in (key, *table.unique) if names]
        columns = tuple(_named(column, uniques, table) for column in table.columns)
        nullable = {column.name.lower() for column in columns if column.nullable}
        name = table.name.lower()
        tables[name] = columns
        keys[name] = tuple(unique for unique in uniques if not unique & nullable)
        references[name] = frozenset(
            (here[0].lower(), other.lower(), there[0].lower())
            for here, other, there in table.foreign_keys
            if len(here) == len(there) == 1
        )
    return Catalogue(tables, keys, references)


def kind_of(type_name: str) -> Kind:
    """The kind of values that a declared type holds."""
    lowered = type_name.lower()
    return next((kind for pattern, kind in _KINDS if pattern.search(lowered)), "unknown")


def _named(column: Column, uniques: list[frozenset[str]], table: Table) -> Named:
    return Named(
        column.name,
        kind_of(column.type),
        # What a view's columns may hold is not declared: no error is made that needs a NULL there.
        nullable=column.nullable and not column.primary_key and not table.is_view,
        unique=frozenset((column.name.lower(),)) in uniques,
        whole="int" in column.type.lower() or "serial" in column.type.lower(),
    )
