"""All that is needed to make a copy of a MySQL or MariaDB database inside its server, which has no command for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pymysql

from nl2sql_gate.engines.mysql_cluster import quoted
from nl2sql_gate.engines.mysql_tablespaces import Tablespaces

_UNCHECKED = "SET foreign_key_checks = 0, unique_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"
Ask = Callable[[str], Sequence[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The statements that make one database's objects: `tables` by name, then `views`, `routines`, `triggers` in order.

    `columns` are those of each table that can be inserted. `rolls_back` is false where a table's engine has no transactions, and
    `alone` where a statement changes nothing but the tables that it names: without triggers, routines and cascading keys.
    `files` are those of a server of ours, from which large tables are copied.
    """

    source: str
    tables: dict[str, str]
    columns: dict[str, tuple[str, ...]]
    sequences: tuple[str, ...]
    views: tuple[str, ...]
    routines: tuple[str, ...]
    triggers: tuple[str, ...]
    counters: dict[str, int]
    rolls_back: bool
    alone: bool
    files: Tablespaces | None = None

    def copy_into(self, connection: pymysql.Connection[Any]) -> None:
        """Make all objects in the connection's empty database and fill them from the source."""
        with connection.cursor() as cursor:
            cursor.execute(_UNCHECKED)
            for statement in self.sequences:
                cursor.execute(statement)
            for name in self.tables:
                self._make_table(cursor, name, into=_database(connection))
            for statement in self.routines:
                cursor.execute(statement)
            _in_any_order(cursor, self.views)
            for statement in self.triggers:
                cursor.execute(statement)
        connection.commit()

    def restore(self, connection: pymysql.Connection[Any], touched: set[str]) -> bool:
        """Make the touched tables anew; whether the database is then as it was in every definition."""
        with connection.cursor() as cursor:
            cursor.execute(_UNCHECKED)
            for name in sorted(touched):
                for kind in ("TABLE", "VIEW"):
                    with suppress(pymysql.OperationalError):
                        cursor.execute(f"DROP {kind} IF EXISTS {quoted(name)}")
                if name in self.tables:
                    self._make_table(cursor, name, into=_database(connection))
            connection.commit()
            return self._is_whole(cursor)

    def _make_table(self, cursor: Any, name: str, *, into: str) -> None:
        cursor.execute(self.tables[name])
        if self.files is not None and self.files.has(name):
            if self.files.copy(cursor, name, into):
                return
            cursor.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
            cursor.execute(self.tables[name])
        columns = ", ".join(map(quoted, self.columns[name]))
        if columns:
            cursor.execute(f"INSERT INTO {quoted(name)} ({columns}) SELECT {columns} FROM {quoted(self.source)}.{quoted(name)}")

    def _is_whole(self, cursor: Any) -> bool:
        cursor.execute("SHOW FULL TABLES")
        there = list(cursor.fetchall())
        if {row[0] for row in there if row[1] == "BASE TABLE"} != set(self.tables):
            return False
        if sum(row[1] == "VIEW" for row in there) != len(self.views):
            return False
        for name, text in self.tables.items():
            cursor.execute(f"SHOW CREATE TABLE {quoted(name)}")
            if cursor.fetchone()[1] != text:
                return False
        return True


def draw(source: str, ask: Ask) -> Blueprint:
    """The blueprint of the database `source`; `ask` runs a statement with all rights."""

    def known(what: str, of: str, rest: str) -> Sequence[tuple[Any, ...]]:
        where = rest.format(f"'{source}'")
        return ask(f"SELECT {what} FROM information_schema.{of} WHERE {where}")

    listed = ask(f"SHOW FULL TABLES FROM {quoted(source)}")
    names = [row[0] for row in listed if row[1] == "BASE TABLE"]
    columns: dict[str, list[str]] = {name: [] for name in names}
    for table, column, extra in known("table_name, column_name, extra", "columns", "table_schema = {} ORDER BY ordinal_position"):
        if table in columns and not is_generated(extra):
            columns[table].append(column)
    facts = known("table_name, engine, auto_increment", "tables", "table_schema = {}")
    triggers = [row[0] for row in ask(f"SHOW TRIGGERS FROM {quoted(source)}")]
    routines = known("routine_type, routine_name", "routines", "routine_schema = {}")
    keys = known("delete_rule, update_rule", "referential_constraints", "constraint_schema = {}")
    cascades = any(rule in {"CASCADE", "SET NULL"} for key in keys for rule in key)
    return Blueprint(
        source=source,
        tables={name: _definition(ask, "TABLE", source, name, 1) for name in names},
        columns={name: tuple(found) for name, found in columns.items()},
        sequences=tuple(_sequence(ask, source, row[0]) for row in listed if row[1] == "SEQUENCE"),
        views=tuple(_definition(ask, "VIEW", source, row[0], 1) for row in listed if row[1] == "VIEW"),
        routines=tuple(_definition(ask, kind, source, name, 2) for kind, name in routines),
        triggers=tuple(_definition(ask, "TRIGGER", source, name, 2) for name in triggers),
        counters={row[0]: int(row[2]) for row in facts if row[2] is not None},
        rolls_back=all(row[1] == "InnoDB" for row in facts if row[0] in names),
        alone=not (triggers or routines or cascades),
    )


def is_generated(extra: str) -> bool:
    """Whether a column's `extra` in the catalogue says that it is computed; MySQL marks a default that is an expression too."""
    return "GENERATED" in extra.upper().replace("DEFAULT_GENERATED", "")


def _database(connection: pymysql.Connection[Any]) -> str:
    name = connection.db
    return name.decode() if isinstance(name, bytes) else str(name)


def _definition(ask: Ask, kind: str, source: str, name: str, position: int) -> str:
    text = str(ask(f"SHOW CREATE {kind} {quoted(source)}.{quoted(name)}")[0][position])
    # A view names its database; the source's name is random, so that it stands for nothing else.
    return text.replace(f"{quoted(source)}.", "")


def _sequence(ask: Ask, source: str, name: str) -> str:
    upcoming = ask(f"SELECT next_not_cached_value FROM {quoted(source)}.{quoted(name)}")[0][0]
    return re.sub(r"(?i) start with -?\d+", f" start with {upcoming}", _definition(ask, "SEQUENCE", source, name, 1), count=1)


def _in_any_order(cursor: Any, statements: Sequence[str]) -> None:
    """Views may refer to views that come later."""
    waiting = list(statements)
    while waiting:
        refused = []
        for statement in waiting:
            try:
                cursor.execute(statement)
            except pymysql.MySQLError:
                refused.append(statement)
        if len(refused) == len(waiting):
            # A view on something that is gone exists in the source only.
            return
        waiting = refused
