"""Errors in the select list: columns lost, added or taken for each other, DISTINCT."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql_gate.mutation.facts import are_rows_unique, is_always_there
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query, Source
from nl2sql_gate.mutation.site import Change, Site, swap
from nl2sql_gate.mutation.walks import group_keys, is_aggregated, within
from nl2sql_gate.sqltext.parse import Tree


def projection_drop(query: Query) -> Iterator[Site]:
    """Each column of the result in turn, from all branches of a set operation."""
    branches = query.branches
    if not branches or isinstance(query.tree, exp.Insert):
        return
    yield from _without_column_of_star(query, branches)
    width = len(branches[0].expressions)
    if width < 2 or any(len(branch.expressions) != width or _has_star(branch) for branch in branches):  # noqa: PLR2004
        return
    for position in range(width):
        changes = _without_position(query, branches, position)
        if changes is not None:
            yield Site(tuple(changes), branches[0].expressions[position])


def _without_column_of_star(query: Query, branches: tuple[Tree, ...]) -> Iterator[Site]:
    """All columns but one, where the columns of the only table are known."""
    if len(branches) != 1 or [type(item) for item in branches[0].expressions] != [exp.Star]:
        return
    sources = query.sources(branches[0])
    columns = sources[0].columns if len(sources) == 1 else ()
    for lost in columns if len(columns) > 1 else ():
        kept = [query.named(column.name) for column in columns if column is not lost]
        yield Site((Change(branches[0], "expressions", kept),), query.named(lost.name))


def add_star_wildcard(query: Query) -> Iterator[Site]:
    """All columns of one source besides those asked for."""
    for select, source in _open_sources(query):
        star = exp.Column(this=exp.Star(), table=exp.to_identifier(source.name, quoted=source.quoted))
        if not _has_star(select):
            yield Site((Change(select, "expressions", [*select.expressions, star]),), "", star)


def projection_add_column(query: Query) -> Iterator[Site]:
    """One column that nobody asked for."""
    for select, source in _open_sources(query):
        shown = {item.unalias().name.lower() for item in select.expressions}
        spare = [column for column in source.columns if column.name.lower() not in shown]
        if spare and not _has_star(select):
            qualified = source if len(query.sources(select)) > 1 else None
            column = query.named(query.draw.choice(spare).name, source=qualified)
            yield Site((Change(select, "expressions", [*select.expressions, column]),), "", column)


def projection_swap(query: Query) -> Iterator[Site]:
    """Two neighbouring columns of the result in the wrong order."""
    branches = query.branches
    if len(branches) != 1 or isinstance(query.tree, exp.Insert):
        return
    items = branches[0].expressions
    positional = any(isinstance(term.this, exp.Literal) for term in _order_terms(query))
    for position in range(0 if not positional else len(items), len(items) - 1):
        pair = items[position : position + 2]
        if not any(isinstance(item.unalias(), exp.Star) or item.is_star for item in pair):
            swapped = [*items[:position], pair[1], pair[0], *items[position + 2 :]]
            shown = (query.text(pair[0]), query.text(pair[1]))
            yield Site((Change(branches[0], "expressions", swapped),), ", ".join(shown), ", ".join(reversed(shown)))


def select_column_swap(query: Query) -> Iterator[Site]:
    """A selected column taken for another of the same table and kind."""
    for select in query.selects:
        grouped = {query.text(key) for key in group_keys(select)}
        for item in select.expressions:
            for column in within(item, exp.Column):
                alike = query.alike(column) if query.text(column) not in grouped and _is_shown(column) else []
                if type(column.parent) is exp.Count and is_always_there(query, column):
                    alike = []
                if alike:
                    new = query.draw.choice(alike)
                    # A result column keeps its name, so that what refers to it still does.
                    named = exp.alias_(new, column.this.copy()) if item is column and select in query.nested else new
                    yield Site((swap(column, named),), column, new)


def _is_shown(column: Tree) -> bool:
    """Whether the column's value is seen, and not only what a window is partitioned or ordered by."""
    window = column.find_ancestor(exp.Window, exp.Select)
    return not isinstance(window, exp.Window) or any(True for node in window.this.walk() if node is column)


def distinct_remove(query: Query) -> Iterator[Site]:
    """DISTINCT lost, at any depth."""
    for select in query.selects:
        distinct = select.args.get("distinct")
        if distinct is not None and not distinct.args.get("on") and not _rows_differ_anyway(query, select):
            yield Site((Change(select, "distinct", None),), "DISTINCT")


