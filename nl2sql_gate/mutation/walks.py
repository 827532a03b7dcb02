"""Ways through a tree that stop where a query inside it begins, and what they tell of one SELECT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from nl2sql_gate.sqltext.parse import Tree


def within(clause: Tree, *kinds: type[Any]) -> Iterator[Tree]:
    """The nodes of these kinds in `clause`, without entering queries inside it."""
    if isinstance(clause, kinds):
        yield clause
    for child in clause.iter_expressions():
        if not isinstance(child, exp.Query):
            yield from within(child, *kinds)


def junction_leaves(clause: Tree) -> Iterator[tuple[Tree, Tree, Tree]]:
    """For each condition joined to others by AND or OR in `clause`: the junction, the condition, and what else it joins."""
    for junction in within(clause, exp.And, exp.Or):
        for leaf, rest in ((junction.this, junction.expression), (junction.expression, junction.this)):
            if not isinstance(leaf, type(junction)):
                yield junction, leaf, rest


def is_aggregated(select: Tree) -> bool:
    """Whether the rows of a SELECT are groups: it has GROUP BY, or aggregates that no window spreads."""
    if select.args.get("group") is not None:
        return True
    return any(is_aggregate(node) for item in select.expressions for node in within(item, exp.AggFunc))


def is_aggregate(node: Tree) -> bool:
    """Whether a function call aggregates rows: no window function, no plain GREATEST."""
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(node, exp.AggFunc) and not isinstance(parent, exp.Window)


def group_keys(select: Tree) -> Sequence[Tree]:
    """The plain keys of GROUP BY."""
    group = select.args.get("group")
    return group.expressions if group is not None else ()
