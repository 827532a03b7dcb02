"""What a MySQL or MariaDB database holds: its schema for prompts, and its state for comparing effects."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import pymysql

from nl2sql_gate.engines.mysql_cluster import quoted
from nl2sql_gate.engines.schema_text import always, assemble, samples_of, table_ddl
from nl2sql_gate.records import Column, Schema, State, Table
from nl2sql_gate.state import Content, TableState, content_of
from nl2sql_gate.state.tables import MAX_ROWS

_SAMPLED_ROWS = 1000
_TABLES = """
SELECT table_name, table_type, table_comment FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type IN ('BASE TABLE', 'VIEW') ORDER BY table_type = 'VIEW', BINARY table_name
"""
_COLUMNS = """
SELECT table_name, column_name, column_type, is_nullable = 'YES', column_default, extra, column_key, column_comment
FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT k.table_name, k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name,
  r.delete_rule, r.update_rule
FROM information_schema.key_column_usage k LEFT JOIN information_schema.referential_constraints r
  ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name
WHERE k.table_schema = DATABASE() ORDER BY k.table_name, k.constraint_name, k.ordinal_position
"""
_INDEXES = """
SELECT table_name, index_name, non_unique, column_name FROM information_schema.statistics
WHERE table_schema = DATABASE() AND index_name <> 'PRIMARY' ORDER BY table_name, index_name, seq_in_index
"""
_VIEWS = "SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()"
_TRIGGERS = """
SELECT trigger_name, event_object_table, CONCAT_WS(' ', action_timing, event_manipulation, action_statement)
FROM information_schema.triggers WHERE trigger_schema = DATABASE()
"""
_CHECKS = "SELECT check_clause FROM information_schema.check_constraints WHERE constraint_schema = DATABASE()"
_ROUTINES = """
SELECT routine_type, routine_name, routine_definition FROM information_schema.routines WHERE routine_schema = DATABASE()
"""


def _ask(connection: pymysql.Connection[Any], statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def read_schema(connection: pymysql.Connection[Any], database: str, dialect: str, *, sample_values: int) -> Schema:
    """Tables first, then views, each by name. Samples are met in the table's first rows."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in _ask(connection, _COLUMNS):
        columns[row[0]].append(row)
    keys = _keys(connection)
    unique = _indexes(connection, non_unique=0)
    views = dict(_ask(connection, _VIEWS))
    tables = []
    for name, kind, comment in _ask(connection, _TABLES):
        rows = _first_rows(connection, name) if sample_values else []
        found = tuple(_column(row, rows, index, sample_values) for index, row in enumerate(columns[name]))
        foreign = sorted((parts[0], parts[1], parts[2]) for parts in keys[name].foreign)
        is_view = kind == "VIEW"
        shown = Table(name, found, tuple(foreign), tuple(sorted(unique[name])), "" if is_view else comment, is_view)
        definition = views.get(name)
        ddl = f"CREATE VIEW {quoted(name)} AS {definition};" if is_view and definition else table_ddl(shown, always("`"))
        tables.append(Table(name, found, shown.foreign_keys, shown.unique, shown.comment, is_view, ddl))
    return assemble(database, dialect, tables)


def _column(row: tuple[Any, ...], rows: Sequence[Any], index: int, sample_values: int) -> Column:
    extra = str(row[5])
    default = extra.upper() if "auto_increment" in extra else "" if row[4] is None or row[4] == "NULL" else str(row[4])
    return Column(
        name=row[1],
        type=row[2],
        nullable=bool(row[3]),
        primary_key=row[6] == "PRI",
        comment=row[7],
        default=default,
        samples=samples_of(rows, index, count=sample_values) if sample_values else (),
    )


def _first_rows(connection: pymysql.Connection[Any], name: str) -> list[tuple[Any, ...]]:
    try:
        return _ask(connection, f"SELECT * FROM {quoted(name)} LIMIT {_SAMPLED_ROWS}")
    except pymysql.MySQLError:
        return []