def distinct_add(query: Query) -> Iterator[Site]:
    """DISTINCT where repeated rows were asked for; not where rows differ anyway."""
    if len(query.branches) != 1 or query.body is not query.branches[0]:
        return
    select = query.branches[0]
    limit = select.args.get("limit")
    if isinstance(limit, exp.Limit) and limit.expression == exp.Literal.number(1):
        return
    if select.args.get("distinct") is None and not _rows_differ_anyway(query, select):
        yield Site((Change(select, "distinct", exp.Distinct()),), "", "DISTINCT")


def distinct_toggle(query: Query) -> Iterator[Site]:
    """DISTINCT removed where it stands, or added where it does not."""
    yield from distinct_remove(query)
    yield from distinct_add(query)


def _open_sources(query: Query) -> Iterator[tuple[Tree, Source]]:
    """The one branch whose select list may grow, with each source; grouped rows have no further columns."""
    if len(query.branches) != 1 or isinstance(query.tree, exp.Insert):
        return
    select = query.branches[0]
    if is_aggregated(select) or select.args.get("distinct") is not None:
        return
    for source in query.sources(select):
        yield select, source


def _has_star(select: Tree) -> bool:
    return any(isinstance(item, exp.Star) or item.is_star for item in select.expressions)


def _order_terms(query: Query) -> list[Tree]:
    body: Tree = query.body
    order = body.args.get("order") if body is not None else None
    return list(order.expressions) if order is not None else []


def _without_position(query: Query, branches: tuple[Tree, ...], position: int) -> list[Change] | None:
    """The changes that drop one column; positions after it move up, and names of it become what it was."""
    changes = [
        Change(branch, "expressions", [item for at, item in enumerate(branch.expressions) if at != position])
        for branch in branches
    ]
    keys = [key for branch in branches for key in group_keys(branch)] + [term.this for term in _order_terms(query)]
    for key in keys:
        moved = _moved(key, position)
        if moved is None:
            return None
        changes += moved
    named = _names_of(query, branches[0].expressions[position])
    if len(branches) > 1:
        # The columns of a set operation have no names but their own.
        return None if named else changes
    item = branches[0].expressions[position]
    return changes + [swap(column, item.this.copy()) for column in named if isinstance(item, exp.Alias)]


def _names_of(query: Query, item: Tree) -> list[Tree]:
    """Where the clauses behind the select list refer to a result column by its name."""
    scopes = {id(scope): scope for scope in (query.branches[0], query.body)}.values()
    clauses = [scope.args.get(name) for scope in scopes for name in ("group", "having", "order")]
    columns = [column for clause in clauses if clause is not None for column in within(clause, exp.Column)]
    name = item.alias_or_name.lower()
    return [column for column in columns if name and not column.table and column.name.lower() == name]


def _moved(key: Tree, position: int) -> list[Change] | None:
    """How a key that counts columns follows the loss of one; nothing where it means that one itself."""
    if not isinstance(key, exp.Literal) or key.is_string:
        return []
    number = int(key.this)
    if number == position + 1:
        return None
    return [swap(key, exp.Literal.number(number - 1))] if number > position + 1 else []


def _rows_differ_anyway(query: Query, select: Tree) -> bool:
    """Whether no two rows of the SELECT can be equal: one row alone, all group keys shown, or a key of its only table."""
    shown = {query.text(item.unalias()) for item in select.expressions}
    if is_aggregated(select):
        aliases = {item.alias.lower() for item in select.expressions if item.alias}
        return all(
            query.text(key) in shown or key.name.lower() in aliases or isinstance(key, exp.Literal) for key in group_keys(select)
        )
    if _has_star(select):
        sources = query.sources(select)
        return bool(sources) and all(source.keys for source in sources)
    return are_rows_unique(query, select, [item.unalias() for item in select.expressions if _is_column(item)])


def _is_column(item: Tree) -> bool:
    return isinstance(item.unalias(), exp.Column) and not item.is_star


OPERATORS = (
    Operator(
        "projection_drop", "projection", projection_drop,
        "leaves one column out of the result", "any row: the result has another width", published=True,
    ),
    Operator(
        "add_star_wildcard", "projection", add_star_wildcard,
        "adds all columns of one table", "any row: the result has another width", published=True,
    ),
    Operator(
        "distinct_toggle", "projection", distinct_toggle,
        "removes DISTINCT, or adds it where rows may repeat", "two rows that are equal in the selected columns", published=True,
    ),
    Operator(
        "projection_add_column", "projection", projection_add_column,
        "adds a column that nobody asked for", "any row: the result has another width",
    ),
    Operator(
        "projection_swap", "projection", projection_swap,
        "swaps two neighbouring columns", "a row in which the two columns differ",
    ),
    Operator(
        "select_column_swap", "projection", select_column_swap,
        "selects another column of the same table and kind", "a row in which the two columns differ",
    ),
)  # fmt: skip
