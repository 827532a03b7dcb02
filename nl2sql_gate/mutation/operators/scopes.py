"""Errors in subqueries, derived tables and CTEs: conditions in the wrong scope, or lost there."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators.filters import LOOSER, MIRRORED, STRICTER, compared, deleted
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, swap, without
from nl2sql_gate.mutation.walks import group_keys, junction_leaves, within
from nl2sql_gate.sqltext.parse import Tree


def _clauses(query: Query, *names: str) -> Iterator[Tree]:
    for select in query.nested:
        for name in names:
            if select.args.get(name) is not None:
                yield select.args[name]


def nested_predicate_delete(query: Query) -> Iterator[Site]:
    """One condition of several lost."""
    for clause in _clauses(query, "where", "having"):
        yield from deleted(clause)


def nested_condition_flip(query: Query) -> Iterator[Site]:
    """= for <>, < for >."""
    for clause in _clauses(query, "where", "having"):
        yield from compared(clause, MIRRORED)


def nested_boundary(query: Query) -> Iterator[Site]:
    """The boundary on the wrong side."""
    for clause in _clauses(query, "where", "having"):
        yield from compared(clause, {**STRICTER, **LOOSER})


def nested_filter_remove(query: Query) -> Iterator[Site]:
    """No condition at all; not where it is what ties the subquery to the row."""
    for clause in _clauses(query, "where", "having"):
        if not list(_ties(query, clause)):
            yield Site((without(clause),), clause)


def correlation_remove(query: Query) -> Iterator[Site]:
    """A subquery that is not about the row at hand: the condition that ties it to the outer query lost."""
    for clause in _clauses(query, "where"):
        for node in _ties(query, clause):
            junction = next(((j, rest) for j, leaf, rest in junction_leaves(clause) if leaf is node), None)
            if junction is not None:
                yield Site((swap(junction[0], junction[1].copy()),), node)
            elif clause.this is node:
                yield Site((without(clause),), node)


def _ties(query: Query, clause: Tree) -> Iterator[Tree]:
    """Comparisons with a column of an outer scope."""
    names = {source.name.lower() for source in query.sources(clause.parent)}
    for node in within(clause, *MIRRORED):
        if any(column.table and column.table.lower() not in names for column in within(node, exp.Column)):
            yield node


def filter_to_outer(query: Query) -> Iterator[Site]:
    """A condition of a derived table or CTE tested outside, after its rows were grouped, numbered or cut."""
    for select in query.nested:
        where = select.args.get("where")
        holder = select.parent
        if where is None or not isinstance(holder, exp.Subquery) or not isinstance(holder.parent, exp.From):
            continue
        outer = holder.parent.parent
        shown = {item.alias_or_name.lower() for item in select.expressions}
        # Tested before or after, a whole group or partition goes or stays.
        shown -= {key.name.lower() for key in _whole_keys(select)}
        if not isinstance(outer, exp.Select) or not _changes_rows(select):
            continue
        leaves = [(junction, leaf, rest) for junction, leaf, rest in junction_leaves(where)] or [(None, where.this, None)]
        for junction, leaf, rest in leaves:
            columns = list(within(leaf, exp.Column))
            if columns and all(column.name.lower() in shown for column in columns) and not isinstance(junction, exp.Or):
                lost = without(where) if junction is None else swap(junction, rest.copy())
                moved = leaf.copy()
                for column in moved.find_all(exp.Column):
                    column.set("table", None)
                kept = outer.args.get("where")
                whole = moved if kept is None else exp.And(this=exp.paren(kept.this.copy(), copy=False), expression=moved)
                yield Site((lost, Change(outer, "where", exp.Where(this=whole))), f"{query.text(leaf)} inside", "outside")


def _whole_keys(select: Tree) -> list[Tree]:
    if select.args.get("limit") is not None:
        return []
    parts = [
        key for item in select.expressions for node in within(item, exp.Window) for key in node.args.get("partition_by") or ()
    ]
    return [*group_keys(select), *parts]


def _changes_rows(select: Tree) -> bool:
    return any(select.args.get(name) is not None for name in ("group", "limit", "distinct")) or any(
        True for item in select.expressions for _ in within(item, exp.Window)
    )


OPERATORS = (
    Operator(
        "nested_predicate_delete", "scope", nested_predicate_delete,
        "loses one condition of a subquery or CTE", "a row of the subquery that only this condition keeps out",
    ),
    Operator(
        "nested_condition_flip", "scope", nested_condition_flip,
        "takes = for <>, < for > in a subquery or CTE", "a row of the subquery on either side",
    ),
    Operator(
        "nested_boundary", "scope", nested_boundary,
        "puts a boundary on the wrong side in a subquery or CTE", "a row of the subquery exactly on the boundary",
    ),
    Operator(
        "nested_filter_remove", "scope", nested_filter_remove,
        "drops WHERE or HAVING of a subquery or CTE", "a row of the subquery that the condition keeps out",
    ),
    Operator(
        "correlation_remove", "scope", correlation_remove,
        "unties a subquery from the row at hand", "two outer rows with different partners in the subquery",
    ),
    Operator(
        "filter_to_outer", "scope", filter_to_outer,
        "tests a condition outside instead of inside", "a group with rows on both sides of the condition",
    ),
)  # fmt: skip
