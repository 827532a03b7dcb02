"""What a SQL Server database holds: the template's tables, read when they are needed, and those that a session has touched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import pyodbc

from nl2sql_gate.engines.sqlserver_catalogue import Catalogue, IndexFacts, TableFacts, qualified, read_catalogue, select_list
from nl2sql_gate.records import State
from nl2sql_gate.state import Content, TableState, content_of
from nl2sql_gate.state.tables import MAX_ROWS

_ROUTINES = {"P": "procedure", "FN": "function", "IF": "function", "TF": "function", "SO": "sequence", "SN": "synonym"}


class SqlServerTemplate:
    """The state in which every private copy begins. Tables that no session touches are never read."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._state: State | None = None
        self._writes_behind = False

    def state(self) -> State:
        """The same object every time, so that what nobody touched is equal without a look."""
        with self._lock:
            if self._state is None:
                with closing(self._connect()) as connection:
                    catalogue = read_catalogue(connection)
                self._writes_behind = catalogue.writes_behind
                tables = {table.name: self._lazy(table) for table in catalogue.tables.values() if not table.is_view}
                self._state = State(tables, described(catalogue))
            return self._state

    def after(self, connection: Any, *, written: frozenset[str] | None) -> State:
        """The state as a session's connection sees it. `written`: the tables that its SQL names, if known."""
        template = self.state()
        found = read_catalogue(connection)
        catalogue = described(found)
        if self._writes_behind or found.writes_behind:
            written = None
        bare = None if written is None else {name.rpartition(".")[2].lower() for name in written}
        tables: dict[str, Any] = {}
        for table in found.tables.values():
            known = template.tables.get(table.name)
            if table.is_view:
                if template.catalogue.get(f"view {table.name}") != catalogue[f"view {table.name}"]:
                    view = _view(connection, table)
                    if view is not None:
                        tables[table.name] = view
            elif bare is not None and table.bare.lower() not in bare and _same_shape(table, known):
                tables[table.name] = known
            else:
                # Now, because the copy is put back before anybody compares.
                tables[table.name] = _eager(connection, table)
        return State(tables, template.catalogue if catalogue == template.catalogue else catalogue)

    def _lazy(self, table: TableFacts) -> TableState:
        def load() -> Content:
            with closing(self._connect()) as connection:
                return _content(connection, table)

        return TableState(_names(table), table.primary_key, load)


def described(catalogue: Catalogue) -> Mapping[str, Any]:
    """Every object with a description, under a name that says what it is and not how it was called by chance."""
    things: dict[str, Any] = {}
    for table in catalogue.tables.values():
        name = table.name
        if table.is_view:
            things[f"view {name}"] = {"definition": table.definition}
            continue
        owner = {"table": name}
        things[f"table {name}"] = owner
        for column in table.columns.values():
            things[f"column {name}.{column.name}"] = {
                **owner,
                "name": column.name,
                "type": column.type,
                "nullable": column.nullable,
                "default": column.default or column.computed,
                "generated": bool(column.computed) or column.generated,
                "identity": column.identity,
            }
        for index in table.indexes:
            things[_index(table, index)] = owner
        for key in table.foreign_keys:
            other = catalogue.tables.get(key.other)
            if other is not None:
                ours, theirs = ", ".join(table.called(key.columns)), ", ".join(other.called(key.referred))
                actions = {"on delete": key.on_delete, "on update": key.on_update}
                things[f"foreign key {name}({ours}) → {other.name}({theirs})"] = {**owner, **actions}
        for check in table.checks:
            things[f"check {name} {check}"] = owner
    return dict(sorted({**things, **_others(catalogue)}.items()))


def _others(catalogue: Catalogue) -> Mapping[str, Any]:
    things: dict[str, Any] = {}
    for kind, schema, bare, parent, definition in catalogue.others:
        name = bare if schema in {"dbo", ""} else f"{schema}.{bare}"
        if kind == "TR":
            owner = catalogue.tables.get(parent)
            table = {"table": owner.name} if owner is not None else {}
            things[f"trigger {owner.name + '.' if owner else ''}{name}"] = {**table, "definition": definition}
        elif kind in _ROUTINES:
            things[f"{_ROUTINES[kind]} {name}"] = {"definition": definition} if definition else {}
    for schema in catalogue.schemas:
        things[f"schema {schema}"] = {}
    for schema, bare, text in catalogue.aliases:
        things[f"type {bare if schema == 'dbo' else schema + '.' + bare}"] = {"type": text}
    return things


def _index(table: TableFacts, index: IndexFacts) -> str:
    plain = ", ".join(table.called([number for number, _ in index.keys]))
    if index.primary:
        return f"primary key {table.name}({plain})"
    if index.unique and not index.where:
        return f"unique {table.name}({plain})"
    keys = ", ".join(table.columns[number].name + (" DESC" if down else "") for number, down in index.keys)
    included = f" INCLUDE ({', '.join(table.called(index.included))})" if index.included else ""
    where = f" WHERE {index.where}" if index.where else ""
    return f"{'unique index' if index.unique else 'index'} {table.name} ({keys}){included}{where}"


def _same_shape(table: TableFacts, known: Any) -> bool:
    return isinstance(known, TableState) and known.columns == _names(table) and known.key == table.primary_key


def _names(table: TableFacts) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns.values())


def _eager(connection: Any, table: TableFacts) -> TableState:
    content = _content(connection, table)
    return TableState(_names(table), table.primary_key, lambda: content)


def _content(connection: Any, table: TableFacts) -> Content:
    listed, name = select_list(table), qualified(table)
    with closing(connection.cursor()) as cursor:
        rows = cursor.execute(f"SELECT TOP ({MAX_ROWS + 1}) {listed} FROM {name}").fetchall()
        if len(rows) <= MAX_ROWS:
            return content_of(tuple(row) for row in rows)
        row = cursor.execute(_digest(table)).fetchone()
    return Content(int(row[0]), None, int(row[1] or 0))


def _digest(table: TableFacts) -> str:
    """Count and sum of row digests, computed in the server."""
    named = ", ".join(
        f"{part} AS c{number}" for number, part in enumerate(select_list(replace_columns(table, (n,))) for n in table.columns)
    )
    return (
        "SELECT COUNT_BIG(*), SUM(CAST(CAST(SUBSTRING(HASHBYTES('SHA2_256', r.j), 1, 8) AS bigint) AS decimal(38, 0)))"
        f" FROM {qualified(table)} AS t CROSS APPLY (SELECT (SELECT {named} FOR JSON PATH, INCLUDE_NULL_VALUES) AS j) AS r"
    )


def replace_columns(table: TableFacts, numbers: tuple[int, ...]) -> TableFacts:
    """The table with some of its columns."""
    return TableFacts(
        table.number,
        table.schema,
        table.bare,
        table.is_view,
        table.definition,
        table.comment,
        {number: table.columns[number] for number in numbers},
    )


def _view(connection: Any, table: TableFacts) -> TableState | None:
    try:
        return TableState(_names(table), (), _loaded(_content(connection, table)), is_view=True)
    except pyodbc.Error:
        # A view may divide by zero; then it returns nothing to compare.
        return None


def _loaded(content: Content) -> Callable[[], Content]:
    return lambda: content
