"""What a SQLite database holds: the template's tables, read when they are needed, and those that a session has touched."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from nl2sql_gate.engines.sqlite_build import quoted
from nl2sql_gate.engines.sqlite_guard import WriteGuard
from nl2sql_gate.engines.sqlite_session import needs_more, tolerant_text
from nl2sql_gate.records import State
from nl2sql_gate.state import Content, TableState, content_of

# Names are compared without case, as SQLite does.


class SqliteTemplate:
    """The state in which every copy begins. Tables that no session touches are never read."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._state: State | None = None

    def state(self) -> State:
        """The same object every time, so that what nobody touched is equal without a look."""
        with self._lock:
            if self._state is None:
                with closing(self._connect()) as connection:
                    catalogue = read_catalogue(connection)
                    tables = {name: self._lazy(connection, name) for name in _tables(catalogue)}
                self._state = State(tables, catalogue)
            return self._state

    def after(self, connection: sqlite3.Connection, guard: WriteGuard) -> State:
        """The state as a session's connection sees it."""
        template = self.state()
        if not guard.touched:
            return template
        touched = {name.lower() for name in guard.touched}
        catalogue = read_catalogue(connection)
        tables: dict[str, Any] = {}
        for name in _tables(catalogue):
            if name in touched or name not in template.tables:
                tables[name] = _eager(connection, name)
            else:
                tables[name] = template.tables[name]
        for thing, description in catalogue.items():
            if thing.startswith("view ") and template.catalogue.get(thing) != description:
                view = _view(connection, thing.removeprefix("view "), is_near=guard.is_near)
                if view is not None:
                    tables[thing.removeprefix("view ")] = view
        return State(tables, catalogue)

    def _lazy(self, connection: sqlite3.Connection, name: str) -> TableState:
        columns, key = _columns(connection, name)

        def load() -> Content:
            with closing(self._connect()) as fresh:
                return _content(fresh, name)

        return TableState(columns, key, load)


def read_catalogue(connection: sqlite3.Connection) -> dict[str, Mapping[str, Any]]:
    """Objects to descriptions; columns, keys and indexes name the table that they belong to."""
    found: dict[str, Mapping[str, Any]] = {}
    shadows = {row[1].lower() for row in connection.execute("PRAGMA table_list") if row[2] == "shadow"}
    listed = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type <> 'index'"
    ).fetchall()
    for kind, name, table, sql in listed:
        low = name.lower()
        if low in shadows:
            continue
        if kind == "table":
            found[f"table {low}"] = {"table": low}
            _describe(connection, low, found)
        elif kind == "view":
            found[f"view {low}"] = {"definition": _squeezed(sql)}
        else:
            found[f"trigger {low}"] = {"table": table.lower(), "definition": _squeezed(sql)}
    return found


def _describe(connection: sqlite3.Connection, table: str, found: dict[str, Mapping[str, Any]]) -> None:
    rows = connection.execute(f"PRAGMA table_xinfo({quoted(table)})").fetchall()
    for row in rows:
        name = row[1].lower()
        found[f"column {table}.{name}"] = {
            "table": table,
            "name": name,
            "type": " ".join(row[2].upper().split()),
            "nullable": not row[3],
            "default": row[4] or "",
            "generated": row[6] in {2, 3},
        }
    key = [row[1].lower() for row in sorted(rows, key=lambda row: row[5]) if row[5]]
    if key:
        found[f"primary key {table}({', '.join(key)})"] = {"table": table}
    keys: dict[int, list[Any]] = {}
    for row in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})"):
        keys.setdefault(row[0], []).append(row)
    for parts in keys.values():
        here = ", ".join(row[3].lower() for row in parts)
        there = ", ".join((row[4] or "").lower() for row in parts).strip(", ")
        found[f"foreign key {table}({here}) → {parts[0][2].lower()}({there})"] = {
            "table": table,
            "on delete": parts[0][6],
            "on update": parts[0][5],
        }
    for row in connection.execute(f"PRAGMA index_list({quoted(table)})").fetchall():
        if row[3] == "pk":
            continue
        columns = ", ".join(
            (info[2] or "an expression").lower() for info in connection.execute(f"PRAGMA index_info({quoted(row[1])})")
        )
        found[f"{'unique' if row[2] else 'index'} {table}({columns})"] = {"table": table, "partial": bool(row[4])}


def _tables(catalogue: Mapping[str, Any]) -> list[str]:
    return [thing.removeprefix("table ") for thing in catalogue if thing.startswith("table ")]


def _columns(connection: sqlite3.Connection, name: str) -> tuple[list[str], list[str]]:
    # Hidden columns of virtual tables are no part of SELECT *.
    rows = [row for row in connection.execute(f"PRAGMA table_xinfo({quoted(name)})") if row[6] != 1]
    return [row[1].lower() for row in rows], [row[1].lower() for row in sorted(rows, key=lambda row: row[5]) if row[5]]


def _eager(connection: sqlite3.Connection, name: str, *, is_view: bool = False) -> TableState:
    columns, key = _columns(connection, name)
    # Now, because the copy is put back before anybody compares.
    content = _content(connection, name)
    return TableState(columns, key, lambda: content, is_view=is_view)


def _content(connection: sqlite3.Connection, name: str) -> Content:
    factory = connection.text_factory
    try:
        # The driver's own decoding is many times as fast as one that tolerates what is no UTF-8.
        connection.text_factory = str
        return content_of(connection.execute(f"SELECT * FROM {quoted(name)}"))
    except sqlite3.OperationalError as error:
        if not str(error).startswith("Could not decode to UTF-8"):
            raise
        connection.text_factory = tolerant_text
        return content_of(connection.execute(f"SELECT * FROM {quoted(name)}"))
    finally:
        connection.text_factory = factory


def _view(connection: sqlite3.Connection, name: str, *, is_near: bool) -> TableState | None:
    try:
        return _eager(connection, name, is_view=True)
    except sqlite3.Error as error:
        if is_near and needs_more(error):
            raise
        # A view may name what is gone; then it returns nothing to compare.
        return None


def _squeezed(sql: str | None) -> str:
    return " ".join((sql or "").split())
