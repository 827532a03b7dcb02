"""The order that a query demands of its rows, and a way to read the sort keys of each row.

A parser tells what the keys are; the query is never written anew: the keys' own text is inserted into the query's own text.
"""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql_gate.sqltext.clauses import Clauses, Span, clauses_of, has_order_by, without_alias
from nl2sql_gate.sqltext.parse import trees_of
from nl2sql_gate.sqltext.sort_keys import Key, SortKeys, sort_keys_of
from nl2sql_gate.sqltext.tokens import unquoted

_NAME = "nl2sql_gate_key_"
_WRAPPED = "nl2sql_gate_rows"


@dataclass(frozen=True, slots=True)
class TopLevelOrder:
    """Whether a query's own result is ordered, and the positions (from 0) of its sort keys in each row.

    `key_positions` is nothing where some key is not selected, or cannot be told to be.
    """

    is_ordered: bool
    key_positions: tuple[int, ...] | None = None


def top_level_order(sql: str, dialect: str) -> TopLevelOrder:
    """The order of the last statement of `sql`; an ORDER BY within a subquery, a CTE, a window or an aggregate is none.

    Constants and random keys order nothing. What no parser understands is judged by where its words stand.
    """
    trees = trees_of(sql, dialect)
    found = sort_keys_of(trees[-1], dialect) if trees else None
    if found is None:
        return TopLevelOrder(has_order_by(sql, dialect))
    if not found.keys:
        return TopLevelOrder(is_ordered=False)
    positions = tuple(key.position for key in found.keys if key.position is not None)
    return TopLevelOrder(is_ordered=True, key_positions=positions if len(positions) == len(found.keys) else None)


def with_keys_appended(sql: str, dialect: str) -> tuple[str, int] | None:
    """The query `sql` with its sort keys selected as further columns at its end, and how many those are.

    Nothing where that could change the rows, or where a key cannot be selected: several statements, DISTINCT with keys that are
    not selected, set operations ordered by anything but a name, aliases that are columns as well. A key under COLLATE is selected
    as its rank, since equal ranks, not equal texts, are ties. A collation that a column was created with is not seen.
    """
    trees = trees_of(sql, dialect)
    if trees is None or len(trees) != 1:
        return None
    found = sort_keys_of(trees[0], dialect)
    clauses = clauses_of(sql, dialect)
    if found is None or not found.keys or clauses is None or len(clauses.keys) != found.terms:
        return None
    rewritten = _around(sql, clauses, found) if clauses.is_compound else _inserted(sql, clauses, found)
    if rewritten is None:
        return None
    again = trees_of(rewritten, dialect)
    return (rewritten, len(found.keys)) if again is not None and len(again) == 1 else None


def _inserted(sql: str, clauses: Clauses, found: SortKeys) -> str | None:
    if len(clauses.items) != found.items:
        return None
    columns = [_text(sql, clauses, found, key) for key in found.keys]
    # Another column that does not follow from the selected ones would tell rows apart that DISTINCT makes one.
    if None in columns or (clauses.is_distinct and not all(key.is_determined for key in found.keys)):
        return None
    added = "".join(f", {column} AS {_NAME}{number}" for number, column in enumerate(columns, 1))
    return f"{sql[: clauses.end_of_list].rstrip()}{_after_comment(sql, clauses)}{added} {sql[clauses.end_of_list :]}"


def _after_comment(sql: str, clauses: Clauses) -> str:
    """A line break where a comment may stand before it."""
    return "\n" if clauses.items and sql[clauses.items[-1].end : clauses.end_of_list].strip() else ""


def _text(sql: str, clauses: Clauses, found: SortKeys, key: Key) -> str | None:
    if not key.is_selectable:
        return None
    if key.item is not None:
        text = _item(sql, clauses, found, key.item)
    else:
        text = _replaced(sql, clauses.keys[key.number], {name: _item(sql, clauses, found, item) for name, item in key.replaced})
    return f"DENSE_RANK() OVER (ORDER BY {text})" if key.is_collated else text


def _item(sql: str, clauses: Clauses, found: SortKeys, item: int) -> str:
    span = without_alias(clauses.items[item]) if item in found.aliased else clauses.items[item]
    return sql[span.start : span.end]


def _replaced(sql: str, span: Span, texts: dict[str, str]) -> str:
    """The text of `span` with the aliases among its names written out."""
    parts: list[str] = []
    position = span.start
    previous = ""
    for token in span.tokens:
        name = unquoted(token).lower()
        if token.kind in {"word", "name"} and previous != "." and name in texts:
            parts += [sql[position : token.start], f"({texts[name]})"]
            position = token.end
        previous = token.text
    return "".join(parts) + sql[position : span.end]


def _around(sql: str, clauses: Clauses, found: SortKeys) -> str | None:
    """A query around a set operation, whose columns can only be named from outside."""
    if not all(key.is_selectable and key.name and not key.is_collated for key in found.keys):
        return None
    spans = [clauses.keys[key.number] for key in found.keys]
    added = "".join(f", {_WRAPPED}.{sql[span.start : span.end]} AS {_NAME}{i}" for i, span in enumerate(spans, 1))
    inner = sql[clauses.start : clauses.start_of_order]
    return f"SELECT {_WRAPPED}.*{added} FROM (\n{inner}\n) AS {_WRAPPED} {sql[clauses.start_of_order : clauses.end]}"
