"""Errors in INSERT and UPDATE; their conditions and queries have the errors of other modules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators.literals import other_value
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, removed, replaced, swap
from nl2sql_gate.sqltext.parse import Tree


def _assignments(query: Query) -> Iterator[Tree]:
    """`column = value` of UPDATE, MERGE and ON CONFLICT."""
    for node in query.all(exp.Update, exp.OnConflict):
        yield from (each for each in node.expressions if isinstance(each, exp.EQ))


def _rows(query: Query) -> Iterator[Tree]:
    for node in query.all(exp.Values):
        yield from (row for row in node.expressions if isinstance(row, exp.Tuple))


def written_value(query: Query) -> Iterator[Site]:
    """Another value of the same kind written."""
    values = [assignment.expression for assignment in _assignments(query)]
    values += [cell for row in _rows(query) for cell in row.expressions]
    if isinstance(query.tree, exp.Insert):
        values += [item.unalias() for branch in query.branches for item in branch.expressions]
    for value in values:
        for literal in (node for node in value.walk(prune=lambda n: isinstance(n, exp.Query)) if _is_plain(node)):
            new = other_value(literal, query.draw)
            if new is not None:
                yield replaced(literal, new)


def _is_plain(node: Tree) -> bool:
    return isinstance(node, exp.Literal | exp.Boolean)


def assignment_drop(query: Query) -> Iterator[Site]:
    """One column of several not written."""
    for assignment in _assignments(query):
        if len(assignment.parent.expressions) > 1:
            yield removed(assignment)


def assignment_column_swap(query: Query) -> Iterator[Site]:
    """Another column of the same kind written."""
    if not isinstance(query.tree, exp.Update):
        return
    target = query.sources(query.tree)
    for assignment in query.tree.expressions:
        column = assignment.this
        if not (target and isinstance(column, exp.Column)):
            continue
        known = target[0].find(column.name)
        others = [other for other in target[0].columns if known and other.kind == known.kind and other.name != known.name]
        if others:
            yield replaced(column, query.named(query.draw.choice(others).name))


def inserted_values_swap(query: Query) -> Iterator[Site]:
    """Two neighbouring values of the same kind in the wrong order."""
    for row in _rows(query):
        for left, right in pairwise(row.expressions):
            both = isinstance(left, exp.Literal) and isinstance(right, exp.Literal) and left.is_string == right.is_string
            if both and left != right:
                cells = [right if cell is left else left if cell is right else cell for cell in row.expressions]
                yield Site((Change(row, "expressions", cells),), f"{left}, {right}", f"{right}, {left}")


def inserted_row_drop(query: Query) -> Iterator[Site]:
    """One row of several not inserted."""
    for row in _rows(query):
        if len(row.parent.expressions) > 1:
            yield removed(row)


def upsert_ignore(query: Query) -> Iterator[Site]:
    """A row that is there already left as it is."""
    for node in query.all(exp.OnConflict):
        if not node.expressions:
            continue
        if node.args.get("duplicate"):
            changes = (Change(node.parent, "conflict", None), Change(node.parent, "ignore", value=True))
            yield Site(changes, "ON DUPLICATE KEY UPDATE", "INSERT IGNORE")
        else:
            action = exp.var("DO NOTHING")
            yield Site((Change(node, "expressions", []), Change(node, "action", action)), "DO UPDATE", "DO NOTHING")


def update_join_lost(query: Query) -> Iterator[Site]:
    """The condition that ties an updated row to its source lost."""
    if not isinstance(query.tree, exp.Update):
        return
    source = query.tree.args.get("from_") or query.tree.args.get("from")
    where = query.tree.args.get("where")
    if source is None or where is None:
        return
    for node in where.find_all(exp.EQ):
        left, right = node.this, node.expression
        if isinstance(left, exp.Column) and isinstance(right, exp.Column) and left.table != right.table:
            yield Site((swap(node, exp.true()),), node)


OPERATORS = (
    Operator(
        "written_value", "write", written_value,
        "writes another value of the same kind", "any row that is written",
    ),
    Operator(
        "assignment_drop", "write", assignment_drop,
        "leaves one column unwritten", "any row that is written",
    ),
    Operator(
        "assignment_column_swap", "write", assignment_column_swap,
        "writes another column of the same kind", "any row that is written",
    ),
    Operator(
        "inserted_values_swap", "write", inserted_values_swap,
        "swaps two neighbouring values", "any row that is inserted",
    ),
    Operator(
        "inserted_row_drop", "write", inserted_row_drop,
        "leaves one row out", "any row that is inserted",
    ),
    Operator(
        "upsert_ignore", "write", upsert_ignore,
        "leaves a row that is there as it is", "a row with the same key",
    ),
    Operator(
        "update_join_lost", "write", update_join_lost,
        "updates every row from every row of the other table", "a row that has no partner",
    ),
)  # fmt: skip
