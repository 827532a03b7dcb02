"""Errors in ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.facts import are_rows_unique, is_never_null
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, replaced, without
from nl2sql_gate.mutation.walks import is_aggregated
from nl2sql_gate.sqltext.parse import Tree


def _limits(query: Query) -> Iterator[Tree]:
    """The literal numbers of LIMIT, TOP and FETCH, at any depth."""
    for node in query.all(exp.Limit, exp.Fetch):
        number = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
        options = node.args.get("limit_options")
        if isinstance(number, exp.Literal) and number.is_int and not (options is not None and options.args.get("percent")):
            yield number


def limit_increase(query: Query) -> Iterator[Site]:
    """More rows than asked for: twice as many, and up to five more."""
    for number in _limits(query):
        yield replaced(number, exp.Literal.number(2 * int(number.this) + query.draw.randint(1, 5)))


def limit_decrease(query: Query) -> Iterator[Site]:
    """Fewer rows than asked for: half of them, at least one."""
    for number in _limits(query):
        half = max(1, int(number.this) // 2)
        if half != int(number.this):
            yield replaced(number, exp.Literal.number(half))


def limit_remove(query: Query) -> Iterator[Site]:
    """All rows."""
    for node in query.all(exp.Limit, exp.Fetch):
        if isinstance(node.parent, exp.Select | exp.SetOperation):
            yield Site((without(node),), node if isinstance(node, exp.Fetch) else f"LIMIT {query.text(node.expression)}")


def limit_add(query: Query) -> Iterator[Site]:
    """One row where all that come first were asked for: ORDER BY without LIMIT."""
    body = query.body
    if body is None or not _is_ordered_list(body) or body.args.get("limit") is not None or isinstance(query.tree, exp.Create):
        return
    yield Site((Change(body, "limit", exp.Limit(expression=exp.Literal.number(1))),), "", "LIMIT 1")


def _is_ordered_list(body: Tree) -> bool:
    """Whether the order of the statement's rows can be seen: it has one, and more than one row."""
    if body.args.get("order") is None:
        return False
    return not (isinstance(body, exp.Select) and is_aggregated(body) and body.args.get("group") is None)


def _terms(query: Query) -> Iterator[tuple[Tree, Tree]]:
    """ORDER BY clauses whose order decides something, with their terms: the statement's own, and those beside a LIMIT."""
    for order in query.all(exp.Order):
        holder = order.parent
        own = holder is query.body and _is_ordered_list(holder) and not isinstance(query.tree, exp.Insert | exp.Create)
        if isinstance(holder, exp.Select | exp.SetOperation) and (own or holder.args.get("limit") is not None):
            for term in order.expressions:
                yield order, term


def order_direction_flip(query: Query) -> Iterator[Site]:
    """ASC for DESC."""
    for _, term in _terms(query):
        descending = not term.args.get("desc")
        # Where NULL goes is the dialect's habit, and follows the direction unless it was written.
        first = term.args.get("nulls_first")
        written = exp.Ordered(this=term.this.copy(), desc=descending or None, nulls_first=first)
        if _is_habit(query, term):
            written.set("nulls_first", null_first_by_habit(query, descending=descending))
        yield replaced(term, written)


def order_remove(query: Query) -> Iterator[Site]:
    """No order."""
    seen: set[int] = set()
    for order, _ in _terms(query):
        if id(order) not in seen:
            seen.add(id(order))
            needs_order = query.dialect == "tsql" and (isinstance(order.parent.args.get("limit"), exp.Fetch))
            if not needs_order:
                yield Site((without(order),), order)


def order_key_drop(query: Query) -> Iterator[Site]:
    """One sort key of several lost."""
    for order, term in _terms(query):
        if len(order.expressions) > 1 and not _is_decided_before(query, order, term):
            yield Site((without(term),), f"sort key {query.text(term)}")


def _is_decided_before(query: Query, order: Tree, term: Tree) -> bool:
    """Whether the keys before this one leave no ties."""
    select = order.parent
    before = [each.this for each in order.expressions[: order.expressions.index(term)] if isinstance(each.this, exp.Column)]
    return type(select) is exp.Select and not is_aggregated(select) and are_rows_unique(query, select, before)


def order_key_swap(query: Query) -> Iterator[Site]:
    """Sorted by another column of the same table and kind, or by the other selected column."""
    for order, term in _terms(query):
        key = term.this
        choices = query.alike(key) if isinstance(key, exp.Column) and not _is_alias(order, key) else []
        if not choices and isinstance(order.parent, exp.Select):
            shown = [item for item in order.parent.expressions if item.alias and not _is_about(query, item, key)]
            choices = [exp.to_identifier(item.alias, quoted=bool(item.args["alias"].args.get("quoted"))) for item in shown]
            choices = [exp.Column(this=name) for name in choices]
        if choices:
            yield replaced(key, query.draw.choice(choices))


def _is_about(query: Query, item: Tree, key: Tree) -> bool:
    """Whether a result column is the sort key, or the same under a function that keeps the order."""
    return item.alias.lower() == key.name.lower() or query.text(key) in query.text(item)


def _is_alias(order: Tree, key: Tree) -> bool:
    return isinstance(order.parent, exp.Select) and any(item.alias == key.name for item in order.parent.expressions)


def nulls_order_flip(query: Query) -> Iterator[Site]:
    """NULL at the other end, where the key may be NULL and the dialect can say so."""
    if query.dialect in {"mysql", "tsql"}:
        return
    for _, term in _terms(query):
        known = query.meaning(term.this) if isinstance(term.this, exp.Column) else None
        if known is not None and known.kind != "unknown" and not is_never_null(query, term.this):
            new = term.copy()
            new.set("nulls_first", not term.args.get("nulls_first"))
            yield replaced(term, new)


def _is_habit(query: Query, term: Tree) -> bool:
    return bool(term.args.get("nulls_first")) == null_first_by_habit(query, descending=bool(term.args.get("desc")))


def null_first_by_habit(query: Query, *, descending: bool) -> bool:
    """Whether NULL comes first where nothing is written."""
    from sqlglot.dialects.dialect import Dialect

    ordering = Dialect.get_or_raise(query.dialect).NULL_ORDERING
    if ordering == "nulls_are_last":
        return False
    return (ordering == "nulls_are_small") != descending


OPERATORS = (
    Operator(
        "limit_increase", "limit", limit_increase,
        "takes more rows than asked for", "one row more than the limit", published=True,
    ),
    Operator(
        "limit_decrease", "limit", limit_decrease,
        "takes fewer rows than asked for", "as many rows as the limit", published=True,
    ),
    Operator(
        "limit_remove", "limit", limit_remove,
        "drops LIMIT", "one row more than the limit",
    ),
    Operator(
        "limit_add", "limit", limit_add,
        "takes one row where a list was asked for", "a second row",
    ),
    Operator(
        "order_direction_flip", "order", order_direction_flip,
        "sorts the wrong way", "two rows with different keys",
    ),
    Operator(
        "order_remove", "order", order_remove,
        "drops ORDER BY", "rows that are not stored in the order asked for",
    ),
    Operator(
        "order_key_drop", "order", order_key_drop,
        "loses one sort key", "two rows that tie on the other keys",
    ),
    Operator(
        "order_key_swap", "order", order_key_swap,
        "sorts by another column", "two rows that the two columns sort differently",
    ),
    Operator(
        "nulls_order_flip", "order", nulls_order_flip,
        "sorts NULL to the other end", "a row with NULL in the sort key",
    ),
)  # fmt: skip
