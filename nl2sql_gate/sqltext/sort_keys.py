"""What a query's sort keys are: which of them are selected, and where.

By the rules that the dialects share: a number is a column of the result, a bare name is first an output column, then one of a
table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from nl2sql_gate.sqltext.parse import Tree

_RANDOM = frozenset({"RANDOM", "RAND", "NEWID", "UUID", "GEN_RANDOM_UUID", "RANDOMBLOB", "UUID_GENERATE_V4", "CRYPT_GEN_RANDOM"})


@dataclass(frozen=True, slots=True)
class Key:
    """One sort key that orders something.

    `number` counts all terms of the ORDER BY from 0. `position` is the key's column in each row, `item` its item in the select
    list; they differ behind a star. `replaced` are aliases within the key, with their items. `name` is set for a bare name.
    `is_determined`: equal selected rows have equal keys.
    """

    number: int
    position: int | None = None
    item: int | None = None
    is_collated: bool = False
    is_selectable: bool = True
    replaced: tuple[tuple[str, int], ...] = ()
    name: str = ""
    is_determined: bool = True


@dataclass(frozen=True, slots=True)
class SortKeys:
    """The keys of one query, without constants and random ones; and how many terms and select items it has."""

    keys: tuple[Key, ...]
    terms: int
    items: int
    aliased: frozenset[int] = frozenset()


def sort_keys_of(tree: Tree, dialect: str) -> SortKeys | None:
    """The keys by which the result of `tree` is ordered, none for an unordered one; nothing where they cannot be told."""
    from sqlglot import exp

    if isinstance(tree, exp.Command):
        return None
    query, order = _ordered(tree)
    if order is None:
        return SortKeys((), 0, 0)
    is_compound = not isinstance(query, exp.Select)
    select = _first_select(query)
    if select is None and not isinstance(query, exp.Values):
        return None
    output = _Output(select, dialect) if select is not None else None
    terms = order.expressions
    aliased = frozenset(output.aliased) if output else frozenset()
    items = len(output.items) if output else 0
    if len(terms) == 1 and isinstance(terms[0].this, exp.Var) and terms[0].this.name.upper() == "ALL":
        keys: tuple[Key, ...] = tuple(Key(0, position=i, is_selectable=False) for i in range(items))
        return SortKeys(keys if output and output.first_star is None else (Key(0, is_selectable=False),), 1, items, aliased)
    keys = tuple(
        _key(number, term.this, output, dialect, is_compound=is_compound)
        for number, term in enumerate(terms)
        if not (_is_constant(term.this) or _is_random(term.this))
    )
    return SortKeys(keys, len(terms), items, aliased)


def _ordered(tree: Tree) -> tuple[Tree, Tree | None]:
    """The query whose ORDER BY orders the result, and that clause: parentheses around a query hide nothing."""
    from sqlglot import exp

    while True:
        order = tree.args.get("order") if isinstance(tree, exp.Query | exp.Values) else None
        if order is not None or not isinstance(tree, exp.Subquery) or tree.args.get("alias"):
            return tree, order
        tree = tree.this


def _first_select(query: Tree) -> Tree | None:
    """The SELECT that names the columns of `query`."""
    from sqlglot import exp

    while not isinstance(query, exp.Select):
        if not isinstance(query, exp.SetOperation | exp.Subquery):
            return None
        query = query.this
    return query


class _Output:
    """The columns that a SELECT gives."""

    def __init__(self, select: Tree, dialect: str) -> None:
        from sqlglot import exp

        self.dialect = dialect
        self.select = select
        self.items = list(select.expressions) or [exp.Star()]
        self.bodies = [folded(item.unalias(), dialect) for item in self.items]
        self.first_star = next((i for i, item in enumerate(self.items) if item.is_star), None)
        self.aliased = {i for i, item in enumerate(self.items) if isinstance(item, exp.Alias)}
        self.aliases = {_fold(self.items[i].args["alias"], dialect): i for i in sorted(self.aliased, reverse=True)}

    def position(self, item: int) -> int | None:
        """The column of `item` in each row; unknown behind a star, which may be any number of columns."""
        return item if self.first_star is None or item < self.first_star else None

    def by_name(self, name: str) -> int | None:
        """The item whose output name is `name`."""
        return next((i for i in range(len(self.items)) if self._name(i) == name), None)

    def by_expression(self, expression: Tree) -> int | None:
        """The item that is the same expression as `expression`, whatever its alias."""
        from sqlglot import exp

        for index, body in enumerate(self.bodies):
            if body == expression:
                return index
            both_columns = isinstance(body, exp.Column) and isinstance(expression, exp.Column)
            # Where one side names no table, the name is unambiguous there, so it is the other's.
            if both_columns and body.name == expression.name and not (body.table and expression.table) and not body.is_star:
                return index
        return None

    def has(self, column: Tree) -> bool:
        """Whether the value of `column` is among the selected ones."""
        is_named = not column.table and self.by_name(column.name) is not None
        return is_named or self.by_expression(column) is not None

    @cached_property
    def column_names(self) -> frozenset[str]:
        """Names that the query uses for columns of tables."""
        from sqlglot import exp

        scopes = [*self.items, *(self.select.args.get(part) for part in ("where", "joins"))]
        parts = [part for scope in scopes for part in (scope if isinstance(scope, list) else [scope]) if part is not None]
        columns = [column for part in parts for column in part.find_all(exp.Column)]
        return frozenset(_fold(column.this, self.dialect) for column in columns)

    def _name(self, index: int) -> str:
        from sqlglot import exp

        item = self.items[index]
        if isinstance(item, exp.Alias):
            return _fold(item.args["alias"], self.dialect)
        if isinstance(item, exp.Column) and not item.is_star:
            return _fold(item.this, self.dialect)
        if self.dialect == "postgres" and isinstance(item, exp.Func):
            # PostgreSQL calls such a column after its function.
            return (item.name if isinstance(item, exp.Anonymous) else item.sql_name()).lower()
        return ""


def _key(number: int, term: Tree, output: _Output | None, dialect: str, *, is_compound: bool) -> Key:
    from sqlglot import exp

    if isinstance(term, exp.Literal) and term.is_int:
        ordinal = int(term.name) - 1
        is_behind_star = output is None or (output.first_star is not None and ordinal >= output.first_star)
        return Key(number, position=ordinal, item=None if is_behind_star else ordinal, is_selectable=not is_behind_star)
    if output is None:
        return Key(number, is_selectable=False)
    is_collated = term.find(exp.Collate) is not None
    body = folded(term, dialect)
    name = body.name if isinstance(body, exp.Column) and not body.table else ""
    item = output.by_name(name) if name else None
    if is_compound:
        position = output.position(item) if item is not None and not is_collated else None
        return Key(number, position=position, is_selectable=bool(name), name=name)
    if item is None:
        item = output.by_expression(body)
    if item is not None and not is_collated:
        return Key(number, position=output.position(item), item=item, name=name)
    return _computed(number, body, output, is_collated=is_collated)


def _computed(number: int, body: Tree, output: _Output, *, is_collated: bool) -> Key:
    """A key that is no item: its own text, in which aliases may stand for items."""
    from sqlglot import exp

    columns = list(body.find_all(exp.Column))
    is_determined = body.find(exp.Query, exp.AggFunc, exp.Window) is None and all(output.has(column) for column in columns)
    if output.dialect == "postgres":
        # Within an expression PostgreSQL sees no aliases.
        return Key(number, is_collated=is_collated, is_determined=is_determined)
    names = {column.name for column in columns if not column.table} & output.aliases.keys()
    # A name that is both a column and an alias means one here and the other there.
    is_selectable = names.isdisjoint(output.column_names)
    replaced = tuple(sorted((name, output.aliases[name]) for name in names))
    return Key(number, is_collated=is_collated, is_selectable=is_selectable, replaced=replaced, is_determined=is_determined)


def folded(expression: Tree, dialect: str) -> Tree:
    """A copy of `expression` in which names that mean the same are spelled the same."""
    from sqlglot import exp

    copy = expression.copy()
    while isinstance(copy, exp.Paren):
        copy = copy.this
    for identifier in copy.find_all(exp.Identifier):
        identifier.set("this", _fold(identifier, dialect))
        identifier.set("quoted", False)  # noqa: FBT003
    return copy


def _fold(identifier: Tree, dialect: str) -> str:
    if isinstance(identifier, str):
        return identifier.lower()
    is_exact = dialect == "postgres" and identifier.args.get("quoted")
    return str(identifier.name) if is_exact else str(identifier.name).lower()


def _is_constant(term: Tree) -> bool:
    from sqlglot import exp

    if isinstance(term, exp.Literal) and term.is_int:
        return False
    return term.find(exp.Column, exp.Func, exp.Table, exp.Star, exp.Var, exp.Dot, exp.Window) is None


def _is_random(term: Tree) -> bool:
    from sqlglot import exp

    return any(
        (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).upper() in _RANDOM or isinstance(node, exp.Rand)
        for node in term.find_all(exp.Func)
    )
