"""What a DuckDB database holds: its schema for prompts, and its state for comparing effects."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import duckdb

from nl2sql_gate.engines.cells_duckdb import convert_rows, converters
from nl2sql_gate.engines.duckdb_build import quoted
from nl2sql_gate.engines.schema_text import always, assemble, samples_of, table_ddl
from nl2sql_gate.records import Column, Schema, State, Table
from nl2sql_gate.state import Content, TableState, content_of
from nl2sql_gate.state.tables import MAX_ROWS

_SAMPLED_ROWS = 1000
_MANY_ROWS = 50_000
_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, is_nullable, coalesce(column_default, ''), coalesce(comment, ''),
  is_generated
FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() ORDER BY schema_name, table_name, column_index
"""
_TABLES = """
SELECT schema_name, table_name, coalesce(comment, ''), '' FROM duckdb_tables()
WHERE NOT internal AND database_name = current_database() AND NOT temporary
ORDER BY schema_name <> 'main', schema_name, table_name
"""
_VIEWS = """
SELECT schema_name, view_name, coalesce(comment, ''), sql FROM duckdb_views()
WHERE NOT internal AND database_name = current_database() AND NOT temporary
ORDER BY schema_name <> 'main', schema_name, view_name
"""
_CONSTRAINTS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, coalesce(referenced_table, ''),
  coalesce(referenced_column_names, []), constraint_text
FROM duckdb_constraints() WHERE database_name = current_database() ORDER BY schema_name, table_name, constraint_index
"""
_INDEXES = """
SELECT schema_name, table_name, is_unique, expressions FROM duckdb_indexes()
WHERE database_name = current_database() ORDER BY schema_name, table_name, expressions
"""
_SEQUENCES = (
    "SELECT schema_name, sequence_name FROM duckdb_sequences() WHERE database_name = current_database() AND NOT temporary"
)


def named(schema: str, name: str) -> str:
    """A table's name; the schema main goes without saying."""
    return name if schema == "main" else f"{schema}.{name}"


def read_schema(connection: duckdb.DuckDBPyConnection, database: str, *, sample_values: int) -> Schema:
    """Tables first, then views, each by name. Samples are met in the table's first rows."""
    columns: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in connection.execute(_COLUMNS).fetchall():
        columns[row[0], row[1]].append(row)
    keys: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in connection.execute(_CONSTRAINTS).fetchall():
        keys[row[0], row[1]].append(row)
    tables = [
        _table(connection, row, columns[row[0], row[1]], keys[row[0], row[1]], sample_values=sample_values)
        for row in [*connection.execute(_TABLES).fetchall(), *connection.execute(_VIEWS).fetchall()]
    ]
    return assemble(database, "duckdb", tables)


def _table(connection: duckdb.DuckDBPyConnection, listed: Any, described: Any, keys: Any, *, sample_values: int) -> Table:
    schema, name, comment, definition = listed
    rows: list[Any] = []
    if sample_values and described:
        try:
            rows = connection.execute(f"SELECT * FROM {quoted(schema)}.{quoted(name)} LIMIT {_SAMPLED_ROWS}").fetchall()
        except duckdb.Error:
            rows = []
    primary: list[str] = next((row[3] for row in keys if row[2] == "PRIMARY KEY"), [])
    columns = tuple(
        Column(
            name=row[2],
            type=row[3],
            nullable=row[4],
            primary_key=row[2] in primary,
            comment=row[6],
            default=row[5],
            samples=samples_of(rows, index, count=sample_values) if sample_values else (),
        )
        for index, row in enumerate(described)
    )
    foreign = sorted((tuple(row[3]), row[4], tuple(row[5])) for row in keys if row[2] == "FOREIGN KEY")
    unique = sorted(tuple(row[3]) for row in keys if row[2] == "UNIQUE")
    shown = Table(named(schema, name), columns, tuple(foreign), tuple(unique), comment, bool(definition))
    ddl = definition or table_ddl(shown, always('"') if schema == "main" else _in_schema(schema))
    return Table(shown.name, columns, shown.foreign_keys, shown.unique, comment, bool(definition), ddl)


