"""Reads the schema of a SQLite file from its own catalogue."""

from __future__ import annotations

import sqlite3
from typing import Any

from nl2sql_gate.engines.schema_text import always, assemble, samples_of, table_ddl
from nl2sql_gate.engines.sqlite_build import quoted
from nl2sql_gate.records import Column, Schema, Table

_SAMPLED_ROWS = 1000


def read_schema(connection: sqlite3.Connection, database: str, *, sample_values: int) -> Schema:
    """Tables first, then views, each by name. Samples are met in the table's first rows."""
    listed = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " ORDER BY type = 'view', name"
    ).fetchall()
    shadows = {row[1] for row in connection.execute("PRAGMA table_list") if row[2] == "shadow"}
    return assemble(
        database,
        "sqlite",
        [_table(connection, name, kind, sql, sample_values) for name, kind, sql in listed if name not in shadows],
    )


def _table(connection: sqlite3.Connection, name: str, kind: str, sql: str | None, sample_values: int) -> Table:
    try:
        described = [row for row in connection.execute(f"PRAGMA table_xinfo({quoted(name)})") if row[6] != 1]
    except sqlite3.Error:
        # A view on something that is gone has no columns until it is back.
        described = []
    rows = _first_rows(connection, name, described) if sample_values else []
    keyed = sorted((row for row in described if row[5]), key=lambda row: row[5])
    columns = tuple(
        Column(
            name=row[1],
            type=row[2],
            nullable=not row[3] and not (row[5] and len(keyed) == 1 and str(row[2]).upper() == "INTEGER"),
            primary_key=bool(row[5]),
            default="" if row[4] is None else str(row[4]),
            samples=samples_of(rows, index, count=sample_values) if sample_values else (),
        )
        for index, row in enumerate(described)
    )
    bare = Table(
        name=name,
        columns=columns,
        foreign_keys=_foreign_keys(connection, name),
        unique=_unique(connection, name),
        is_view=kind == "view",
    )
    ddl = f"{sql};" if bare.is_view and sql else table_ddl(bare, always('"'))
    return Table(name, columns, bare.foreign_keys, bare.unique, "", bare.is_view, ddl)


def _first_rows(connection: sqlite3.Connection, name: str, described: list[Any]) -> list[Any]:
    if not described:
        return []
    columns = ", ".join(quoted(row[1]) for row in described)
    try:
        return connection.execute(f"SELECT {columns} FROM {quoted(name)} LIMIT {_SAMPLED_ROWS}").fetchall()
    except sqlite3.Error:
        return []


def _foreign_keys(connection: sqlite3.Connection, name: str) -> tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]:
    keys: dict[int, list[Any]] = {}
    for row in connection.execute(f"PRAGMA foreign_key_list({quoted(name)})"):
        keys.setdefault(row[0], []).append(row)
    return tuple(
        sorted(
            (
                tuple(row[3] for row in rows),
                rows[0][2],
                tuple(row[4] for row in rows) if rows[0][4] is not None else (),
            )
            for rows in keys.values()
        )
    )


def _unique(connection: sqlite3.Connection, name: str) -> tuple[tuple[str, ...], ...]:
    found = []
    for row in connection.execute(f"PRAGMA index_list({quoted(name)})").fetchall():
        # Origin `u` is a UNIQUE constraint; a partial unique index constrains only some rows.
        if row[2] and row[3] != "pk" and not row[4]:
            columns = tuple(info[2] for info in connection.execute(f"PRAGMA index_info({quoted(row[1])})"))
            if all(columns):
                found.append(columns)
    return tuple(sorted(set(found)))