class _Keys:
    """The keys of one table: `primary` columns, and `foreign` as (columns, table, columns, on delete, on update)."""

    def __init__(self) -> None:
        self.primary: tuple[str, ...] = ()
        self.foreign: list[tuple[tuple[str, ...], str, tuple[str, ...], str, str]] = []


def _keys(connection: pymysql.Connection[Any]) -> dict[str, _Keys]:
    grouped: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in _ask(connection, _KEYS):
        grouped[row[0], row[1]].append(row)
    found: dict[str, _Keys] = defaultdict(_Keys)
    for (table, constraint), rows in grouped.items():
        columns = tuple(row[2] for row in rows)
        if constraint == "PRIMARY":
            found[table].primary = columns
        elif rows[0][3]:
            found[table].foreign.append((columns, rows[0][3], tuple(row[4] for row in rows), rows[0][5], rows[0][6]))
    return found


def _indexes(connection: pymysql.Connection[Any], *, non_unique: int) -> dict[str, set[tuple[str, ...]]]:
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for table, index, kind, column in _ask(connection, _INDEXES):
        if int(kind) == non_unique:
            grouped[table, index].append(column or "an expression")
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for (table, _), columns in grouped.items():
        found[table].add(tuple(columns))
    return found


class MysqlTemplate:
    """The state in which every copy begins. Tables whose checksum is the template's are never read."""

    def __init__(self, connect: Callable[[], pymysql.Connection[Any]], *, dialect: str, alone: bool) -> None:
        self._connect = connect
        self._dialect = dialect
        self._alone = alone
        self._lock = threading.Lock()
        self._state: State | None = None
        self._checksums: dict[str, Any] = {}

    def state(self) -> State:
        """The same object every time, so that what nobody touched is equal without a look."""
        with self._lock:
            if self._state is None:
                with closing(self._connect()) as connection:
                    catalogue = _catalogue(connection)
                    names = _tables(catalogue)
                    self._checksums = _checksums(connection, names)
                self._state = State({name: self._lazy(name, catalogue) for name in names}, catalogue)
            return self._state

    def after(self, connection: pymysql.Connection[Any], ran: Sequence[str], *, rolled_back: bool) -> State:
        """The state as a session's connection sees it, after the texts that `ran`. A transaction changes no catalogue here."""
        template = self.state()
        catalogue = template.catalogue if rolled_back else _catalogue(connection)
        candidates = self._written(ran)
        names = _tables(catalogue)
        known = [name for name in names if self._same_shape(name, catalogue)]
        asked = [name for name in known if candidates is None or name in candidates]
        checksums = _checksums(connection, asked)
        tables: dict[str, Any] = {}
        for name in names:
            if name in known and (name not in checksums or checksums[name] == self._checksums.get(name)):
                tables[name] = template.tables[name]
            else:
                tables[name] = _eager(connection, name, catalogue)
        for thing, description in catalogue.items():
            if thing.startswith("view ") and template.catalogue.get(thing) != description:
                view = _view(connection, thing.removeprefix("view "))
                if view is not None:
                    tables[thing.removeprefix("view ")] = view
        return State(tables, template.catalogue if catalogue == template.catalogue else catalogue)

    def _same_shape(self, name: str, catalogue: Mapping[str, Any]) -> bool:
        template = self.state()
        return name in template.tables and template.tables[name].columns == _column_names(catalogue, name)

    def _written(self, ran: Sequence[str]) -> set[str] | None:
        """The only tables that can differ; `None` where triggers, keys that cascade or SQL beyond our parser may write others."""
        if not self._alone:
            return None
        from nl2sql_gate.sqltext import tables_written

        written: set[str] = set()
        for text in ran:
            tables = tables_written(text, self._dialect)
            if tables is None:
                return None
            written |= {table.rpartition(".")[2] for table in tables}
        return written

    def _lazy(self, name: str, catalogue: Mapping[str, Any]) -> TableState:
        def load() -> Content:
            with closing(self._connect()) as connection:
                return _content(connection, name)

        return TableState(_column_names(catalogue, name), _primary(catalogue, name), load)


