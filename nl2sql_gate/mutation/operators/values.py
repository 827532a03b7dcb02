"""Errors in values: dates, numbers, the case of letters, patterns, arithmetic, CASE."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators.filters import COMPARISONS, LOOSER, MIRRORED, STRICTER, with_sign
from nl2sql_gate.mutation.operators.literals import other_case, shifted_date, shifted_number
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Site, removed, replaced
from nl2sql_gate.mutation.walks import within
from nl2sql_gate.sqltext.parse import Tree

_CONDITIONS = (exp.Where, exp.Having, exp.Join, exp.If, exp.Qualify)
_PREDICATES = (*COMPARISONS, exp.Between, exp.In)
CASELESS = {"mysql", "tsql"}
_TURNED = {exp.Add: exp.Sub, exp.Sub: exp.Add, exp.Mul: exp.Div, exp.Div: exp.Mul}


def _compared(query: Query) -> Iterator[Tree]:
    """Literals that something is compared with, at any depth; within a cast to a date too."""
    for literal in query.all(exp.Literal):
        predicate = _predicate(literal.parent)
        if predicate is not None and predicate.find_ancestor(*_CONDITIONS) is not None:
            yield literal


def _predicate(node: Tree) -> Tree:
    """The comparison that `node` is, or is a side of, if no function but a cast stands between."""
    while node is not None and not isinstance(node, _PREDICATES):
        if isinstance(node, exp.Query | exp.Limit) or (isinstance(node, exp.Func) and not isinstance(node, exp.Cast | exp.Date)):
            return None
        node = node.parent
    return node


def date_boundary(query: Query) -> Iterator[Site]:
    """A period that begins or ends a day off; a month or a year where that is what is compared."""
    for literal in _compared(query):
        new = shifted_date(literal, query.draw)
        if new is not None:
            yield replaced(literal, new)


def number_shift(query: Query) -> Iterator[Site]:
    """A limit that is off by one."""
    for literal in _compared(query):
        new = shifted_number(literal, query.draw)
        if new is not None:
            yield replaced(literal, new)


def text_case(query: Query) -> Iterator[Site]:
    """A text in the wrong case. Not where the dialect compares without case unless told otherwise."""
    if query.dialect in CASELESS:
        return
    for literal in _compared(query):
        new = other_case(literal)
        if new is not None:
            yield replaced(literal, new)


def case_fold_remove(query: Query) -> Iterator[Site]:
    """LOWER or UPPER forgotten."""
    for node in query.all(exp.Lower, exp.Upper):
        # There texts are equal, or alike, whatever their case.
        compares_without_case = query.dialect in CASELESS or (query.dialect == "sqlite" and isinstance(node.parent, exp.Like))
        if node.this is not None and not (compares_without_case and node.find_ancestor(exp.Predicate, exp.Select) is node.parent):
            yield replaced(node, node.this.copy())


def in_list_drop(query: Query) -> Iterator[Site]:
    """One value of a list forgotten."""
    for node in query.all(exp.In):
        for value in node.expressions if len(node.expressions) > 1 else ():
            yield removed(value)


def like_pattern(query: Query) -> Iterator[Site]:
    """A wildcard at one end of a pattern forgotten."""
    for node in query.all(exp.Like, exp.ILike):
        pattern = node.expression
        if isinstance(pattern, exp.Literal) and pattern.is_string and pattern.this.strip("%"):
            if pattern.this.startswith("%"):
                yield replaced(pattern, exp.Literal.string(pattern.this[1:]))
            if pattern.this.endswith("%"):
                yield replaced(pattern, exp.Literal.string(pattern.this[:-1]))


def arithmetic_swap(query: Query) -> Iterator[Site]:
    """+ for -, * for /."""
    for node in query.all(*_TURNED):
        if type(node) in _TURNED and not isinstance(node.expression, exp.Interval):
            yield replaced(node, _TURNED[type(node)](this=node.this.copy(), expression=node.expression.copy()))


def operand_swap(query: Query) -> Iterator[Site]:
    """Differences and quotients the wrong way round."""
    for node in query.all(exp.Sub, exp.Div):
        if type(node) in _TURNED and not isinstance(node.expression, exp.Interval):
            new = node.copy()
            new.set("this", _alone(node.expression.copy()))
            new.set("expression", _alone(node.this.copy()))
            yield replaced(node, new)


def _alone(node: Tree) -> Tree:
    return exp.paren(node, copy=False) if isinstance(node, exp.Binary) else node


def boolean_flip(query: Query) -> Iterator[Site]:
    """TRUE for FALSE."""
    for node in query.all(exp.Boolean):
        if node.find_ancestor(*_CONDITIONS) is not None:
            yield replaced(node, exp.Boolean(this=not node.this))


def case_branch_drop(query: Query) -> Iterator[Site]:
    """One WHEN of several forgotten."""
    for node in query.all(exp.Case):
        for branch in node.args["ifs"] if len(node.args["ifs"]) > 1 else ():
            yield Site(removed(branch).changes, f"WHEN {query.text(branch.this)}")


def case_default_drop(query: Query) -> Iterator[Site]:
    """ELSE forgotten. Not below SUM, which passes over NULL as over nought."""
    for node in query.all(exp.Case):
        default = node.args.get("default")
        if default is not None and not isinstance(default, exp.Null) and not isinstance(node.parent, exp.Sum):
            yield Site(removed(default).changes, f"ELSE {query.text(default)}")


def case_condition(query: Query) -> Iterator[Site]:
    """The boundary between two WHENs on the wrong side, or the opposite condition."""
    for branch in query.all(exp.If):
        for node in within(branch.this, *COMPARISONS):
            sign = {**STRICTER, **LOOSER}.get(type(node)) or MIRRORED[type(node)]
            yield replaced(node, with_sign(node, sign))


OPERATORS = (
    Operator(
        "date_boundary", "value", date_boundary,
        "begins or ends a period a day off", "a row on the first or last day of the period, and one beside it",
    ),
    Operator(
        "number_shift", "value", number_shift,
        "compares with a number that is off by one", "a row with just the number compared with",
    ),
    Operator(
        "text_case", "value", text_case,
        "compares with a text in another case", "a row with the text compared with",
    ),
    Operator(
        "case_fold_remove", "value", case_fold_remove,
        "forgets LOWER or UPPER", "a row whose text is in the other case",
    ),
    Operator(
        "in_list_drop", "value", in_list_drop,
        "forgets one value of a list", "a row with just this value",
    ),
    Operator(
        "like_pattern", "value", like_pattern,
        "forgets a wildcard at one end of a pattern", "a row whose text goes on beyond the pattern at this end",
    ),
    Operator(
        "arithmetic_swap", "value", arithmetic_swap,
        "takes + for -, or * for /", "a row whose second operand is neither nought nor one",
    ),
    Operator(
        "operand_swap", "value", operand_swap,
        "subtracts or divides the wrong way round", "a row whose operands differ",
    ),
    Operator(
        "boolean_flip", "value", boolean_flip,
        "takes TRUE for FALSE", "a row with each of the two",
    ),
    Operator(
        "case_branch_drop", "value", case_branch_drop,
        "forgets one WHEN", "a row that falls under just this WHEN",
    ),
    Operator(
        "case_default_drop", "value", case_default_drop,
        "forgets ELSE", "a row that falls under no WHEN",
    ),
    Operator(
        "case_condition", "value", case_condition,
        "puts the boundary of a WHEN on the wrong side", "a row exactly on the boundary",
    ),
)  # fmt: skip
