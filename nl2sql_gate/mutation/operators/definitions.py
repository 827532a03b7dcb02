"""Errors in CREATE, ALTER and DROP; the query of a view or of CREATE TABLE AS has the errors of other modules."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.catalogue import kind_of
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators.literals import other_value
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, removed, replaced, without
from nl2sql_gate.sqltext.parse import Tree

_TABLE_CONSTRAINTS = (exp.ForeignKey, exp.PrimaryKey, exp.UniqueColumnConstraint, exp.CheckColumnConstraint, exp.Constraint)
_NAMED_KINDS = {
    exp.NotNullColumnConstraint: "NOT NULL",
    exp.PrimaryKeyColumnConstraint: "PRIMARY KEY",
    exp.UniqueColumnConstraint: "UNIQUE",
    exp.DefaultColumnConstraint: "DEFAULT",
    exp.CheckColumnConstraint: "CHECK",
    exp.Reference: "REFERENCES",
}


def column_def_drop(query: Query) -> Iterator[Site]:
    """One column of a new table forgotten; not one that a key or check of the table names."""
    for schema in _new_tables(query):
        columns = [each for each in schema.expressions if isinstance(each, exp.ColumnDef)]
        rest = [each for each in schema.expressions if not isinstance(each, exp.ColumnDef)]
        named = {node.name.lower() for part in rest for node in part.find_all(exp.Identifier)}
        for column in columns if len(columns) > 1 else ():
            if column.name.lower() not in named:
                yield removed(column)


def _new_tables(query: Query) -> Iterator[Tree]:
    tree = query.tree
    is_table = isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "TABLE"
    if is_table and isinstance(tree.this, exp.Schema):
        yield tree.this


def column_type_change(query: Query) -> Iterator[Site]:
    """A column of another type: text for numbers, whole numbers for decimals, a shorter text."""
    for column in query.all(exp.ColumnDef):
        given = column.args.get("kind")
        if given is None:
            continue
        kind = kind_of(query.text(given))
        wanted = {"number": "VARCHAR(40)", "time": "VARCHAR(40)", "bool": "VARCHAR(10)"}.get(kind, "INT")
        yield replaced(given, exp.DataType.build(wanted, dialect=query.dialect))


def constraint_drop(query: Query) -> Iterator[Site]:
    """A key, a default, a check or NOT NULL forgotten."""
    for column in query.all(exp.ColumnDef):
        for constraint in column.args.get("constraints") or ():
            words = next((words for kind, words in _NAMED_KINDS.items() if isinstance(constraint.args.get("kind"), kind)), "")
            if words:
                yield Site((without(constraint),), f"{words} of {column.name}")
    for schema in _new_tables(query):
        for part in schema.expressions:
            if isinstance(part, _TABLE_CONSTRAINTS):
                yield removed(part)


def default_change(query: Query) -> Iterator[Site]:
    """Another default."""
    for node in query.all(exp.DefaultColumnConstraint):
        new = other_value(node.this, query.draw)
        if new is not None:
            yield replaced(node.this, new)


def index_unique_toggle(query: Query) -> Iterator[Site]:
    """UNIQUE forgotten, or added."""
    if isinstance(query.tree, exp.Create) and str(query.tree.args.get("kind")).upper() == "INDEX":
        unique = bool(query.tree.args.get("unique"))
        words = ("UNIQUE", "") if unique else ("", "UNIQUE")
        yield Site((Change(query.tree, "unique", not unique),), *words)


def index_columns(query: Query) -> Iterator[Site]:
    """An index on fewer columns, or on others."""
    for parameters in query.all(exp.IndexParameters):
        columns = parameters.args.get("columns") or []
        if len(columns) > 1:
            for column in columns:
                yield removed(column)
            shown = ", ".join(query.text(column) for column in columns)
            yield Site((Change(parameters, "columns", list(reversed(columns))),), shown, "the reverse")
        elif columns and isinstance(query.tree, exp.Create):
            table = query.tree.this.args.get("table")
            known = query.catalogue.columns(table.name) if table is not None else ()
            others = [each.name for each in known if each.name.lower() != columns[0].this.name.lower()]
            if others:
                yield replaced(columns[0].this, query.named(query.draw.choice(others)))


def defined_name(query: Query) -> Iterator[Site]:
    """A slightly different name for what is created, added or renamed."""
    if isinstance(query.tree, exp.Create):
        table = query.tree.this.this if isinstance(query.tree.this, exp.Schema) else query.tree.this
        if isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier):
            yield _renamed(table.this)
    elif isinstance(query.tree, exp.Alter):
        for action in query.tree.args.get("actions") or ():
            if isinstance(action, exp.ColumnDef) and isinstance(action.this, exp.Identifier):
                yield _renamed(action.this)
            elif isinstance(action, exp.RenameColumn):
                target = action.args["to"]
                yield _renamed(target.this if isinstance(target, exp.Column) else target)
    elif isinstance(query.tree, exp.Execute) and len(query.tree.expressions) > 1:
        # T-SQL renames by a procedure.
        new = query.tree.expressions[1]
        if query.tree.this.name.lower() == "sp_rename" and isinstance(new, exp.Literal):
            yield replaced(new, exp.Literal.string(_other_name(new.this)))


def _renamed(identifier: Tree) -> Site:
    other = _other_name(str(identifier.this))
    return replaced(identifier, exp.to_identifier(other, quoted=bool(identifier.args.get("quoted"))))


def _other_name(name: str) -> str:
    return name[:-1] if name.lower().endswith("s") and len(name) > 2 else f"{name}s"  # noqa: PLR2004 - something must be left


def dropped_object_swap(query: Query) -> Iterator[Site]:
    """Another column, or another table, dropped or renamed."""
    tree = query.tree
    if isinstance(tree, exp.Alter) and isinstance(tree.this, exp.Table):
        columns = [column.name for column in query.catalogue.columns(tree.this.name)]
        for action in tree.args.get("actions") or ():
            nodes = action.args.get("tables") or [action.this] if isinstance(action, exp.Drop) else []
            nodes = [action.this] if isinstance(action, exp.RenameColumn) else nodes
            for node in nodes:
                others = [name for name in columns if node is not None and name.lower() != node.name.lower()]
                if others and isinstance(node, exp.Column | exp.Identifier):
                    column = query.named(query.draw.choice(others))
                    yield replaced(node, column if isinstance(node, exp.Column) else column.this)
    elif isinstance(tree, exp.Drop) and str(tree.args.get("kind")).upper() == "TABLE":
        for table in tree.args.get("tables") or ([tree.this] if tree.this is not None else []):
            others = [name for name in query.catalogue.tables if name != table.name.lower()]
            if others and isinstance(table, exp.Table):
                yield replaced(table.this, query.named(query.draw.choice(others)).this)


def drop_to_empty(query: Query) -> Iterator[Site]:
    """Rows deleted, or values set to NULL, where the table or column itself was to go."""
    tree = query.tree
    if isinstance(tree, exp.Drop) and str(tree.args.get("kind")).upper() == "TABLE":
        tables = tree.args.get("tables") or [tree.this]
        if len(tables) == 1:
            yield replaced(tree, exp.Delete(this=tables[0].copy()))
    elif isinstance(tree, exp.Alter):
        actions = tree.args.get("actions") or ()
        columns = [
            node for action in actions if isinstance(action, exp.Drop) for node in action.args.get("tables") or [action.this]
        ]
        if len(actions) == len(columns) == 1 and columns[0] is not None:
            column = columns[0].copy() if isinstance(columns[0], exp.Column) else exp.Column(this=columns[0].copy())
            yield replaced(tree, exp.Update(this=tree.this.copy(), expressions=[exp.EQ(this=column, expression=exp.Null())]))


OPERATORS = (
    Operator(
        "column_def_drop", "definition", column_def_drop,
        "forgets one column of a new table", "none: the catalogue shows it",
    ),
    Operator(
        "column_type_change", "definition", column_type_change,
        "gives a column another type", "none: the catalogue shows it",
    ),
    Operator(
        "constraint_drop", "definition", constraint_drop,
        "forgets a key, a default, a check or NOT NULL", "an eval_query on the catalogue, or setup_sql with rows that test it",
    ),
    Operator(
        "default_change", "definition", default_change,
        "gives another default", "a row that takes the default",
    ),
    Operator(
        "index_unique_toggle", "definition", index_unique_toggle,
        "forgets UNIQUE, or adds it", "an eval_query on the catalogue",
    ),
    Operator(
        "index_columns", "definition", index_columns,
        "indexes other columns", "an eval_query on the catalogue",
    ),
    Operator(
        "defined_name", "definition", defined_name,
        "gives a slightly different name", "none: the catalogue shows it",
    ),
    Operator(
        "dropped_object_swap", "definition", dropped_object_swap,
        "drops or renames something else", "none: the catalogue shows it",
    ),
    Operator(
        "drop_to_empty", "definition", drop_to_empty,
        "empties what was to be dropped", "none: the catalogue shows it",
    ),
)  # fmt: skip
