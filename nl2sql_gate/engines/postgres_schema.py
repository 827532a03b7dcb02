"""Reads the schema of a PostgreSQL database from its catalogue."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import psycopg
from psycopg import sql

from nl2sql_gate.engines.schema_text import assemble, quoter, samples_of, table_ddl
from nl2sql_gate.records import Column, Schema, Table

_SAMPLED_ROWS = 1000

_TABLES = """
SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text, coalesce(obj_description(c.oid, 'pg_class'), ''),
       CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid, true) ELSE '' END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relkind IN ('v', 'm'), n.nspname <> 'public', n.nspname COLLATE "C", c.relname COLLATE "C"
"""

_COLUMNS = """
SELECT a.attrelid::int8, a.attnum::int4, a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       coalesce(col_description(a.attrelid, a.attnum), ''),
       CASE WHEN a.attidentity <> '' THEN 'IDENTITY'
            WHEN a.attgenerated <> '' THEN 'GENERATED ' || pg_get_expr(d.adbin, d.adrelid)
            ELSE coalesce(pg_get_expr(d.adbin, d.adrelid), '') END
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
"""

_KEYS = """
SELECT k.conrelid::int8, k.contype::text, k.conkey::int4[], coalesce(k.confrelid, 0)::int8, coalesce(k.confkey, '{}')::int4[]
FROM pg_constraint k WHERE k.conrelid = ANY(%s) AND k.contype IN ('p', 'u', 'f') ORDER BY k.conrelid, k.contype, k.conkey
"""

_ENUMS = """
SELECT t.oid::regtype::text, string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY t.oid ORDER BY 1
"""

_quote = quoter('"')


def read_schema(connection: psycopg.Connection[Any], database: str, *, sample_values: int) -> Schema:
    """Tables first, then views, `public` first, each by name. Samples are met in the table's first rows."""
    listed = connection.execute(_TABLES).fetchall()
    oids = [row[0] for row in listed]
    names = {row[0]: row[2] if row[1] == "public" else f"{row[1]}.{row[2]}" for row in listed}
    columns: dict[int, dict[int, Any]] = defaultdict(dict)
    for row in connection.execute(_COLUMNS, (oids,)).fetchall():
        columns[row[0]][row[1]] = row
    keys: dict[int, list[Any]] = defaultdict(list)
    for row in connection.execute(_KEYS, (oids,)).fetchall():
        keys[row[0]].append(row)
    enums = dict(connection.execute(_ENUMS).fetchall())
    tables = []
    for oid, schema, name, kind, comment, definition in listed:
        rows = _first_rows(connection, schema, name) if sample_values else []
        primary: list[int] = next((row[2] for row in keys[oid] if row[1] == "p"), [])
        found = tuple(
            Column(
                name=row[2],
                type=f"{row[3]} ({enums[row[3]]})" if row[3] in enums else row[3],
                nullable=row[4],
                primary_key=number in primary,
                comment=row[5],
                default=row[6],
                samples=samples_of(rows, index, count=sample_values) if sample_values else (),
            )
            for index, (number, row) in enumerate(columns[oid].items())
        )
        called = {number: row[2] for number, row in columns[oid].items()}
        foreign = tuple(
            (tuple(called[i] for i in row[2]), names.get(row[3], ""), tuple(columns[row[3]][i][2] for i in row[4]))
            for row in keys[oid]
            if row[1] == "f" and row[3] in names
        )
        unique = tuple(tuple(called[i] for i in row[2]) for row in keys[oid] if row[1] == "u")
        is_view = kind in {"v", "m"}
        shown = Table(names[oid], found, tuple(sorted(foreign)), tuple(sorted(unique)), comment, is_view)
        tables.append(_with_ddl(shown, schema=schema, definition=definition, materialized=kind == "m"))
    return assemble(database, "postgres", tables)


def _with_ddl(table: Table, *, schema: str, definition: str, materialized: bool) -> Table:
    if table.is_view:
        word = "MATERIALIZED VIEW" if materialized else "VIEW"
        comment = f"-- {' '.join(table.comment.split())}\n" if table.comment else ""
        ddl = f"{comment}CREATE {word} {dotted(table.name, schema)} AS\n{definition.strip()}"
    else:
        ddl = table_ddl(table, lambda name: dotted(name, schema) if name == table.name else _any(name))
    return Table(table.name, table.columns, table.foreign_keys, table.unique, table.comment, table.is_view, ddl)


def dotted(name: str, schema: str) -> str:
    """A table's name as SQL wants it; the schema public goes without saying."""
    return _quote(name) if schema == "public" else f"{_quote(schema)}.{_quote(name.removeprefix(schema + '.'))}"


def _any(name: str) -> str:
    return _quote(name)


def _first_rows(connection: psycopg.Connection[Any], schema: str, name: str) -> list[Any]:
    query = sql.SQL("SELECT * FROM {}.{} LIMIT {}").format(
        sql.Identifier(schema), sql.Identifier(name), sql.Literal(_SAMPLED_ROWS)
    )
    try:
        return connection.execute(query).fetchall()
    except psycopg.Error:
        return []
