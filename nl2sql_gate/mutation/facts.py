"""What follows from a query's keys and conditions: which rows are unique, which columns never NULL, which joins lose nothing.

Operators ask here, so that they leave out errors that are none. Only what declared keys, NOT NULL and the query's own conditions
prove counts; in doubt the error is made, and the data decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from nl2sql_gate.mutation.query import Query, Source
from nl2sql_gate.mutation.walks import within
from nl2sql_gate.sqltext.parse import Tree

Place = tuple[str, str]
"""A column as (source, name), both in lower case."""

_REJECTING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.Between, exp.In)
_FORGIVING = (
    exp.Coalesce,
    exp.Case,
    exp.If,
    exp.Concat,
    exp.ConcatWs,
    exp.NullSafeEQ,
    exp.Is,
    exp.Count,
    exp.Or,
    exp.Not,
    exp.Query,
)


def place_of(query: Query, column: Tree) -> Place | None:
    """Which column of which source a column node is."""
    source = query.source_of(column)
    return None if source is None else (source.name.lower(), column.name.lower())


def are_rows_unique(query: Query, select: Tree, columns: Iterable[Tree], *, present: frozenset[str] = frozenset()) -> bool:
    """Whether no two rows before grouping agree in all of `columns`, where the sources `present` have a row."""
    sources = query.sources(select)
    known = closure(query, select, columns, present=present)
    return bool(sources) and all(_is_pinned(source, known) for source in sources)


def determines(query: Query, select: Tree, columns: Iterable[Tree], other: Tree) -> bool:
    """Whether rows that agree in `columns` agree in `other` too."""
    place = place_of(query, other)
    return place is not None and place in closure(query, select, columns)


def closure(query: Query, select: Tree, columns: Iterable[Tree], *, present: frozenset[str] = frozenset()) -> set[Place]:
    """All columns that have one value among rows that agree in `columns`."""
    known = {place for column in columns if (place := place_of(query, column)) is not None}
    known |= set(_constants(query, select))
    rules = list(_equalities(query, select, present))
    sources = query.sources(select)
    size = -1
    while size != len(known):
        size = len(known)
        for source in sources:
            if _is_pinned(source, known):
                known |= {(source.name.lower(), column.name.lower()) for column in source.columns}
        known |= {right for left, right in rules if left in known}
    return known


def null_supplied(select: Tree) -> frozenset[str]:
    """The sources of which an outer join may give a row of NULLs."""
    names: list[str] = []
    source = select.args.get("from_") or select.args.get("from")
    seen = [source.this.alias_or_name.lower()] if source is not None else []
    for join in select.args.get("joins") or ():
        side = (join.args.get("side") or "").upper()
        name = join.this.alias_or_name.lower()
        if side in {"RIGHT", "FULL"}:
            names += seen
        if side in {"LEFT", "FULL"}:
            names.append(name)
        seen.append(name)
    return frozenset(names)


def is_never_null(query: Query, column: Tree) -> bool:
    """Whether every row that reaches the select list has a value there: by declaration, or since conditions take others out."""
    scope, place, known = query.scope_of(column), place_of(query, column), query.meaning(column)
    if scope is None or place is None:
        return False
    if known is not None and not known.nullable and place[0] not in null_supplied(scope):
        return True
    return any(place in set(rejected_places(query, condition)) for condition in conditions(scope))


def is_always_there(query: Query, column: Tree) -> bool:
    """Whether the column is NULL only where its whole source is: declared NOT NULL, or what its outer join compares."""
    scope, place, known = query.scope_of(column), place_of(query, column), query.meaning(column)
    if scope is None or place is None:
        return False
    if known is not None and known.kind != "unknown" and not known.nullable:
        return True
    joined = [join.args["on"] for join in scope.args.get("joins") or () if join.args.get("on") is not None]
    return any(place in set(rejected_places(query, leaf)) for on in joined for leaf in _conjuncts(on))


def has_partner(query: Query, select: Tree, join: Tree) -> bool:
    """Whether a foreign key that is never NULL gives every row a partner in the joined table."""
    on = join.args.get("on")
    if on is None or not isinstance(on, exp.EQ) or not isinstance(join.this, exp.Table):
        return False
    name = join.this.alias_or_name.lower()
    sides = [(on.this, on.expression), (on.expression, on.this)]
    for here, there in sides:
        if not (isinstance(here, exp.Column) and isinstance(there, exp.Column)) or there.table.lower() != name:
            continue
        source, known = query.source_of(here), query.meaning(here)
        if source is None or known is None or known.nullable or source.name.lower() in null_supplied(select):
            return False
        wanted = (here.name.lower(), join.this.name.lower(), there.name.lower())
        return wanted in query.catalogue.references.get(source.table.lower(), frozenset())
    return False


def conditions(scope: Tree) -> Iterator[Tree]:
    """What every row fulfils: the conditions of WHERE and of inner joins that are joined by AND."""
    where = scope.args.get("where")
    if where is not None:
        yield from _conjuncts(where.this)
    for join in scope.args.get("joins") or ():
        if not join.args.get("side") and join.args.get("on") is not None:
            yield from _conjuncts(join.args["on"])


def _conjuncts(condition: Tree) -> Iterator[Tree]:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    else:
        yield condition


def rejected_places(query: Query, condition: Tree) -> Iterator[Place]:
    """The columns without which a condition cannot hold."""
    if isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null) and condition.args.get("negate"):
        yield from _strict_columns(query, condition.this)
    elif isinstance(condition, exp.Not):
        inner = condition.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            yield from _strict_columns(query, inner.this)
        elif isinstance(inner, _REJECTING):
            yield from _compared(query, inner)
    elif isinstance(condition, exp.Column):
        yield from _strict_columns(query, condition)
    elif isinstance(condition, exp.Escape):
        yield from rejected_places(query, condition.this)
    elif isinstance(condition, _REJECTING):
        yield from _compared(query, condition)


def _compared(query: Query, condition: Tree) -> Iterator[Place]:
    yield from _strict_columns(query, condition.this)
    if not isinstance(condition, exp.In | exp.Between) and condition.expression is not None:
        yield from _strict_columns(query, condition.expression)


def _strict_columns(query: Query, node: Tree) -> Iterator[Place]:
    """The columns of an expression that is NULL where one of them is."""
    if any(True for _ in within(node, *_FORGIVING)):
        return
    for column in within(node, exp.Column):
        place = place_of(query, column)
        if place is not None:
            yield place


def _constants(query: Query, select: Tree) -> Iterator[Place]:
    for condition in conditions(select):
        if isinstance(condition, exp.EQ):
            for side, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
                place = place_of(query, side) if isinstance(side, exp.Column) else None
                if place is not None and (isinstance(other, exp.Literal | exp.Boolean) or _is_one_value(query, select, other)):
                    yield place


def _is_one_value(query: Query, select: Tree, node: Tree) -> bool:
    """Whether a subquery gives the same value for every row: it names nothing of the SELECT around it."""
    if not isinstance(node, exp.Subquery):
        return False
    names = {source.name.lower() for source in query.sources(select)}
    return all(
        column.table.lower() not in names if column.table else query.meaning(column) is not None
        for column in node.find_all(exp.Column)
    )


def _equalities(query: Query, select: Tree, present: frozenset[str]) -> Iterator[tuple[Place, Place]]:
    """Pairs of columns of which the first fixes the second."""
    for condition in conditions(select):
        yield from _both_ways(query, condition)
    for join in select.args.get("joins") or ():
        on = join.args.get("on")
        if not join.args.get("side") or on is None:
            continue
        name = join.this.alias_or_name.lower()
        for condition in _conjuncts(on):
            for left, right in _both_ways(query, condition):
                # A row of NULLs has its partner's columns still, but does not say which partner that is.
                if left[0] != name or name in present:
                    yield left, right


def _both_ways(query: Query, condition: Tree) -> Iterator[tuple[Place, Place]]:
    if isinstance(condition, exp.EQ):
        left, right = condition.this, condition.expression
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            one, other = place_of(query, left), place_of(query, right)
            if one is not None and other is not None:
                yield one, other
                yield other, one


def _is_pinned(source: Source, known: set[Place]) -> bool:
    name = source.name.lower()
    return any(all((name, column) in known for column in key) for key in source.keys)
