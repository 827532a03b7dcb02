"""One parsed statement as operators look at it: its scopes, its sources, and which column a name means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from nl2sql_gate.mutation.catalogue import Catalogue, Kind, Named
from nl2sql_gate.mutation.walks import group_keys, is_aggregated
from nl2sql_gate.sqltext.parse import Tree

_SIMPLE = re.compile(r"[a-z_][a-z0-9_]*")
_DEEPEST = 4
_NUMBERS = (exp.Sum, exp.Avg, exp.Count, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Length, exp.Round, exp.Mul, exp.Sub, exp.Div)


@dataclass(frozen=True, slots=True)
class Source:
    """One thing in a FROM clause: the name that qualifies its columns, the columns, and the table that it is, if it is one.

    `keys` are sets of its columns, in lower case, that are never equal in two rows and never NULL.
    """

    name: str
    columns: tuple[Named, ...]
    table: str = ""
    quoted: bool = False
    keys: tuple[frozenset[str], ...] = ()

    def find(self, name: str) -> Named | None:
        """The column called `name`, without regard to case."""
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)


class Query:
    """A statement under mutation. `dialect` is sqlglot's name; `draw` decides what an operator leaves to chance."""

    def __init__(self, tree: Tree, *, dialect: str, catalogue: Catalogue) -> None:
        self.tree = tree
        self.dialect = dialect
        self.catalogue = catalogue
        self.draw = Random(0)  # noqa: S311 - mutants must be the same for the same seed; nothing is secret here
        self._sources: dict[int, tuple[Source, ...]] = {}

    # ---- scopes

    @cached_property
    def nodes(self) -> tuple[Tree, ...]:
        """All nodes, outer ones first."""
        return tuple(self.tree.walk())

    def all(self, *kinds: type[Any]) -> Iterator[Tree]:
        """All nodes of these kinds."""
        return (node for node in self.nodes if isinstance(node, kinds))

    @cached_property
    def selects(self) -> tuple[Tree, ...]:
        """All SELECTs, outer ones first."""
        return tuple(self.all(exp.Select))

    @cached_property
    def branches(self) -> tuple[Tree, ...]:
        """The SELECTs whose rows are the statement's: one, or the branches of a set operation; of a view or INSERT the body's."""
        body = self.tree
        if isinstance(body, exp.Insert | exp.Create):
            body = body.expression
        return tuple(_branches(body))

    @cached_property
    def body(self) -> Tree:
        """The node that carries the order and limit of the statement's rows; none for UPDATE, DELETE and DDL."""
        body = self.tree.expression if isinstance(self.tree, exp.Insert | exp.Create) else self.tree
        while isinstance(body, exp.Subquery | exp.Paren):
            body = body.this
        return body if isinstance(body, exp.Select | exp.SetOperation) else None

    @cached_property
    def outer(self) -> tuple[Tree, ...]:
        """What has a WHERE of the statement's own: its branches, or the UPDATE or DELETE that it is."""
        return (self.tree,) if isinstance(self.tree, exp.Update | exp.Delete) else self.branches

    @cached_property
    def nested(self) -> tuple[Tree, ...]:
        """SELECTs below the statement's own: subqueries, derived tables, CTEs."""
        own = {id(branch) for branch in self.branches}
        return tuple(select for select in self.selects if id(select) not in own)

    # ---- names

    def sources(self, scope: Tree) -> tuple[Source, ...]:
        """What stands in the FROM clause of a SELECT, or what an UPDATE or DELETE reads."""
        if id(scope) not in self._sources:
            # A recursive CTE reads itself: what is asked meanwhile gets no answer.
            self._sources[id(scope)] = ()
            self._sources[id(scope)] = tuple(self._read_sources(scope, 0))
        return self._sources[id(scope)]

    def scope_of(self, node: Tree) -> Tree | None:
        """The SELECT, UPDATE or DELETE whose names `node` sees first."""
        return node.find_ancestor(exp.Select, exp.Update, exp.Delete)

    def source_of(self, column: Tree) -> Source | None:
        """The source that a column comes from, in its own scope only."""
        scope = self.scope_of(column)
        if scope is None:
            return None
        sources = self.sources(scope)
        if column.table:
            return next((source for source in sources if source.name.lower() == column.table.lower()), None)
        holding = [source for source in sources if source.find(column.name)]
        if holding:
            return holding[0] if len(holding) == 1 else None
        return sources[0] if len(sources) == 1 else None

    def meaning(self, column: Tree) -> Named | None:
        """What is known of a column; nothing where it cannot be told which one it is."""
        source = self.source_of(column)
        return source.find(column.name) if source is not None else None

    def kind(self, node: Tree) -> Kind:
        """The kind of values of an expression, so far as it can be told."""
        return self._kind(node, 0)

    def alike(self, column: Tree) -> list[Tree]:
        """Columns that could stand where `column` stands by mistake: same source, same kind, in catalogue order.

        Where nothing is known of the source, the names that the statement itself uses with it.
        """
        source = self.source_of(column)
        if source is None:
            return []
        known = source.find(column.name)
        if known is not None and known.kind != "unknown":
            names = [other.name for other in source.columns if other.kind == known.kind]
        elif source.columns:
            names = [other.name for other in source.columns if other.kind == "unknown"]
        else:
            names = [other.name for other in self.all(exp.Column) if other.table == column.table and self._shares(other, column)]
        wanted = [name for name in dict.fromkeys(names) if name.lower() != column.name.lower()]
        return [self.named(name, like=column) for name in wanted]

    def named(self, name: str, *, like: Tree | None = None, source: Source | None = None) -> Tree:
        """A column node for `name`, qualified as `like` is, or by `source`."""
        table = None
        if like is not None and like.args.get("table") is not None:
            table = like.args["table"].copy()
        elif source is not None:
            table = exp.to_identifier(source.name, quoted=source.quoted or self._needs_quotes(source.name))
        quoted = self._needs_quotes(name) or (like is not None and bool(like.this.args.get("quoted")))
        return exp.Column(this=exp.to_identifier(name, quoted=quoted), table=table)

    def text(self, node: Tree) -> str:
        """The node as SQL."""
        return str(node.sql(dialect=self.dialect, comments=False))

    # ---- inside

    def _shares(self, other: Tree, column: Tree) -> bool:
        return other is not column and isinstance(other.this, exp.Identifier) and self.scope_of(other) is self.scope_of(column)

    def _needs_quotes(self, name: str) -> bool:
        # A name that the dialect folds to lower case and that is no keyword means the same without quotes.
        return not _SIMPLE.fullmatch(name) or name.upper() in Dialect.get_or_raise(self.dialect).tokenizer_class.KEYWORDS

    def _read_sources(self, scope: Tree, depth: int) -> Iterator[Source]:
        for each in _relations(scope):
            if isinstance(each, exp.Table) and isinstance(each.this, exp.Identifier):
                alias = each.args.get("alias")
                named = alias.this if alias is not None and alias.this is not None else each.this
                defined = _defined(each)
                quoted = bool(named.args.get("quoted"))
                if defined is not None:
                    yield Source(named.name, self._outputs(defined, depth), quoted=quoted, keys=self._output_keys(defined, depth))
                else:
                    keys = self.catalogue.keys.get(each.name.lower(), ())
                    yield Source(named.name, self.catalogue.columns(each.name), each.name, quoted=quoted, keys=keys)
            elif isinstance(each, exp.Subquery) and each.alias:
                yield Source(each.alias, self._outputs(each.this, depth), keys=self._output_keys(each.this, depth))

    def _outputs(self, body: Tree, depth: int) -> tuple[Named, ...]:
        branches = list(_branches(body))
        if not branches or depth > _DEEPEST:
            return ()
        columns = zip(*(branch.expressions for branch in branches), strict=False)
        return tuple(
            Named(
                items[0].alias_or_name,
                self._kind(items[0].unalias(), depth + 1),
                nullable=not all(self._is_given(item.unalias(), depth + 1) for item in items),
                whole=isinstance(items[0].unalias(), exp.Count | exp.RowNumber),
            )
            for items in columns
            if items[0].alias_or_name and items[0].alias_or_name != "*"
        )

    def _output_keys(self, body: Tree, depth: int) -> tuple[frozenset[str], ...]:
        """Keys of a derived table: what it is grouped by, a key of its only table, or all of what is made distinct."""
        body = _unwrapped(body)
        if not isinstance(body, exp.Select) or depth > _DEEPEST:
            return ()
        shown = {self.text(item.unalias()): item.alias_or_name.lower() for item in body.expressions if item.alias_or_name}
        keys = [self.text(key) for key in group_keys(body)]
        if is_aggregated(body):
            return (frozenset(shown[key] for key in keys),) if keys and all(key in shown for key in keys) else ()
        sources = self.sources(body)
        if len(sources) != 1 or body.args.get("laterals"):
            return ()
        names = {item.unalias().name.lower(): item.alias_or_name.lower() for item in body.expressions if _is_column(item)}
        return tuple(frozenset(names[part] for part in key) for key in sources[0].keys if all(part in names for part in key))

    def _is_given(self, node: Tree, depth: int) -> bool:
        """Whether an expression of a derived table is never NULL."""
        if isinstance(node, exp.Literal | exp.Boolean | exp.Count | exp.RowNumber | exp.Rank | exp.DenseRank):
            return True
        if isinstance(node, exp.Window):
            return isinstance(node.this, exp.RowNumber | exp.Rank | exp.DenseRank | exp.Count)
        if isinstance(node, exp.Column) and depth <= _DEEPEST:
            from nl2sql_gate.mutation.facts import is_never_null

            return is_never_null(self, node)
        grouped = isinstance(node, exp.Min | exp.Max | exp.Sum | exp.Avg) and bool(group_keys(node.parent_select))
        return grouped and self._is_given(node.this, depth + 1)

    def _kind(self, node: Tree, depth: int) -> Kind:
        while isinstance(node, exp.Paren | exp.Min | exp.Max | exp.Coalesce | exp.Window | exp.Distinct):
            node = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
        if isinstance(node, exp.Column) and depth <= _DEEPEST:
            known = self.meaning(node)
            return known.kind if known is not None else "unknown"
        if isinstance(node, exp.Literal):
            return "text" if node.is_string else "number"
        if isinstance(node, _NUMBERS):
            return "number"
        return "unknown"


