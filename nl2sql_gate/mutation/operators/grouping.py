"""Errors in aggregates and GROUP BY."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.facts import are_rows_unique, closure, determines, is_always_there, is_never_null
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Change, Site, replaced, swap, without
from nl2sql_gate.mutation.walks import group_keys, is_aggregate, is_aggregated, within
from nl2sql_gate.sqltext.parse import Tree

_SWAPPED = {exp.Avg: exp.Sum, exp.Sum: exp.Avg, exp.Min: exp.Max, exp.Max: exp.Min}
_STRICT = {"postgres", "tsql", "duckdb", "bigquery", "snowflake", "oracle", "mysql", "trino", "redshift"}


def aggregation_swap(query: Query) -> Iterator[Site]:
    """AVG for SUM, MIN for MAX; COUNT of a number for SUM; COUNT(*) for the count of distinct values, since SUM(*) is no SQL."""
    for node in query.all(*_SWAPPED, exp.Count):
        if not is_aggregate(node) and not isinstance(node.parent, exp.Window):
            continue
        if isinstance(node, exp.Count):
            new = _instead_of_count(query, node)
            if new is not None:
                yield replaced(node, new)
        elif type(node) in _SWAPPED:
            yield replaced(node, _SWAPPED[type(node)](this=node.this.copy()))


def _instead_of_count(query: Query, node: Tree) -> Tree | None:
    counted = node.this
    if isinstance(counted, exp.Distinct):
        if len(counted.expressions) == 1 and query.kind(counted.expressions[0]) == "number":
            return exp.Sum(this=counted.copy())
        return None
    if isinstance(counted, exp.Star | exp.Literal) or counted is None:
        column = _summable(query, node)
        return exp.Sum(this=column) if column is not None else None
    return exp.Sum(this=counted.copy()) if query.kind(counted) == "number" else None


def _summable(query: Query, node: Tree) -> Tree | None:
    """A column of numbers that is in sight where rows are counted, and no key."""
    scope = query.scope_of(node)
    if scope is None:
        return None
    sources = query.sources(scope)
    found = [(source, column) for source in sources for column in source.columns if column.kind == "number"]
    plain = [pair for pair in found if not pair[1].unique and not pair[1].name.lower().endswith("id")]
    if not plain:
        return None
    source, column = query.draw.choice(plain)
    return query.named(column.name, source=source if len(sources) > 1 else None)


def aggregate_distinct_toggle(query: Query) -> Iterator[Site]:
    """COUNT(DISTINCT x) for COUNT(x), or the other way round; likewise SUM and AVG."""
    for node in query.all(exp.Count, exp.Sum, exp.Avg):
        if not is_aggregate(node):
            continue
        inner = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        if not isinstance(inner, exp.Column) or _are_values_unique(query, inner):
            continue
        if isinstance(node.this, exp.Distinct):
            if len(node.this.expressions) == 1:
                yield replaced(node, type(node)(this=node.this.expressions[0].copy()))
        elif isinstance(node.this, exp.Column) and not node.this.is_star and not node.expressions:
            yield replaced(node, type(node)(this=exp.Distinct(expressions=[node.this.copy()])))


def _are_values_unique(query: Query, column: Tree) -> bool:
    """Whether no two rows of one group have the same value."""
    select, source = query.scope_of(column), query.source_of(column)
    if not isinstance(select, exp.Select) or source is None:
        return False
    keys = [key for key in group_keys(select) if isinstance(key, exp.Column)]
    return are_rows_unique(query, select, [column, *keys], present=frozenset((source.name.lower(),)))


def count_rows(query: Query) -> Iterator[Site]:
    """COUNT(*) for COUNT(x), which does not count NULL; or COUNT of a column that may be NULL for COUNT(*)."""
    for node in query.all(exp.Count):
        if not is_aggregate(node):
            continue
        counted = node.this
        if isinstance(counted, exp.Column) and not counted.is_star:
            if not is_never_null(query, counted):
                yield replaced(node, exp.Count(this=exp.Star()))
        elif isinstance(counted, exp.Star):
            column = _nullable(query, node)
            if column is not None:
                yield replaced(node, exp.Count(this=column))


def _nullable(query: Query, node: Tree) -> Tree | None:
    scope = query.scope_of(node)
    sources = query.sources(scope) if scope is not None else ()
    found: list[Tree] = []
    for source in sources:
        for column in source.columns:
            new = query.named(column.name, source=source if len(sources) > 1 else None)
            # It must stand in the query to be asked about.
            new.parent = node
            if column.nullable and column.kind != "unknown" and not is_never_null(query, new):
                found.append(new)
    if not found:
        return None
    chosen: Tree = query.draw.choice(found)
    return chosen.copy()


def aggregate_column_swap(query: Query) -> Iterator[Site]:
    """The right aggregate of another column of the same table and kind."""
    for node in query.all(exp.AggFunc):
        if is_aggregate(node):
            for column in within(node, exp.Column):
                alike = query.alike(column) if not column.is_star else []
                if alike and not (type(column.parent) is exp.Count and is_always_there(query, column)):
                    yield replaced(column, query.draw.choice(alike))


def aggregate_remove(query: Query) -> Iterator[Site]:
    """The rows listed that were to be counted, summed or reduced to one."""
    if len(query.branches) != 1 or isinstance(query.tree, exp.Insert):
        return
    select = query.branches[0]
    item = select.expressions[0].unalias() if len(select.expressions) == 1 else None
    if item is None or group_keys(select) or select.args.get("having") or not is_aggregate(item) or item is select:
        return
    counted = item.this
    if isinstance(counted, exp.Distinct) and len(counted.expressions) == 1:
        counted = counted.expressions[0]
    if isinstance(counted, exp.Column | exp.Star):
        yield replaced(select.expressions[0], counted.copy())


def group_by_key_drop(query: Query) -> Iterator[Site]:
    """Larger groups: one key of several lost. Where it is selected, one of its values stands for the group."""
    for select in query.selects:
        keys = group_keys(select)
        for key in keys if len(keys) > 1 else ():
            rest = [other for other in keys if other is not key and isinstance(other, exp.Column)]
            if isinstance(key, exp.Literal) or (isinstance(key, exp.Column) and determines(query, select, rest, key)):
                continue
            changes = [without(key)]
            if query.dialect in _STRICT:
                changes += [swap(node, exp.Min(this=node.copy())) for node in _selected(query, select, key)]
            yield Site(tuple(changes), f"GROUP BY key {query.text(key)}")


def _selected(query: Query, select: Tree, key: Tree) -> Iterator[Tree]:
    """Where a key stands outside aggregates: its value is not one value of the group any more."""
    text = query.text(key)
    order = select.args.get("order")
    having = select.args.get("having")
    for part in (*select.expressions, *(clause for clause in (order, having) if clause is not None)):
        for node in within(part, type(key)):
            if query.text(node) == text and node.find_ancestor(exp.AggFunc, exp.Select) is select:
                yield node


def group_by_key_add(query: Query) -> Iterator[Site]:
    """Smaller groups: one more key."""
    for select in query.selects:
        group = select.args.get("group")
        keys = {key.name.lower() for key in group_keys(select)}
        sources = query.sources(select)
        fixed = closure(query, select, [key for key in group_keys(select) if isinstance(key, exp.Column)]) if keys else set()
        spare = [
            (source, column)
            for source in sources
            for column in source.columns
            if column.name.lower() not in keys and (source.name.lower(), column.name.lower()) not in fixed
        ]
        if group is not None and keys and spare:
            source, column = query.draw.choice(spare)
            new = query.named(column.name, source=source if len(sources) > 1 else None)
            yield Site((Change(group, "expressions", [*group.expressions, new]),), "", f"GROUP BY key {query.text(new)}")


def group_by_key_swap(query: Query) -> Iterator[Site]:
    """Groups by another column of the same table and kind, shown and grouped alike."""
    for select in query.selects:
        for key in group_keys(select):
            if not isinstance(key, exp.Column):
                continue
            alike = query.alike(key)
            if alike:
                new = query.draw.choice(alike)
                places = [key, *_selected(query, select, key)]
                changes = [swap(node, _named_as(node, new)) for node in places]
                yield Site(tuple(changes), f"GROUP BY {query.text(key)}", f"GROUP BY {query.text(new)}")


def _named_as(node: Tree, new: Tree) -> Tree:
    """The new column, under the old name where it is a column of the result."""
    return exp.alias_(new.copy(), node.this.copy()) if isinstance(node.parent, exp.Select) else new.copy()


def group_by_remove(query: Query) -> Iterator[Site]:
    """One group for all rows; keys that are selected become one of their values."""
    for select in query.selects:
        group = select.args.get("group")
        if group is None or not group.expressions or not is_aggregated(select):
            continue
        changes = [without(group)]
        if query.dialect in _STRICT:
            for key in group.expressions:
                changes += [swap(node, exp.Min(this=node.copy())) for node in _selected(query, select, key)]
        yield Site(tuple(changes), group)


OPERATORS = (
    Operator(
        "aggregation_swap", "aggregate", aggregation_swap,
        "takes AVG for SUM, MIN for MAX, COUNT for SUM", "two rows in one group, with different values", published=True,
    ),
    Operator(
        "aggregate_distinct_toggle", "aggregate", aggregate_distinct_toggle,
        "counts equal values once, or every time", "two rows of one group with the same value",
    ),
    Operator(
        "count_rows", "aggregate", count_rows,
        "takes COUNT(*) for COUNT(column), or the other way round", "a row with NULL in the counted column",
    ),
    Operator(
        "aggregate_column_swap", "aggregate", aggregate_column_swap,
        "aggregates another column of the same table and kind", "a row in which the two columns differ",
    ),
    Operator(
        "aggregate_remove", "aggregate", aggregate_remove,
        "lists rows instead of counting, summing or choosing one", "two rows",
    ),
    Operator(
        "group_by_key_drop", "grouping", group_by_key_drop,
        "loses one key of GROUP BY", "two groups that differ only in this key",
    ),
    Operator(
        "group_by_key_add", "grouping", group_by_key_add,
        "groups by one column too many", "two rows of one group that differ in the added column",
    ),
    Operator(
        "group_by_key_swap", "grouping", group_by_key_swap,
        "groups by another column of the same table and kind", "two rows of one group that differ in the other column",
    ),
    Operator(
        "group_by_remove", "grouping", group_by_remove,
        "drops GROUP BY", "two groups",
    ),
)  # fmt: skip
