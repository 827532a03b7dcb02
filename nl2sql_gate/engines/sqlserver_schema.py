"""Reads the schema of a SQL Server database as a prompt shows it."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from typing import Any

import pyodbc

from nl2sql_gate.engines.schema_text import assemble, samples_of, table_ddl
from nl2sql_gate.engines.sqlserver_catalogue import (
    ColumnFacts,
    TableFacts,
    qualified,
    read_catalogue,
    select_list,
)
from nl2sql_gate.records import Column, Schema, Table

_SAMPLED_ROWS = 1000
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED_WORDS = """
add all alter and any as asc authorization backup begin between break browse bulk by cascade case check checkpoint close
clustered coalesce collate column commit compute constraint contains containstable continue convert create cross current
current_date current_time current_timestamp current_user cursor database dbcc deallocate declare default delete deny
desc disk distinct distributed double drop dump else end errlvl escape except exec execute exists exit external fetch
file fillfactor for foreign freetext freetexttable from full function goto grant group having holdlock identity
identity_insert identitycol if in index inner insert intersect into is join key kill left like lineno load merge
national nocheck nonclustered not null nullif of off offsets on open opendatasource openquery openrowset openxml option
or order outer over percent pivot plan precision primary print proc procedure public raiserror read readtext reconfigure
references replication restore restrict return revert revoke right rollback rowcount rowguidcol rule save schema
securityaudit select session_user set setuser shutdown some statistics system_user table tablesample textsize then to
top tran transaction trigger truncate try_convert tsequal union unique unpivot update updatetext use user values varying
view waitfor when where while with within writetext
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


def quote(name: str) -> str:
    """A name, quoted where T-SQL needs it; upper and lower case need it not."""
    if _PLAIN.match(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def read_schema(connection: Any, database: str, *, sample_values: int) -> Schema:
    """Tables first, then views, dbo first, each by name. Samples are met in the table's first rows."""
    facts = read_catalogue(connection).tables
    tables = []
    for table in facts.values():
        rows = _first_rows(connection, table) if sample_values else []
        key = table.primary_key
        columns = tuple(
            _column(column, primary=column.name in key, samples=samples_of(rows, index, count=sample_values) if rows else ())
            for index, column in enumerate(table.columns.values())
        )
        foreign = tuple(
            (table.called(key.columns), facts[key.other].name, facts[key.other].called(key.referred))
            for key in table.foreign_keys
            if key.other in facts
        )
        unique = tuple(
            table.called([number for number, _ in index.keys])
            for index in table.indexes
            if index.unique and not index.primary and not index.where
        )
        shown = Table(table.name, columns, tuple(sorted(foreign)), tuple(sorted(unique)), table.comment, table.is_view)
        tables.append(replace(shown, ddl=_ddl(shown, table, facts)))
    return assemble(database, "sqlserver", tables)


def _ddl(shown: Table, table: TableFacts, facts: dict[int, TableFacts]) -> str:
    if table.is_view and table.definition:
        return table.definition.strip()
    dotted = {found.name: found for found in facts.values() if found.schema != "dbo"}

    def quoted(name: str) -> str:
        found = dotted.get(name)
        return f"{quote(found.schema)}.{quote(found.bare)}" if found is not None else quote(name)

    return table_ddl(shown, quoted)


def _column(column: ColumnFacts, *, primary: bool, samples: tuple[str, ...]) -> Column:
    kind = f"{column.type} IDENTITY" if column.identity else column.type
    return Column(
        name=column.name,
        type=f"AS {column.computed}" if column.computed else kind,
        nullable=column.nullable or bool(column.computed),
        primary_key=primary,
        comment=column.comment,
        default=column.default,
        samples=samples,
    )


def _first_rows(connection: Any, table: TableFacts) -> list[Any]:
    query = f"SELECT TOP ({_SAMPLED_ROWS}) {select_list(table)} FROM {qualified(table)}"
    try:
        with closing(connection.cursor()) as cursor:
            return [tuple(row) for row in cursor.execute(query).fetchall()]
    except pyodbc.Error:
        # A view may divide by zero; then it has no samples to show.
        return []