def _checksums(connection: pymysql.Connection[Any], names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return {}
    rows = _ask(connection, f"CHECKSUM TABLE {', '.join(map(quoted, names))}")
    return {name: row[1] for name, row in zip(names, rows, strict=True)}


def _content(connection: pymysql.Connection[Any], name: str) -> Content:
    rows = _ask(connection, f"SELECT * FROM {quoted(name)} LIMIT {MAX_ROWS + 1}")
    if len(rows) <= MAX_ROWS:
        return content_of(rows)
    count = _ask(connection, f"SELECT COUNT(*) FROM {quoted(name)}")[0][0]
    return Content(count, None, int(_checksums(connection, [name])[name] or 0))


def _eager(connection: pymysql.Connection[Any], name: str, catalogue: Mapping[str, Any]) -> TableState:
    # Now, because the copy is put back before anybody compares.
    content = _content(connection, name)
    return TableState(_column_names(catalogue, name), _primary(catalogue, name), lambda: content)


def _view(connection: pymysql.Connection[Any], name: str) -> TableState | None:
    try:
        content = _content(connection, name)
        columns = [row[0].lower() for row in _ask(connection, f"SHOW COLUMNS FROM {quoted(name)}")]
    except pymysql.MySQLError:
        # A view may name what is gone; then it returns nothing to compare.
        return None
    return TableState(columns, (), lambda: content, is_view=True)


def _catalogue(connection: pymysql.Connection[Any]) -> dict[str, Mapping[str, Any]]:
    """Objects to descriptions. Names of tables are told apart by case, names of columns are not."""
    found: dict[str, Mapping[str, Any]] = {
        f"table {name}": {"table": name} for name, kind, _ in _ask(connection, _TABLES) if kind == "BASE TABLE"
    }
    for row in _ask(connection, _COLUMNS):
        if f"table {row[0]}" in found:
            found[f"column {row[0]}.{row[1].lower()}"] = _column_description(row)
    for table, keys in _keys(connection).items():
        found |= _key_descriptions(table, keys)
    for word, non_unique in (("unique", 0), ("index", 1)):
        for table, indexes in _indexes(connection, non_unique=non_unique).items():
            found |= {f"{word} {table}({', '.join(index).lower()})": {"table": table} for index in indexes}
    found |= {f"view {name}": {"definition": definition} for name, definition in _ask(connection, _VIEWS)}
    found |= {f"trigger {name}": {"table": table, "definition": text} for name, table, text in _ask(connection, _TRIGGERS)}
    found |= {f"{kind.lower()} {name}": {"definition": text} for kind, name, text in _ask(connection, _ROUTINES)}
    return found | {f"check {clause}": {} for (clause,) in _ask(connection, _CHECKS)}


def _column_description(row: tuple[Any, ...]) -> Mapping[str, Any]:
    return {
        "table": row[0],
        "name": row[1].lower(),
        "type": row[2],
        "nullable": bool(row[3]),
        # MariaDB says NULL where MySQL says nothing.
        "default": "" if row[4] in {None, "NULL"} else row[4],
        "extra": row[5],
    }


def _key_descriptions(table: str, keys: _Keys) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    if keys.primary:
        columns = [column.lower() for column in keys.primary]
        found[f"primary key {table}({', '.join(columns)})"] = {"table": table, "columns": columns}
    for here, other, there, on_delete, on_update in keys.foreign:
        thing = f"foreign key {table}({', '.join(here).lower()}) → {other}({', '.join(there).lower()})"
        found[thing] = {"table": table, "on delete": on_delete, "on update": on_update}
    return found


def _tables(catalogue: Mapping[str, Any]) -> list[str]:
    return [thing.removeprefix("table ") for thing in catalogue if thing.startswith("table ")]


def _column_names(catalogue: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(
        description["name"]
        for thing, description in catalogue.items()
        if thing.startswith("column ") and description["table"] == name
    )


def _primary(catalogue: Mapping[str, Any], name: str) -> tuple[str, ...]:
    prefix = f"primary key {name}("
    return next((tuple(description["columns"]) for thing, description in catalogue.items() if thing.startswith(prefix)), ())
