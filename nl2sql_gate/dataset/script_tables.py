"""What CREATE and ALTER statements of a script say about its tables, in any dialect that sqlglot reads."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from nl2sql_gate.dataset.column_types import ColumnType, type_of
from nl2sql_gate.dataset.table_shapes import ColumnShape, ForeignKey, TableShape
from nl2sql_gate.dialects import sqlglot_name

if TYPE_CHECKING:
    from sqlglot import exp

USUAL_SCHEMAS = frozenset({"public", "dbo", "main"})
"""Where tables lie that name no schema, in one dialect or another."""

_WORDS = {"CurrentTimestamp": "CURRENT_TIMESTAMP", "CurrentDate": "CURRENT_DATE"}
_IDENTITY = re.compile(r"ALTER\s+TABLE\s+(?:ONLY\s+)?(\S+)\s+ALTER\s+COLUMN\s+(\S+)\s+ADD\s+GENERATED\b", re.IGNORECASE)
_HARMLESS = re.compile(
    r"\b(?:OWNER\s+TO|ENABLE|DISABLE|REPLICA\s+IDENTITY|(?:NO)?CHECK\s+CONSTRAINT|CLUSTER\s+ON|SET\s+\(|SET\s+STATISTICS"
    r"|SET\s+STORAGE|VALIDATE\s+CONSTRAINT|AUTO_INCREMENT)\b",
    re.IGNORECASE,
)
Key = tuple[str, str]


class UntranslatableError(Exception):
    """A statement that cannot be understood, and why."""


class ScriptTables:
    """Collects tables from statements. `left_out` names what has no place in a `TableShape`."""

    def __init__(self, dialect: str) -> None:
        self._dialect = sqlglot_name(dialect)
        self.tables: dict[Key, TableShape] = {}
        self.left_out: list[str] = []

    def read(self, sql: str) -> TableShape | None:
        """Take in one statement; the table where it is a CREATE TABLE. Raises `UntranslatableError`."""
        from sqlglot import exp

        tree = self.parsed(sql)
        if isinstance(tree, exp.Create) and tree.kind == "TABLE":
            return self._create(tree)
        if isinstance(tree, exp.Create) and tree.kind == "INDEX":
            self._index(tree)
        elif isinstance(tree, exp.Alter):
            self._alter(tree)
        elif isinstance(tree, exp.Command):
            self._command(sql)
        return None

    def parsed(self, sql: str) -> Any:
        """The tree of one statement. Raises `UntranslatableError`."""
        import sqlglot
        from sqlglot.errors import SqlglotError

        # sqlglot says through its logger what it passes over; the statement is looked at here, and that is said once.
        logging.getLogger("sqlglot").setLevel(logging.ERROR)
        try:
            return sqlglot.parse_one(sql, read=self._dialect)
        except (SqlglotError, RecursionError) as error:
            raise UntranslatableError(" ".join(str(error).split())[:200]) from error

    def _create(self, tree: exp.Create) -> TableShape:
        from sqlglot import exp

        if not isinstance(tree.this, exp.Schema):
            raise UntranslatableError("a CREATE TABLE without a list of columns")
        key = _key(tree.this.this)
        if tree.args.get("exists") and key in self.tables:
            return self.tables[key]
        table = TableShape(name=tree.this.this.name, schema=key[0])
        self.tables[key] = table
        for part in tree.this.expressions:
            if isinstance(part, exp.ColumnDef):
                self._column(part, table)
            elif isinstance(part, exp.Expression):
                self._rule(part, table)
        if not table.columns or not all(column.name for column in table.columns) or not table.name:
            raise UntranslatableError("a table without columns, or a name that is blank")
        return table

    def _column(self, part: exp.ColumnDef, table: TableShape) -> None:
        from sqlglot import exp

        kind = part.args.get("kind")
        declared = kind.sql(dialect=self._dialect) if kind is not None else ""
        column = ColumnShape(part.name, _column_type(declared))
        if declared and not column.type.kind:
            self.left_out.append(f"the type {declared} of {table.name}.{part.name}, which becomes text")
        if declared.upper().endswith("SERIAL"):
            column = replace(column, is_serial=True)
        for constraint in part.args.get("constraints") or ():
            rule = constraint.args.get("kind")
            if isinstance(rule, exp.NotNullColumnConstraint):
                column = replace(column, is_nullable=bool(rule.args.get("allow_null")))
            elif isinstance(rule, exp.DefaultColumnConstraint):
                column = self._with_default(column, rule.this, table)
            elif isinstance(rule, exp.GeneratedAsIdentityColumnConstraint | exp.AutoIncrementColumnConstraint):
                column = replace(column, is_serial=True)
            else:
                self._column_rule(part.name, rule, table)
        table.columns.append(column)

    def _column_rule(self, name: str, rule: Any, table: TableShape) -> None:
        """A constraint that stands with a column and is one of the table."""
        from sqlglot import exp

        if isinstance(rule, exp.PrimaryKeyColumnConstraint):
            table.primary_key = (name,)
        elif isinstance(rule, exp.UniqueColumnConstraint):
            table.unique.append((name,))
        elif isinstance(rule, exp.Reference):
            table.foreign_keys.append(_foreign_key((name,), rule))
        elif isinstance(rule, exp.CheckColumnConstraint):
            self.left_out.append(f"a CHECK of {table.name}.{name}")

    def _with_default(self, column: ColumnShape, value: exp.Expression, table: TableShape) -> ColumnShape:
        from sqlglot import exp

        while isinstance(value, exp.Cast | exp.Paren):
            value = value.this
        if isinstance(value, exp.Null):
            return column
        if isinstance(value, exp.Anonymous | exp.NextValueFor) and "next" in value.sql().lower():
            return replace(column, is_serial=True)
        if isinstance(value, exp.Literal | exp.Boolean | exp.National | exp.Neg):
            numeric = column.type.kind in {"smallint", "integer", "bigint", "decimal", "real", "double", "money"}
            text = value.name if numeric and isinstance(value, exp.Literal) else value.sql(dialect="postgres").removeprefix("N")
            return replace(column, default=text)
        word = _WORDS.get(type(value).__name__, "")
        if not word:
            self.left_out.append(f"the default of {table.name}.{column.name}")
        return replace(column, default=word)

    def _rule(self, part: exp.Expression, table: TableShape) -> None:
        """A constraint of a table, with or without a name."""
        from sqlglot import exp

        if isinstance(part, exp.Constraint):
            columns = [name for each in part.expressions for name in _names(each)]
            if any(isinstance(each, exp.PrimaryKeyColumnConstraint) for each in part.expressions):
                table.primary_key = tuple(columns)
            elif any(isinstance(each, exp.UniqueColumnConstraint) and each.this is None for each in part.expressions):
                table.unique.append(tuple(columns))
            else:
                for each in part.expressions:
                    self._rule(each, table)
        elif isinstance(part, exp.PrimaryKey):
            table.primary_key = tuple(_names(part))
        elif isinstance(part, exp.ForeignKey):
            table.foreign_keys.append(_foreign_key(tuple(_names(part)), part.args.get("reference")))
        elif isinstance(part, exp.UniqueColumnConstraint):
            table.unique.append(tuple(_names(part.this) if part.this is not None else _names(part)))
        elif isinstance(part, exp.CheckColumnConstraint):
            self.left_out.append(f"a CHECK of {table.name}")
        elif isinstance(part, exp.ColumnDef):
            self._column(part, table)

    def _index(self, tree: exp.Create) -> None:
        """A unique index is a rule; any other changes no result."""
        index = tree.this
        table = self.tables.get(_key(index.args["table"])) if tree.args.get("unique") and index.args.get("table") else None
        params = index.args.get("params")
        columns = tuple(_names_of(params.args.get("columns") or ())) if params is not None else ()
        if table is not None and columns and not (params and params.args.get("where")):
            known = {column.name.lower() for column in table.columns}
            if all(column.lower() in known for column in columns):
                table.unique.append(columns)

    def _alter(self, tree: exp.Alter) -> None:
        from sqlglot import exp

        table = self.tables.get(_key(tree.this))
        if table is None:
            return
        for action in tree.args.get("actions") or ():
            if isinstance(action, exp.AddConstraint):
                for part in action.expressions:
                    self._rule(part, table)
            elif isinstance(action, exp.ColumnDef):
                self._column(action, table)
            elif isinstance(action, exp.ModifyColumn):
                self._modify(action.this, table)
            elif isinstance(action, exp.AlterColumn) and action.args.get("default") is not None:
                self._change(table, action.name, partial(self._with_default, value=action.args["default"], table=table))
            elif isinstance(action, exp.AlterColumn) and action.args.get("allow_null") is not None:
                self._change(table, action.name, partial(replace, is_nullable=bool(action.args["allow_null"])))
            else:
                # Rows may be there already, under the old names and types.
                raise UntranslatableError(f"{action.sql(dialect=self._dialect)[:60]} changes a table that is made already")

    def _modify(self, part: exp.ColumnDef, table: TableShape) -> None:
        """MySQL's MODIFY: what phpMyAdmin writes behind the rows to let a key count on."""
        once = TableShape(table.name, table.schema)
        self._column(part, once)
        (new,) = once.columns
        old = next((column for column in table.columns if column.name.lower() == new.name.lower()), None)
        if old is None or old.type != new.type:
            raise UntranslatableError(f"MODIFY {new.name} changes a type that rows have already")
        self._change(table, old.name, lambda _: replace(new, name=old.name))

    def _change(self, table: TableShape, name: str, change: Callable[[ColumnShape], ColumnShape]) -> None:
        table.columns = [change(column) if column.name.lower() == name.lower() else column for column in table.columns]

    def _command(self, sql: str) -> None:
        """An ALTER that the parser leaves as text."""
        identity = _IDENTITY.search(sql)
        if identity is not None:
            path = [name.strip('"`[]') for name in identity.group(1).split(".")]
            schema = path[0] if len(path) > 1 and path[0].lower() not in USUAL_SCHEMAS else ""
            table = self.tables.get((schema, path[-1].lower()))
            if table is not None:
                self._change(table, identity.group(2).strip('"'), partial(replace, is_serial=True))
        elif not _HARMLESS.search(sql):
            self.left_out.append(" ".join(sql.split())[:80])


