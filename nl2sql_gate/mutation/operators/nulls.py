"""Errors about NULL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Site, replaced
from nl2sql_gate.sqltext.parse import Tree


def _checks(query: Query) -> Iterator[tuple[Tree, Tree, bool]]:
    """Every IS NULL: the whole node with its negation, the node itself, and whether it is negated."""
    for node in query.all(exp.Is):
        if not isinstance(node.expression, exp.Null):
            continue
        negated = bool(node.args.get("negate"))
        whole = node
        if isinstance(node.parent, exp.Not):
            whole, negated = node.parent, not negated
        yield whole, node, negated


def null_check_flip(query: Query) -> Iterator[Site]:
    """IS NULL for IS NOT NULL."""
    for whole, node, negated in _checks(query):
        plain = exp.Is(this=node.this.copy(), expression=exp.Null())
        yield replaced(whole, plain if negated else exp.Not(this=plain))


def null_compare(query: Query) -> Iterator[Site]:
    """`= NULL`, which no row fulfils."""
    for whole, node, negated in _checks(query):
        if query.dialect == "tsql":
            continue
        sign = exp.NEQ if negated else exp.EQ
        yield replaced(whole, sign(this=node.this.copy(), expression=exp.Null()))


def coalesce_remove(query: Query) -> Iterator[Site]:
    """NULL left as it is."""
    for node in query.all(exp.Coalesce):
        if node.expressions:
            yield replaced(node, node.this.copy())


def nullif_remove(query: Query) -> Iterator[Site]:
    """A value that should have become NULL left as it is."""
    for node in query.all(exp.Nullif):
        yield replaced(node, node.this.copy())


def null_included(query: Query) -> Iterator[Site]:
    """Rows with NULL taken for different: `x <> 1` fulfilled by NULL too."""
    for node in query.all(exp.NEQ):
        column = node.this
        known = query.meaning(column) if isinstance(column, exp.Column) else None
        where = node.find_ancestor(exp.Where, exp.Select)
        if known is not None and known.nullable and known.kind != "unknown" and isinstance(where, exp.Where):
            check = exp.Is(this=column.copy(), expression=exp.Null())
            yield replaced(node, exp.paren(exp.Or(this=node.copy(), expression=check), copy=False))


OPERATORS = (
    Operator(
        "null_check_flip", "null", null_check_flip,
        "takes IS NULL for IS NOT NULL", "a row with NULL and one without",
    ),
    Operator(
        "null_compare", "null", null_compare,
        "writes = NULL for IS NULL", "a row with NULL, or for IS NOT NULL one without",
    ),
    Operator(
        "coalesce_remove", "null", coalesce_remove,
        "leaves NULL as it is", "a row with NULL",
    ),
    Operator(
        "nullif_remove", "null", nullif_remove,
        "keeps a value that should become NULL", "a row with just this value",
    ),
    Operator(
        "null_included", "null", null_included,
        "lets NULL fulfil <>", "a row with NULL",
    ),
)  # fmt: skip
