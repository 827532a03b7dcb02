"""Errors in joins: lost conditions, wrong keys, the wrong kind, a table too few."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.facts import conditions, has_partner, rejected_places
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators.filters import LOOSER, MIRRORED, STRICTER, deleted, with_sign
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, replaced, without
from nl2sql_gate.mutation.walks import within
from nl2sql_gate.sqltext.parse import Tree


def _conditioned(query: Query) -> Iterator[Tree]:
    """Joins with an ON or USING."""
    for join in query.all(exp.Join):
        if join.args.get("on") is not None or join.args.get("using"):
            yield join


def join_break(query: Query) -> Iterator[Site]:
    """Every row with every row: the condition of a join lost, whatever its kind."""
    for join in _conditioned(query):
        on = join.args.get("on")
        using = join.args.get("using") or ()
        if join.args.get("method"):
            continue
        changes = [Change(join, name, None) for name in ("on", "using", "side")]
        before = on if on is not None else "USING (" + ", ".join(query.text(name) for name in using) + ")"
        yield Site((*changes, Change(join, "kind", "CROSS")), before)


def _of_kind(query: Query, *sides: str) -> Iterator[Tree]:
    for join in _conditioned(query):
        kind = (join.args.get("kind") or "").upper()
        if (join.args.get("side") or "").upper() in sides and kind in {"", "INNER", "OUTER"} and not join.args.get("method"):
            yield join


def join_type_to_left(query: Query) -> Iterator[Site]:
    """LEFT JOIN where rows without a partner were to go."""
    for join in _of_kind(query, ""):
        select = join.parent
        if isinstance(select, exp.Select) and _is_the_same(query, select, join):
            continue
        yield Site((Change(join, "side", "LEFT"), Change(join, "kind", None)), "JOIN", f"LEFT JOIN {query.text(join.this)}")


def _is_the_same(query: Query, select: Tree, join: Tree) -> bool:
    """Whether rows without a partner do not exist, or do not get through the conditions behind the join."""
    name = join.this.alias_or_name.lower()
    if has_partner(query, select, join):
        return True
    rest = [condition for condition in conditions(select) if condition.find_ancestor(exp.Join, exp.Select) is not join]
    return any(place[0] == name for condition in rest for place in rejected_places(query, condition))


def join_type_to_inner(query: Query) -> Iterator[Site]:
    """JOIN where rows without a partner were to stay."""
    for join in _of_kind(query, "LEFT", "RIGHT", "FULL"):
        if isinstance(join.parent, exp.Select) and join.args["side"].upper() == "LEFT" and has_partner(query, join.parent, join):
            continue
        before = f"{join.args['side'].upper()} JOIN"
        yield Site((Change(join, "side", None), Change(join, "kind", None)), before, f"JOIN {query.text(join.this)}")


def join_key_swap(query: Query) -> Iterator[Site]:
    """A join by another column of the same table and kind."""
    for column in _join_columns(query):
        alike = query.alike(column)
        if alike:
            yield replaced(column, query.draw.choice(alike))


def _join_columns(query: Query) -> Iterator[Tree]:
    for join in _conditioned(query):
        if join.args.get("on") is not None:
            for node in within(join.args["on"], exp.EQ):
                yield from _sides(node)
    for clause in query.all(exp.Where):
        for node in within(clause, exp.EQ):
            yield from _sides(node)


def _sides(node: Tree) -> Iterator[Tree]:
    left, right = node.this, node.expression
    both = isinstance(left, exp.Column) and isinstance(right, exp.Column)
    if both and left.table and right.table and left.table.lower() != right.table.lower():
        yield from (left, right)


def join_condition_drop(query: Query) -> Iterator[Site]:
    """One of several conditions of a join lost."""
    for join in _conditioned(query):
        if join.args.get("on") is not None:
            yield from deleted(join.args["on"])


def join_comparison(query: Query) -> Iterator[Site]:
    """A comparison inside ON with its sign or boundary wrong; equalities of two tables excepted."""
    for join in _conditioned(query):
        on = join.args.get("on")
        for node in within(on, *MIRRORED) if on is not None else ():
            if not list(_sides(node)) or not isinstance(node, exp.EQ):
                sign = {**STRICTER, **LOOSER}.get(type(node)) or MIRRORED[type(node)]
                yield replaced(node, with_sign(node, sign))


def join_condition_to_where(query: Query) -> Iterator[Site]:
    """A condition of a LEFT JOIN tested after it, where rows without a partner cannot fulfil it."""
    for join in _of_kind(query, "LEFT"):
        on, select = join.args.get("on"), join.parent
        if not isinstance(on, exp.And) or not isinstance(select, exp.Select):
            continue
        where = select.args.get("where")
        condition = on.expression.copy()
        whole = condition if where is None else exp.And(this=_grouped(where.this.copy()), expression=_grouped(condition))
        changes = (Change(join, "on", on.this.copy()), Change(select, "where", exp.Where(this=whole)))
        yield Site(changes, f"ON {query.text(on)}", f"WHERE {query.text(on.expression)}")


def _grouped(node: Tree) -> Tree:
    return exp.paren(node, copy=False) if isinstance(node, exp.Or) else node


def join_drop(query: Query) -> Iterator[Site]:
    """A table that only filters left out: nothing but its own join names it."""
    for join in _conditioned(query):
        name = join.this.alias_or_name.lower() if isinstance(join.this, exp.Table | exp.Subquery) else ""
        select = join.parent
        if not name or not isinstance(select, exp.Select) or (join.args.get("side") or "").upper() in {"RIGHT", "FULL"}:
            continue
        columns = [column for column in select.find_all(exp.Column) if column.find_ancestor(exp.Join) is not join]
        stars = any(item.is_star for item in select.expressions)
        if not stars and not any(not column.table or column.table.lower() == name for column in columns):
            yield Site((without(join),), f"JOIN {query.text(join.this)}")


OPERATORS = (
    Operator(
        "join_break", "join", join_break,
        "joins every row with every row", "two rows on one side of the join", published=True,
    ),
    Operator(
        "join_type_to_left", "join", join_type_to_left,
        "keeps rows without a partner", "a row without a partner in the joined table", published=True,
    ),
    Operator(
        "join_type_to_inner", "join", join_type_to_inner,
        "loses rows without a partner", "a row without a partner in the joined table",
    ),
    Operator(
        "join_key_swap", "join", join_key_swap,
        "joins by another column of the same table and kind", "a row whose two columns have different values",
    ),
    Operator(
        "join_condition_drop", "join", join_condition_drop,
        "loses one of several join conditions", "a pair of rows that only this condition keeps apart",
    ),
    Operator(
        "join_comparison", "join", join_comparison,
        "has a comparison in ON the wrong way round, or its boundary", "a pair of rows exactly on the boundary",
    ),
    Operator(
        "join_condition_to_where", "join", join_condition_to_where,
        "tests a condition of LEFT JOIN after the join", "a row whose only partners fail the condition",
    ),
    Operator(
        "join_drop", "join", join_drop,
        "leaves out a table that only filters or multiplies", "a row without a partner, or with two",
    ),
)  # fmt: skip
