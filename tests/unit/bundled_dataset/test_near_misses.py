"""A query that is wrong in one place gives another result: the rows hold the near misses that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp
from thistledown import questions, same
from thistledown_servers import Bench

Edit = Callable[[exp.Expression], exp.Expression | None]

# Nothing can tell these from the golden: they mean the same on any rows, or on all that the schema and the engine allow.
EQUIVALENT = {
    ("mite-alert", "inner to left"): "HAVING asks for counted mites, which a hive without inspections has not",
    ("inspected-in-both-yards", "inner to left"): "WHERE and INTERSECT drop the inspector that is missing",
    ("honey-stores-by-type", "inner to left"): "WHERE asks for a value of the joined row",
    ("bought-every-candle", "inner to left"): "WHERE asks for a product of the joined row",
    ("lines-below-list-price", "inner to left"): "every order line has its order",
    ("median-mites-2024", "direction"): "the middle is the middle from both ends",
    ("above-average-hives-2024", "boundary"): "no total is exactly the average",
    ("swarm-notes", "no lower case"): "LIKE in SQLite does not tell upper from lower case",
}


def _edits() -> Iterator[tuple[str, type[exp.Expression], Edit]]:
    yield "no where", exp.Select, lambda node: _without(node, "where")
    yield "no having", exp.Select, lambda node: _without(node, "having")
    yield "no distinct", exp.Select, lambda node: _without(node, "distinct")
    yield "no order", exp.Select, lambda node: _without(node, "order") if node.parent is None else None
    for side in ("this", "expression"):
        yield f"only {side}", exp.Connector, lambda node, side=side: node.args[side].copy()
    for kind, other in ((exp.GT, exp.GTE), (exp.GTE, exp.GT), (exp.LT, exp.LTE), (exp.LTE, exp.LT)):
        yield "boundary", kind, lambda node, other=other: other(this=node.this.copy(), expression=node.expression.copy())
    for kind, other in (
        (exp.EQ, exp.NEQ),
        (exp.NEQ, exp.EQ),
        (exp.GT, exp.LT),
        (exp.LT, exp.GT),
        (exp.GTE, exp.LTE),
        (exp.LTE, exp.GTE),
    ):
        yield "flipped", kind, lambda node, other=other: other(this=node.this.copy(), expression=node.expression.copy())
    yield "inner to left", exp.Join, lambda node: _joined(node, "LEFT") if node.side != "LEFT" else None
    yield "left to inner", exp.Join, lambda node: _joined(node, None) if node.side == "LEFT" else None
    for kind, other in ((exp.Sum, exp.Avg), (exp.Avg, exp.Sum), (exp.Min, exp.Max), (exp.Max, exp.Min)):
        yield "aggregate", kind, lambda node, other=other: other(this=node.this.copy())
    yield (
        "all counted",
        exp.Count,
        lambda node: exp.Count(this=exp.Star()) if isinstance(node.this, exp.Column | exp.Distinct) else None,
    )
    yield "direction", exp.Ordered, lambda node: exp.Ordered(this=node.this.copy(), desc=not node.args.get("desc"))
    yield "null or not", exp.Is, lambda node: exp.Not(this=node.copy())
    yield "no coalesce", exp.Coalesce, lambda node: node.this.copy()
    yield "no lower case", exp.Lower, lambda node: node.this.copy()
    yield "limit", exp.Limit, lambda node: exp.Limit(expression=exp.Literal.number(int(node.expression.name) * 2 + 1))


def _without(node: exp.Expression, part: str) -> exp.Expression | None:
    if not node.args.get(part):
        return None
    edited = node.copy()
    edited.set(part, None)
    return edited


def _joined(node: exp.Expression, side: str | None) -> exp.Expression:
    edited = node.copy()
    edited.set("side", side)
    return edited


def _variants(sql: str) -> Iterator[tuple[str, str]]:
    """Every query that differs from `sql` by one edit in one place, with the edit's name."""
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    for name, kind, edit in _edits():
        for place, node in enumerate(tree.find_all(kind)):
            edited = edit(node) if type(node) is kind or kind is exp.Connector else None
            if edited is None:
                continue
            copy = tree.copy()
            target = next(found for at, found in enumerate(copy.find_all(kind)) if at == place)
            yield name, (target.replace(edited) if target.parent else edited).root().sql(dialect="sqlite")


def test_wrong_queries_give_other_results(sqlite_databases: Bench) -> None:
    survivors, tried = set(), 0
    for item in questions("dql"):
        goldens = item.sql("golden_sql", "sqlite")
        right = [sqlite_databases.rows(item.database, sql) for sql in goldens]
        ordered = item.is_ordered(goldens[0], "sqlite")
        for name, variant in _variants(goldens[0]):
            try:
                rows = sqlite_databases.rows(item.database, variant)
            except Exception:  # noqa: BLE001, S112 - a variant that does not run tells nothing
                continue
            tried += 1
            if any(same(answer, rows, ordered=ordered) for answer in right):
                survivors.add((item.id, name))
    assert set(EQUIVALENT) == survivors
    assert tried > 500
