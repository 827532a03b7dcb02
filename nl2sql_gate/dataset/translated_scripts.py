"""A setup script of one dialect made into a database of another: tables by their shapes, rows as values, views as SQL.

Nothing is guessed: an INSERT that cannot be run stops with its place, since rows missing would give wrong scores. What changes no
result of a question (indexes, owners, comments) goes without a word; what may (triggers, functions, CHECK) goes with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from nl2sql_gate.dataset.copy_text import copy_head, copy_rows
from nl2sql_gate.dataset.problems import listed
from nl2sql_gate.dataset.script_tables import ScriptTables, UntranslatableError, without_schema
from nl2sql_gate.dataset.staging import Staging
from nl2sql_gate.dataset.table_shapes import SCHEMAS, TableShape, statements_for
from nl2sql_gate.dialects import canonical, sqlglot_name
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Cell, Place, SetupStatement, TableData

_FRONT = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|#[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_WORDS = re.compile(r"[A-Za-z_]+")
_SILENT = frozenset(
    {"set", "select", "comment", "grant", "revoke", "begin", "commit", "start", "end", "lock", "unlock", "use", "pragma",
     "analyze", "vacuum", "reset", "rollback", "print", "go", "show", "checkpoint"}
)  # fmt: skip
_ROWS = frozenset({"insert", "update", "delete", "replace", "merge", "truncate"})
_TABLE_ENDS = frozenset({"table", "index", "view", "schema"})
_MODIFIERS = frozenset(
    {"or", "replace", "temp", "temporary", "unlogged", "global", "local", "unique", "clustered", "nonclustered", "materialized",
     "if", "not", "exists", "recursive", "fulltext", "spatial", "algorithm", "undefined", "definer", "sql", "security"}
)  # fmt: skip
_HARMLESS = frozenset({"sequence", "extension", "database", "role", "user", "publication", "statistics", "collation"})


@dataclass(frozen=True, slots=True)
class Translation:
    """What builds the database in the target dialect. `left_out` are warnings in words."""

    setup: tuple[SetupStatement, ...]
    tables: tuple[TableData, ...]
    post: tuple[SetupStatement, ...]
    left_out: tuple[str, ...]


def translate(statements: Iterable[SetupStatement], *, source: str, target: str, database: str) -> Translation:
    """Translate a script, statement by statement. Raises `ProvisionError` at one that holds rows and cannot be run."""
    work = _Work(canonical(source), canonical(target), database)
    try:
        for statement in statements:
            work.take(statement)
        return work.result()
    finally:
        work.close()


class _Work:
    def __init__(self, source: str, target: str, database: str) -> None:
        self._source = source
        self._target = target
        self._database = database
        self._read = ScriptTables(source)
        self._staging = Staging(source, self._read)
        self._staged: dict[int, Place] = {}
        self._copied: dict[int, list[tuple[Cell, ...]]] = {}
        self._views: list[SetupStatement] = []
        self._left_out: list[str] = []

    def close(self) -> None:
        self._staging.close()

    def take(self, statement: SetupStatement) -> None:
        if statement.text.lstrip().startswith("/*!"):
            # What mysqldump hides from other products: modes, locks, triggers. Views come as tables first, and then so.
            if re.search(r"\b(?:TRIGGER|VIEW|PROCEDURE|FUNCTION|EVENT)\b", statement.text):
                self._left_out.append(f"{statement.place}: {' '.join(statement.text.split())[:80]}")
            return
        words = [word.lower() for word in _WORDS.findall(statement.text[_start(statement.text) :][:300])]
        first = words[0] if words else ""
        if statement.data or (first == "copy" and "stdin" in words):
            self._copy(statement)
        elif first in _ROWS:
            self._rows(statement)
        elif first in {"create", "alter"}:
            self._definition(statement, next((word for word in words[1:] if word not in _MODIFIERS), ""))
        elif first == "drop":
            self._drop(words)
        elif first and first not in _SILENT:
            self._left_out.append(f"{statement.place}: {_short(statement.text)}")

    def result(self) -> Translation:
        tables = list(self._read.tables.values())
        if not tables:
            self._refuse_no_tables()
        self._refuse_same_names(tables)
        before, after = statements_for(tables, self._target)
        rows = [self._table_data(table) for table in tables]
        place = next(iter(self._staged.values()), Place())
        return Translation(
            setup=tuple(SetupStatement(sql, place) for sql in before),
            tables=tuple(table for table in rows if table.rows),
            post=(*(SetupStatement(sql, place) for sql in after), *self._views),
            left_out=(*self._read.left_out, *self._left_out),
        )

    def _table_data(self, table: TableShape) -> TableData:
        columns = tuple(column.name for column in table.columns)
        rows = (*self._staging.rows(table), *self._copied.get(id(table), ()))
        return TableData(table.label(self._target), columns, rows, self._staged.get(id(table), Place()))

    def _definition(self, statement: SetupStatement, kind: str) -> None:
        if kind in _HARMLESS:
            return
        if kind == "view":
            self._view(statement)
            return
        if kind not in _TABLE_ENDS:
            self._left_out.append(f"{statement.place}: {_short(statement.text)}")
            return
        known = {id(table): len(table.columns) for table in self._read.tables.values()}
        try:
            table = self._read.read(statement.text)
            if table is not None and id(table) not in known:
                self._staged[id(table)] = statement.place
                self._staging.create(table)
            for each in self._read.tables.values():
                if len(each.columns) > known.get(id(each), len(each.columns)):
                    self._staging.fit(each)
        except UntranslatableError as error:
            raise self._refused(statement, error) from error

    def _view(self, statement: SetupStatement) -> None:
        """A view goes as SQL, behind the rows: no shape holds what it says."""
        try:
            tree = self._read.parsed(statement.text)
        except UntranslatableError as error:
            self._left_out.append(f"{statement.place}: {_short(statement.text)}: {error}")
            return
        without_schema(tree, every=self._target not in SCHEMAS)
        self._views.append(SetupStatement(tree.sql(dialect=sqlglot_name(self._target)), statement.place))

    def _rows(self, statement: SetupStatement) -> None:
        try:
            self._staging.run(statement.text)
        except UntranslatableError as error:
            raise self._refused(statement, error) from error

    def _copy(self, statement: SetupStatement) -> None:
        head = copy_head(statement.text)
        table = self._read.tables.get((head[0], head[1].lower())) if head else None
        if head is None or table is None:
            raise self._refused(statement, "no table of this script takes these lines")
        types = {column.name.lower(): column.type for column in table.columns}
        names = [name.lower() for name in head[2]] or list(types)
        missing = [name for name in names if name not in types]
        if missing:
            raise self._refused(statement, f"table {table.name} has no column {listed(missing)}")
        try:
            rows = copy_rows(statement.data, [types[name] for name in names])
        except ValueError as error:
            raise self._refused(statement, error) from error
        at = {name: index for index, name in enumerate(names)}
        order = [at.get(name) for name in types]
        whole = [tuple(None if index is None else row[index] for index in order) for row in rows]
        self._copied.setdefault(id(table), []).extend(whole)

    def _drop(self, words: list[str]) -> None:
        """Dumps drop what they are about to create; a table that the script made before is really dropped."""
        name = words[-1] if words else ""
        if len(words) > 1 and words[1] == "table":
            self._read.tables.pop(("", name), None)

    def _refuse_same_names(self, tables: list[TableShape]) -> None:
        labels = [table.label(self._target).lower() for table in tables]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ProvisionError(
                f"database {self._database} cannot be translated to {self._target}",
                where=[f"{listed(twice)}: in several schemas, and {self._target} has one"],
                meaning="Only one of the tables could be there. The run did not start.",
                next_step=f"Add a setup script for {self._target}.",
            )

    def _refuse_no_tables(self) -> None:
        raise ProvisionError(
            f"database {self._database} cannot be translated from {self._source} to {self._target}",
            where=["the script creates no table"],
            meaning="There would be nothing to run SQL on. The run did not start.",
            next_step="If it is written in another dialect, say so: `dialect:` in setup.yml.",
        )

    def _refused(self, statement: SetupStatement, reason: object) -> ProvisionError:
        return ProvisionError(
            f"a statement cannot be translated from {self._source} to {self._target}",
            where=[f"{statement.place}: {_short(statement.text)}: {reason}"],
            meaning=f"Database {self._database} would lack rows or tables. The run did not start.",
            next_step=f"Add a setup script for {self._target}, or leave {self._target} out of this run.",
        )


def _start(sql: str) -> int:
    found = _FRONT.match(sql)
    return found.end() if found else 0


def _short(sql: str) -> str:
    text = " ".join(sql[_start(sql) :].split())
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 (what a line of a message holds)
