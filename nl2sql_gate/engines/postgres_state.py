"""What a PostgreSQL database holds: the template's tables, read when they are needed, and those that a session has touched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import psycopg
from psycopg import sql

from nl2sql_gate.records import State
from nl2sql_gate.state import Content, TableState, content_of
from nl2sql_gate.state.tables import MAX_ROWS

_USER = "n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
_NAME = "CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname"
_COLUMN_LIST = (
    "(SELECT string_agg(a.attname, ', ' ORDER BY u.ord) FROM unnest({key}) WITH ORDINALITY AS u(num, ord)"
    " JOIN pg_attribute a ON a.attrelid = {relation} AND a.attnum = u.num)"
)

_CATALOGUE = f"""
WITH rel AS (
  SELECT c.oid, c.relkind, {_NAME} AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE {_USER} AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e'))
SELECT CASE relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' ELSE 'table ' END || name AS thing,
       CASE WHEN relkind IN ('v', 'm') THEN jsonb_build_object('definition', pg_get_viewdef(oid))
         ELSE jsonb_build_object('table', name) END
  FROM rel
UNION ALL
SELECT 'column ' || r.name || '.' || a.attname, jsonb_build_object('table', r.name, 'name', a.attname,
    'type', format_type(a.atttypid, a.atttypmod), 'nullable', NOT a.attnotnull,
    'default', coalesce(pg_get_expr(d.adbin, d.adrelid), ''), 'generated', a.attgenerated <> '', 'identity', a.attidentity <> '')
  FROM rel r JOIN pg_attribute a ON a.attrelid = r.oid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p', 'f')
UNION ALL
SELECT CASE k.contype
    WHEN 'p' THEN 'primary key ' || r.name || '(' || {_COLUMN_LIST.format(key="k.conkey", relation="k.conrelid")} || ')'
    WHEN 'u' THEN 'unique ' || r.name || '(' || {_COLUMN_LIST.format(key="k.conkey", relation="k.conrelid")} || ')'
    WHEN 'f' THEN 'foreign key ' || r.name || '(' || {_COLUMN_LIST.format(key="k.conkey", relation="k.conrelid")} || ') → '
      || k.confrelid::regclass || '(' || {_COLUMN_LIST.format(key="k.confkey", relation="k.confrelid")} || ')'
    ELSE 'check ' || r.name || ' ' || pg_get_constraintdef(k.oid) END,
    jsonb_build_object('table', r.name) || CASE k.contype WHEN 'f' THEN
      jsonb_build_object('on delete', k.confdeltype, 'on update', k.confupdtype) ELSE '{{}}' END
  FROM rel r JOIN pg_constraint k ON k.conrelid = r.oid WHERE k.contype IN ('p', 'u', 'f', 'c', 'x')
UNION ALL
SELECT CASE WHEN i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
    THEN 'unique ' || r.name || '(' || {_COLUMN_LIST.format(key="i.indkey::int2[]", relation="i.indrelid")} || ')'
    ELSE CASE WHEN i.indisunique THEN 'unique index ' ELSE 'index ' END || r.name || ' '
      || substring(pg_get_indexdef(i.indexrelid) FROM ' USING (.*)$') END,
    jsonb_build_object('table', r.name)
  FROM rel r JOIN pg_index i ON i.indrelid = r.oid
  WHERE NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT 'trigger ' || r.name || '.' || t.tgname, jsonb_build_object('table', r.name, 'definition', pg_get_triggerdef(t.oid))
  FROM rel r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'sequence ' || {_NAME}, '{{}}' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE {_USER} AND c.relkind = 'S'
    AND NOT EXISTS (
      SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i', 'e'))
UNION ALL
SELECT 'enum ' || e.enumtypid::regtype, jsonb_build_object('values', string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder))
  FROM pg_enum e GROUP BY e.enumtypid
UNION ALL
SELECT 'routine ' || p.oid::regprocedure, jsonb_build_object('body', md5(p.prosrc))
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE {_USER} AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
UNION ALL
SELECT 'schema ' || n.nspname, '{{}}' FROM pg_namespace n WHERE {_USER} AND n.nspname <> 'public'
"""

_RELATIONS = f"""
SELECT c.oid::int8, {_NAME}, n.nspname::text, c.relname::text, c.relfilenode::int8,
  (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  (SELECT array_agg(a.attname::text ORDER BY u.ord)
    FROM pg_constraint k, unnest(k.conkey) WITH ORDINALITY AS u(num, ord), pg_attribute a
    WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attrelid = c.oid AND a.attnum = u.num)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {_USER} AND c.relkind IN ('r', 'p', 'f', 'm') AND NOT c.relispartition
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY 2
"""

# A row of the catalogue that is written anew carries another xmin; clones carry the template's. Much cheaper than reading it all.
_COUNTED = "(SELECT count(*) || ':' || coalesce(sum(xmin::text::int8), 0) FROM {} WHERE {} >= 16384)"
_CATALOGUES = {
    "pg_class": "oid",
    "pg_attribute": "attrelid",
    "pg_attrdef": "oid",
    "pg_constraint": "oid",
    "pg_index": "indexrelid",
    "pg_trigger": "oid",
    "pg_rewrite": "oid",
    "pg_type": "oid",
    "pg_enum": "oid",
    "pg_proc": "oid",
    "pg_namespace": "oid",
}
_FINGERPRINT = f"SELECT concat_ws(' ', {', '.join(_COUNTED.format(*entry) for entry in _CATALOGUES.items())})"

_IN_TRANSACTION = "SELECT relid::int8 FROM pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0"
_COMMITTED = "SELECT relid::int8 FROM pg_stat_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0"
FORCED_STATISTICS_SINCE = 150000


class PostgresTemplate:
    """The state in which every clone begins. Tables that no session touches are never read."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._state: State | None = None
        self._relations: list[tuple[Any, ...]] = []
        self._fingerprint = ""

    def state(self) -> State:
        """The same object every time, so that what nobody touched is equal without a look."""
        with self._lock:
            if self._state is None:
                with closing(self._connect()) as connection:
                    catalogue = _catalogue(connection)
                    relations = connection.execute(_RELATIONS).fetchall()
                    self._fingerprint = _fingerprint(connection)
                self._relations = relations
                self._state = State({row[1]: self._lazy(row) for row in relations}, catalogue)
            return self._state

    def after(self, connection: psycopg.Connection[Any], *, in_transaction: bool) -> State:
        """The state as a session's connection sees it."""
        template = self.state()
        touched = self._touched(connection, in_transaction=in_transaction)
        if _fingerprint(connection) == self._fingerprint:
            return self._with_rows(connection, touched)
        files = {row[0]: row[4] for row in self._relations}
        catalogue = _catalogue(connection)
        tables: dict[str, Any] = {}
        for row in connection.execute(_RELATIONS).fetchall():
            oid, name, file = row[0], row[1], row[4]
            same_shape = name in template.tables and tuple(row[5] or ()) == template.tables[name].columns
            if same_shape and touched is not None and oid not in touched and files.get(oid) == file:
                tables[name] = template.tables[name]
            else:
                tables[name] = _eager(connection, row)
        for thing, description in catalogue.items():
            if thing.startswith("view ") and template.catalogue.get(thing) != description:
                view = _view(connection, thing.removeprefix("view "), in_transaction=in_transaction)
                if view is not None:
                    tables[thing.removeprefix("view ")] = view
        return State(tables, catalogue)

    def _with_rows(self, connection: psycopg.Connection[Any], touched: set[int] | None) -> State:
        """The template's state with other rows in the touched tables."""
        template = self.state()
        if touched == set():
            return template
        fresh = {row[1]: _eager(connection, row) for row in self._relations if touched is None or row[0] in touched}
        return State({**template.tables, **fresh}, template.catalogue)

    def _touched(self, connection: psycopg.Connection[Any], *, in_transaction: bool) -> set[int] | None:
        """Tables with changed rows; `None` where the server cannot tell."""
        if connection.info.server_version < FORCED_STATISTICS_SINCE:
            return None
        if in_transaction:
            return {row[0] for row in connection.execute(_IN_TRANSACTION).fetchall()}
        if connection.info.transaction_status:
            return None
        connection.execute("SELECT pg_stat_force_next_flush()")
        return {row[0] for row in connection.execute(_COMMITTED).fetchall()}

    def _lazy(self, row: tuple[Any, ...]) -> TableState:
        def load() -> Content:
            with closing(self._connect()) as connection:
                return _content(connection, row[2], row[3])

        return TableState(row[5] or (), row[6] or (), load)


def _fingerprint(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(_FINGERPRINT).fetchone()
    return str(row[0]) if row else ""


def _catalogue(connection: psycopg.Connection[Any]) -> Mapping[str, Any]:
    return {
        thing: description.value
        for thing, description in sorted(connection.execute(_CATALOGUE).fetchall(), key=lambda row: row[0])
    }


def _eager(connection: psycopg.Connection[Any], row: tuple[Any, ...]) -> TableState:
    # Now, because the clone is put back before anybody compares.
    content = _content(connection, row[2], row[3])
    return TableState(row[5] or (), row[6] or (), lambda: content)


def _content(connection: psycopg.Connection[Any], schema: str, name: str) -> Content:
    table = sql.SQL("{}.{}").format(sql.Identifier(schema), sql.Identifier(name))
    rows = connection.execute(sql.SQL("SELECT * FROM {} LIMIT {}").format(table, sql.Literal(MAX_ROWS + 1))).fetchall()
    if len(rows) <= MAX_ROWS:
        return content_of(rows)
    digest = sql.SQL("SELECT count(*), sum(hashtextextended(t::text, 0))::numeric FROM {} AS t").format(table)
    row = connection.execute(digest).fetchone()
    return Content(int(row[0]), None, int(row[1])) if row else Content(0, None)


def _view(connection: psycopg.Connection[Any], name: str, *, in_transaction: bool) -> TableState | None:
    schema, _, bare = name.rpartition(".")
    query = sql.SQL("SELECT * FROM {}.{} LIMIT {}").format(
        sql.Identifier(schema or "public"), sql.Identifier(bare), sql.Literal(MAX_ROWS + 1)
    )
    try:
        if in_transaction:
            with connection.transaction():
                cursor = connection.execute(query)
        else:
            cursor = connection.execute(query)
        rows = cursor.fetchall()
    except psycopg.errors.DatabaseError:
        # A view may divide by zero; then it returns nothing to compare.
        return None
    content = content_of(rows)
    return TableState([column.name for column in cursor.description or ()], (), lambda: content, is_view=True)
