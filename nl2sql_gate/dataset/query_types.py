"""What kind of statement an item's golden SQL is, checked against what the item says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nl2sql_gate.records import Item, QueryType

_FRONT = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/|[(;])*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_FIRST_WORDS: dict[str, QueryType] = {
    **dict.fromkeys(("select", "values", "table", "from", "show", "describe", "desc", "explain", "pragma"), "dql"),
    **dict.fromkeys(("insert", "update", "delete", "merge", "replace", "upsert"), "dml"),
    **dict.fromkeys(("create", "alter", "drop", "truncate", "rename", "comment", "grant", "revoke"), "ddl"),
}
_WRITES_INSIDE = re.compile(r"\b(?:insert|update|delete|merge|into)\b", re.IGNORECASE)
_STRENGTH: tuple[QueryType, ...] = ("dql", "dml", "ddl")


def query_type_of_statements(statements: Iterable[str], dialect: str, *, declared: QueryType) -> QueryType | None:
    """The kind that golden SQL really is, or `None` where that cannot be told.

    Parsing costs a thousand times what a look at the first word does, so it happens only where that look speaks against
    `declared`.
    Several statements are what the strongest of them is, unless one is of the declared kind in a dml or ddl sequence.
    """
    statements = list(statements)
    if declared != "dql" and any(_kind_by_first_word(sql) == declared for sql in statements):
        return declared
    found = {kind for kind in (_kind(sql, dialect, declared) for sql in statements) if kind is not None}
    if not found:
        return None
    if declared in found and declared != "dql":
        return declared
    return max(found, key=_STRENGTH.index)


def effective_query_type(item: Item, dialect: str) -> QueryType:
    """The kind as which `item` runs in `dialect`: what its golden SQL there is, else what the item says."""
    return query_type_of_statements(item.golden_sql.pick(dialect), dialect, declared=item.query_type) or item.query_type


def _kind(sql: str, dialect: str, declared: QueryType) -> QueryType | None:
    kind = _kind_by_first_word(sql)
    if kind == declared:
        return kind
    if kind is None and declared != "dql":
        # EXEC sp_rename, SET, DO: only the author knows what these do.
        word = _first_word(sql)
        if word not in {"with", "begin", "start"}:
            return None
    from nl2sql_gate.sqltext import query_type_of

    return query_type_of(sql, dialect)


def _first_word(sql: str) -> str:
    front = _FRONT.match(sql)
    word = _WORD.match(sql, front.end() if front else 0)
    return word.group().lower() if word else ""


def _kind_by_first_word(sql: str) -> QueryType | None:
    """The kind by the first word; `None` where that word does not settle it (WITH, SELECT … INTO, BEGIN)."""
    word = _first_word(sql)
    if word == "with":
        return None if _WRITES_INSIDE.search(sql) else "dql"
    if word == "select" and re.search(r"\binto\b", sql, re.IGNORECASE):
        return None
    return _FIRST_WORDS.get(word)