def _in_schema(schema: str) -> Callable[[str], str]:
    prefix = f"{schema}."
    return lambda name: f"{quoted(schema)}.{quoted(name.removeprefix(prefix))}" if name.startswith(prefix) else quoted(name)


class DuckdbTemplate:
    """The state in which every copy begins. Tables whose fingerprint is the template's are never read."""

    def __init__(self, connect: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._state: State | None = None
        self._fingerprints: dict[str, tuple[Any, ...]] = {}
        self._rows = 0

    def state(self) -> State:
        """The same object every time, so that what nobody touched is equal without a look."""
        with self._lock:
            if self._state is None:
                with closing(self._connect()) as connection:
                    catalogue, names = _catalogue(connection)
                    row = connection.execute("SELECT coalesce(sum(estimated_size), 0) FROM duckdb_tables()").fetchone()
                    self._rows = int(row[0]) if row else 0
                self._state = State({low: self._lazy(where, catalogue) for low, where in names.items()}, catalogue)
            return self._state

    def after(self, connection: duckdb.DuckDBPyConnection, ran: Sequence[str]) -> State:
        """The state as a session's connection sees it, after the texts that `ran`."""
        template = self.state()
        written = self._written(ran)
        catalogue, names = _catalogue(connection)
        tables: dict[str, Any] = {}
        for low, where in names.items():
            columns = _column_names(catalogue, low)
            known = template.tables.get(low)
            same_shape = known is not None and known.columns == columns
            if same_shape and (low not in written if written is not None else self._unchanged(connection, low, where)):
                tables[low] = known
            else:
                tables[low] = _eager(connection, where, columns, _key(catalogue, low))
        for thing, description in catalogue.items():
            if thing.startswith("view ") and template.catalogue.get(thing) != description:
                view = _view(connection, thing.removeprefix("view "))
                if view is not None:
                    tables[thing.removeprefix("view ")] = view
        return State(tables, template.catalogue if catalogue == template.catalogue else catalogue)

    def _unchanged(self, connection: duckdb.DuckDBPyConnection, low: str, where: tuple[str, str]) -> bool:
        return _fingerprint(connection, *where) == self._fingerprint_of(low, where)

    def _fingerprint_of(self, low: str, where: tuple[str, str]) -> tuple[Any, ...]:
        if low not in self._fingerprints:
            with closing(self._connect()) as connection:
                self._fingerprints[low] = _fingerprint(connection, *where)
        return self._fingerprints[low]

    def _written(self, ran: Sequence[str]) -> set[str] | None:
        """The tables that the texts write to; `None` where a look at the rows is cheaper, or the only way to know.

        DuckDB has no triggers and no cascading keys, so that nothing else can be written.
        """
        if self._rows < _MANY_ROWS:
            return None
        from nl2sql_gate.sqltext import tables_written

        written: set[str] = set()
        for text in ran:
            tables = tables_written(text, "duckdb")
            if tables is None:
                return None
            written |= {table.lower().removeprefix("main.") for table in tables}
        return written

    def _lazy(self, where: tuple[str, str], catalogue: Mapping[str, Any]) -> TableState:
        low = named(*where).lower()

        def load() -> Content:
            with closing(self._connect()) as connection:
                return _content(connection, *where)

        return TableState(_column_names(catalogue, low), _key(catalogue, low), load)


def _fingerprint(connection: duckdb.DuckDBPyConnection, schema: str, name: str) -> tuple[Any, ...]:
    # Vectorised, and a tenth of what fetching the rows would cost.
    row = connection.execute(f"SELECT count(*), sum(hash(t)::HUGEINT) FROM {quoted(schema)}.{quoted(name)} AS t").fetchone()
    return tuple(row or ())


def _content(connection: duckdb.DuckDBPyConnection, schema: str, name: str) -> Content:
    cursor = connection.execute(f"SELECT * FROM {quoted(schema)}.{quoted(name)} LIMIT {MAX_ROWS + 1}")
    needed = converters(cursor.description or [])
    rows = cursor.fetchall()
    if len(rows) <= MAX_ROWS:
        return content_of(convert_rows(rows, needed))
    count, digest = _fingerprint(connection, schema, name)
    return Content(count, None, digest)


def _eager(
    connection: duckdb.DuckDBPyConnection, where: tuple[str, str], columns: tuple[str, ...], key: tuple[str, ...]
) -> TableState:
    # Now, because the copy is thrown away before anybody compares.
    content = _content(connection, *where)
    return TableState(columns, key, lambda: content)


def _view(connection: duckdb.DuckDBPyConnection, low: str) -> TableState | None:
    schema, _, name = low.rpartition(".")
    try:
        content = _content(connection, schema or "main", name)
        described = connection.execute(f"DESCRIBE {quoted(schema or 'main')}.{quoted(name)}").fetchall()
    except duckdb.Error:
        # A view may divide by zero; then it returns nothing to compare.
        return None
    return TableState([row[0].lower() for row in described], (), lambda: content, is_view=True)


def _catalogue(connection: duckdb.DuckDBPyConnection) -> tuple[dict[str, Mapping[str, Any]], dict[str, tuple[str, str]]]:
    """Objects to descriptions, and tables in lower case to where they are; DuckDB compares names without case."""
    found: dict[str, Mapping[str, Any]] = {}
    names: dict[str, tuple[str, str]] = {}
    for schema, name, _, _ in connection.execute(_TABLES).fetchall():
        low = named(schema, name).lower()
        names[low] = (schema, name)
        found[f"table {low}"] = {"table": low}
    for schema, table, name, kind, nullable, default, _, generated in connection.execute(_COLUMNS).fetchall():
        low = named(schema, table).lower()
        if low in names:
            found[f"column {low}.{name.lower()}"] = {
                "table": low,
                "name": name.lower(),
                "type": kind,
                "nullable": nullable,
                "default": default,
                "generated": generated,
            }
    for schema, table, kind, columns, other, referred, text in connection.execute(_CONSTRAINTS).fetchall():
        low, listed = named(schema, table).lower(), ", ".join(columns).lower()
        thing = {
            "PRIMARY KEY": f"primary key {low}({listed})",
            "UNIQUE": f"unique {low}({listed})",
            "FOREIGN KEY": f"foreign key {low}({listed}) → {other.lower()}({', '.join(referred).lower()})",
            "CHECK": f"check {low} {text}",
        }.get(kind)
        if thing:
            found[thing] = {"table": low, "columns": [column.lower() for column in columns]}
    for schema, table, unique, expressions in connection.execute(_INDEXES).fetchall():
        low = named(schema, table).lower()
        found[f"{'unique' if unique else 'index'} {low}({str(expressions).strip('[]').lower()})"] = {"table": low}
    for schema, name, _, definition in connection.execute(_VIEWS).fetchall():
        found[f"view {named(schema, name).lower()}"] = {"definition": " ".join(definition.split())}
    for schema, name in connection.execute(_SEQUENCES).fetchall():
        found[f"sequence {named(schema, name).lower()}"] = {}
    return found, names


def _column_names(catalogue: Mapping[str, Any], low: str) -> tuple[str, ...]:
    prefix = f"column {low}."
    return tuple(thing.removeprefix(prefix) for thing in catalogue if thing.startswith(prefix))


def _key(catalogue: Mapping[str, Any], low: str) -> tuple[str, ...]:
    prefix = f"primary key {low}("
    return next((tuple(description["columns"]) for thing, description in catalogue.items() if thing.startswith(prefix)), ())
