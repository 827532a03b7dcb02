"""Errors in WHERE and HAVING of the statement itself; those of subqueries are in `scopes`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from nl2sql_gate.mutation.facts import is_always_there
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Site, replaced, swap, without
from nl2sql_gate.mutation.walks import junction_leaves, within
from nl2sql_gate.sqltext.parse import Tree

Signs = Mapping[type[Any], type[Any]]

MIRRORED: dict[type[Any], type[Any]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}
STRICTER: dict[type[Any], type[Any]] = {exp.GTE: exp.GT, exp.LTE: exp.LT}
LOOSER: dict[type[Any], type[Any]] = {exp.GT: exp.GTE, exp.LT: exp.LTE}
COMPARISONS = tuple(MIRRORED)


def clauses(query: Query, name: str) -> Iterator[Tree]:
    """The WHERE or HAVING clauses of the statement itself."""
    for scope in query.outer:
        clause = scope.args.get(name)
        if clause is not None:
            yield clause


def compared(clause: Tree, classes: Signs) -> Iterator[Site]:
    """Each comparison of `clause` with its sign replaced."""
    for node in within(clause, *classes):
        if type(node) in classes and not _joins_sources(node):
            yield replaced(node, with_sign(node, classes[type(node)]))


def with_sign(node: Tree, sign: type[Any]) -> Tree:
    """The comparison with another sign."""
    return sign(this=node.this.copy(), expression=node.expression.copy())


def deleted(clause: Tree) -> Iterator[Site]:
    """Each condition of `clause` left out; the others keep their AND and OR."""
    for junction, leaf, rest in junction_leaves(clause):
        yield Site((swap(junction, rest.copy()),), leaf)


def _joins_sources(node: Tree) -> bool:
    """Whether an equality compares columns of two sources: an old-style join, where the opposite is a cross product."""
    left, right = node.this, node.expression
    if not (isinstance(node, exp.EQ) and isinstance(left, exp.Column) and isinstance(right, exp.Column)):
        return False
    return bool(left.table and right.table and left.table.lower() != right.table.lower())


def where_predicate_delete(query: Query) -> Iterator[Site]:
    """One condition of several lost."""
    for clause in clauses(query, "where"):
        yield from deleted(clause)


def where_condition_flip(query: Query) -> Iterator[Site]:
    """= for <>, < for >, <= for >=, and the other way round."""
    for clause in clauses(query, "where"):
        yield from compared(clause, MIRRORED)


def where_strengthen(query: Query) -> Iterator[Site]:
    """The boundary left out: <= becomes <, >= becomes >; BETWEEN loses its upper end."""
    for clause in clauses(query, "where"):
        yield from compared(clause, STRICTER)
        for node in within(clause, exp.Between):
            if not node.args.get("symmetric"):
                low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
                high = exp.LT(this=node.this.copy(), expression=node.args["high"].copy())
                yield replaced(node, exp.paren(exp.And(this=low, expression=high), copy=False))


def where_weaken(query: Query) -> Iterator[Site]:
    """The boundary taken in: < becomes <=, > becomes >=."""
    for clause in clauses(query, "where"):
        yield from compared(clause, LOOSER)


def where_remove(query: Query) -> Iterator[Site]:
    """No condition at all."""
    for clause in clauses(query, "where"):
        yield Site((without(clause),), clause)


def having_condition_flip(query: Query) -> Iterator[Site]:
    """As `where_condition_flip`, on groups."""
    for clause in clauses(query, "having"):
        yield from compared(clause, MIRRORED)


def having_remove(query: Query) -> Iterator[Site]:
    """All groups."""
    for clause in clauses(query, "having"):
        yield Site((without(clause),), clause)


def having_predicate_delete(query: Query) -> Iterator[Site]:
    """One condition on groups lost."""
    for clause in clauses(query, "having"):
        yield from deleted(clause)


def having_boundary(query: Query) -> Iterator[Site]:
    """The boundary of a condition on groups on the wrong side."""
    for clause in clauses(query, "having"):
        yield from compared(clause, {**STRICTER, **LOOSER})


def connective_swap(query: Query) -> Iterator[Site]:
    """AND for OR, or OR for AND."""
    for clause in (*clauses(query, "where"), *clauses(query, "having")):
        for node in within(clause, exp.And, exp.Or):
            left, right = node.this.copy(), node.expression.copy()
            if isinstance(node, exp.And):
                if not _joined(node):
                    yield replaced(node, exp.paren(exp.Or(this=left, expression=right), copy=False))
            else:
                # AND binds more tightly, so its sides keep what they were.
                yield replaced(node, exp.And(this=_grouped(left), expression=_grouped(right)))


def _joined(node: Tree) -> bool:
    return any(_joins_sources(side) for side in (node.this, node.expression))


def _grouped(node: Tree) -> Tree:
    return exp.paren(node, copy=False) if isinstance(node, exp.Or) else node


def parenthesis_remove(query: Query) -> Iterator[Site]:
    """`(a OR b) AND c` without its parentheses."""
    for clause in clauses(query, "where"):
        for node in within(clause, exp.Paren):
            if isinstance(node.this, exp.Or) and isinstance(node.parent, exp.And | exp.Not):
                yield replaced(node, node.this.copy())


def where_column_swap(query: Query) -> Iterator[Site]:
    """A condition on another column of the same table and kind."""
    for clause in (*clauses(query, "where"), *clauses(query, "having")):
        for column in within(clause, exp.Column):
            alike = query.alike(column)
            if isinstance(column.parent, exp.Is) and is_always_there(query, column):
                alike = [other for other in alike if not _is_there_with(query, column, other)]
            if alike and not (isinstance(column.parent, exp.EQ) and _joins_sources(column.parent)):
                yield replaced(column, query.draw.choice(alike))


def _is_there_with(query: Query, column: Tree, other: Tree) -> bool:
    """Whether the other column of the same source is NULL just where this one is."""
    other.parent = column.parent
    return is_always_there(query, other)


def membership_flip(query: Query) -> Iterator[Site]:
    """IN, EXISTS, LIKE or BETWEEN for its opposite, at any depth."""
    for node in query.all(exp.In, exp.Exists, exp.Like, exp.ILike, exp.Between):
        if node.find_ancestor(exp.Where, exp.Having, exp.Join, exp.If) is None:
            continue
        whole = node.parent if isinstance(node.parent, exp.Escape) else node
        if isinstance(whole.parent, exp.Not):
            yield replaced(whole.parent, whole.copy())
        elif node.args.get("negate"):
            plain = whole.copy()
            (plain.this if plain is not node and isinstance(plain, exp.Escape) else plain).set("negate", None)
            yield replaced(whole, plain)
        else:
            yield replaced(whole, exp.Not(this=whole.copy()))


OPERATORS = (
    Operator(
        "where_predicate_delete", "filter", where_predicate_delete,
        "loses one condition of several", "a row that only this condition keeps out, or lets in", published=True,
    ),
    Operator(
        "where_condition_flip", "filter", where_condition_flip,
        "takes = for <>, < for >, <= for >=", "a row on either side of the comparison", published=True,
    ),
    Operator(
        "where_strengthen", "filter", where_strengthen,
        "leaves the boundary out: <= becomes <, >= becomes >", "a row exactly on the boundary", published=True,
    ),
    Operator(
        "where_weaken", "filter", where_weaken,
        "takes the boundary in: < becomes <=, > becomes >=", "a row exactly on the boundary", published=True,
    ),
    Operator(
        "where_remove", "filter", where_remove,
        "drops WHERE", "a row that WHERE keeps out", published=True,
    ),
    Operator(
        "having_condition_flip", "filter", having_condition_flip,
        "takes = for <>, < for >, <= for >= in HAVING", "a group on either side of the comparison", published=True,
    ),
    Operator(
        "having_remove", "filter", having_remove,
        "drops HAVING", "a group that HAVING keeps out", published=True,
    ),
    Operator(
        "having_predicate_delete", "filter", having_predicate_delete,
        "loses one condition of HAVING", "a group that only this condition keeps out",
    ),
    Operator(
        "having_boundary", "filter", having_boundary,
        "puts the boundary of HAVING on the wrong side", "a group exactly on the boundary",
    ),
    Operator(
        "connective_swap", "filter", connective_swap,
        "takes AND for OR, or OR for AND", "a row that fulfils one side and not the other",
    ),
    Operator(
        "parenthesis_remove", "filter", parenthesis_remove,
        "drops the parentheses around an OR", "a row that fulfils the first side of the OR and not the condition behind it",
    ),
    Operator(
        "where_column_swap", "filter", where_column_swap,
        "tests another column of the same table and kind", "a row in which only one of the two columns fulfils the condition",
    ),
    Operator(
        "membership_flip", "filter", membership_flip,
        "takes IN, EXISTS, LIKE or BETWEEN for its opposite", "a row on either side of the condition",
    ),
)  # fmt: skip
