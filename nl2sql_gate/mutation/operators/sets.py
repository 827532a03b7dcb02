"""Errors in UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, swap
from nl2sql_gate.sqltext.parse import Tree

_CARRIED = ("with_", "with", "order", "limit", "offset")


def union_all_toggle(query: Query) -> Iterator[Site]:
    """UNION for UNION ALL, which keeps repeated rows. The step of a recursive CTE is left alone."""
    for node in query.all(exp.Union):
        distinct = node.args.get("distinct")
        if not _is_recursive(node):
            words = ("UNION ALL", "UNION") if not distinct else ("UNION", "UNION ALL")
            yield Site((Change(node, "distinct", not distinct),), *words)


def set_operation_swap(query: Query) -> Iterator[Site]:
    """INTERSECT for UNION, EXCEPT for INTERSECT."""
    for node in query.all(exp.Intersect, exp.Except):
        other = exp.Union if isinstance(node, exp.Intersect) else exp.Intersect
        new = other(**{name: _copied(value) for name, value in node.args.items()})
        yield Site((swap(node, new),), node.key.upper(), new.key.upper())


def _is_recursive(node: Tree) -> bool:
    """Whether the set operation is what a recursive CTE repeats."""
    holder: Tree = node.parent
    return holder is not None and holder.key == "cte" and bool(holder.parent.args.get("recursive"))


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return value.copy() if isinstance(value, exp.Expr) else value


def set_branch_drop(query: Query) -> Iterator[Site]:
    """One side of a set operation forgotten."""
    for node in query.all(exp.SetOperation):
        if _is_recursive(node):
            continue
        for kept, lost in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(node, exp.Except) and kept is node.expression:
                continue
            carried = {name: node.args[name].copy() for name in _CARRIED if node.args.get(name) is not None}
            if not isinstance(kept, exp.Select) or any(kept.args.get(name) is not None for name in carried):
                continue
            new = kept.copy()
            for name, value in carried.items():
                new.set(name, value)
            yield Site((swap(node, new),), f"{node.key.upper()} {query.text(lost)}")


OPERATORS = (
    Operator(
        "union_all_toggle", "set", union_all_toggle,
        "takes UNION for UNION ALL, or the other way round", "a row that both branches, or one of them twice, give",
    ),
    Operator(
        "set_operation_swap", "set", set_operation_swap,
        "takes INTERSECT for UNION, EXCEPT for INTERSECT", "a row that only one branch gives",
    ),
    Operator(
        "set_branch_drop", "set", set_branch_drop,
        "forgets one branch", "a row that only this branch gives or takes away",
    ),
)  # fmt: skip