def _unwrapped(body: Tree) -> Tree:
    while isinstance(body, exp.Subquery | exp.Paren):
        body = body.this
    return body


def _is_column(item: Tree) -> bool:
    return isinstance(item.unalias(), exp.Column) and not item.is_star


def _branches(body: Tree | None) -> Iterator[Tree]:
    while isinstance(body, exp.Subquery | exp.Paren):
        body = body.this
    if isinstance(body, exp.SetOperation):
        yield from _branches(body.this)
        yield from _branches(body.expression)
    elif isinstance(body, exp.Select):
        yield body


def _relations(scope: Tree) -> Iterator[Tree]:
    if isinstance(scope, exp.Update | exp.Delete):
        yield scope.this
        yield from (join.this for join in scope.this.args.get("joins") or ())
    for value in scope.args.values():
        if isinstance(value, exp.From):
            yield value.this
            yield from (join.this for join in value.this.args.get("joins") or ())
    yield from (join.this for join in scope.args.get("joins") or ())


def _defined(table: Tree) -> Tree | None:
    """The query of the CTE that `table` names, if it names one."""
    node = table
    while node is not None:
        for value in node.args.values():
            if isinstance(value, exp.With):
                for cte in value.expressions:
                    if cte.alias.lower() == table.name.lower() and not table.args.get("db"):
                        return cte.this
        node = node.parent
    return None
