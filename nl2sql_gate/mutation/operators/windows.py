"""Errors in window functions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators.ordering import null_first_by_habit
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, replaced, without

_RANKS = {exp.Rank: exp.RowNumber, exp.DenseRank: exp.Rank}
_NEIGHBOURS = {exp.Lag: exp.Lead, exp.Lead: exp.Lag, exp.FirstValue: exp.LastValue, exp.LastValue: exp.FirstValue}


def window_partition_drop(query: Query) -> Iterator[Site]:
    """One window over all rows."""
    for node in query.all(exp.Window):
        if node.args.get("partition_by"):
            keys = ", ".join(query.text(key) for key in node.args["partition_by"])
            yield Site((Change(node, "partition_by", []),), f"PARTITION BY {keys}")


def window_order_flip(query: Query) -> Iterator[Site]:
    """The window's rows the other way round."""
    for node in query.all(exp.Window):
        order = node.args.get("order")
        for term in order.expressions if order is not None else ():
            descending = not term.args.get("desc")
            first = null_first_by_habit(query, descending=descending)
            yield replaced(term, exp.Ordered(this=term.this.copy(), desc=descending or None, nulls_first=first))


def rank_swap(query: Query) -> Iterator[Site]:
    """ROW_NUMBER for RANK, which gives equal rows equal numbers.

    Not the reverse: where that differs, golden SQL itself is a draw.
    """
    for node in query.all(*_RANKS):
        if isinstance(node.parent, exp.Window) and type(node) in _RANKS:
            yield replaced(node, _RANKS[type(node)]())


def neighbour_swap(query: Query) -> Iterator[Site]:
    """The next row for the one before, the last for the first."""
    for node in query.all(*_NEIGHBOURS):
        if type(node) in _NEIGHBOURS:
            arguments = {name: value.copy() for name, value in node.args.items() if isinstance(value, exp.Expr)}
            yield replaced(node, _NEIGHBOURS[type(node)](**arguments))


def window_frame(query: Query) -> Iterator[Site]:
    """The frame forgotten, or a row too long or short."""
    for node in query.all(exp.WindowSpec):
        yield Site((without(node),), node)
        start = node.args.get("start")
        if isinstance(start, exp.Literal) and start.is_int:
            yield Site(replaced(start, exp.Literal.number(int(start.this) + 1)).changes, start, f"{int(start.this) + 1} rows")


OPERATORS = (
    Operator(
        "window_partition_drop", "window", window_partition_drop,
        "drops PARTITION BY", "two partitions",
    ),
    Operator(
        "window_order_flip", "window", window_order_flip,
        "orders a window the wrong way", "two rows of a partition with different keys",
    ),
    Operator(
        "rank_swap", "window", rank_swap,
        "takes ROW_NUMBER for RANK, or RANK for DENSE_RANK", "two rows of a partition with equal keys",
    ),
    Operator(
        "neighbour_swap", "window", neighbour_swap,
        "takes the next row for the one before, the last for the first", "three rows of a partition",
    ),
    Operator(
        "window_frame", "window", window_frame,
        "forgets the frame of a window, or makes it a row longer", "more rows than the frame holds",
    ),
)  # fmt: skip