def without_schema(tree: Any, *, every: bool) -> None:
    """Take the usual schemas off all names of tables in a tree, or `every` schema."""
    from sqlglot import exp

    for table in tree.find_all(exp.Table):
        if every or table.text("db").lower() in USUAL_SCHEMAS:
            table.set("db", None)
            table.set("catalog", None)


def _key(table: exp.Expression) -> Key:
    """(schema or nothing, name), as tables are found whatever their letter case."""
    schema = table.text("db").lower()
    return ("" if schema in USUAL_SCHEMAS else table.text("db"), table.name.lower())


def _column_type(declared: str) -> ColumnType:
    words = declared.lower().split()
    found = type_of(" ".join(word for word in words if word not in {"unsigned", "zerofill"}))
    return ColumnType("bigint") if "unsigned" in words and found.kind == "integer" else found


def _foreign_key(columns: tuple[str, ...], reference: Any) -> ForeignKey:
    from sqlglot import exp

    target = reference.this
    table = target.this if isinstance(target, exp.Schema) else target
    parents = tuple(_names(target)) if isinstance(target, exp.Schema) else ()
    return ForeignKey(columns, (_key(table)[0], table.name), parents)


def _names(part: exp.Expression) -> list[str]:
    """Names of the columns that a constraint lists, wherever it keeps them."""
    listed = part.expressions or (part.this if isinstance(part.this, list) else [])
    return _names_of(listed)


def _names_of(parts: Iterable[Any]) -> list[str]:
    from sqlglot import exp

    found = []
    for part in parts:
        inner = part.this if isinstance(part, exp.Ordered) else part
        if inner.name:
            found.append(inner.name)
    return found
