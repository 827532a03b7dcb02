"""What the parser makes of SQL.

It never raises: what it does not understand is unknown, and the caller takes the strict or the expensive means.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from nl2sql_gate.dialects import sqlglot_name
from nl2sql_gate.sqltext.split import split_statements
from nl2sql_gate.sqltext.tokens import iter_tokens

Tree = Any
"""A syntax tree of sqlglot's; the class has had several names."""

LONGEST = 100_000
"""Characters of one script that are parsed at all: a parser in Python needs about a second for this much."""


_LONGEST_KEPT = 8_000


def trees_of(sql: str, dialect: str) -> tuple[Tree, ...] | None:
    """The syntax trees of all statements, or nothing where one of them is not understood. Never change a tree: they are kept."""
    if len(sql) > LONGEST:
        return None
    # Several questions are asked about the same SQL in a row; a tree weighs a hundred times its text.
    return _kept(sql, dialect) if len(sql) <= _LONGEST_KEPT else _trees(sql, dialect)


def is_understood(sql: str, dialect: str) -> bool:
    """Whether a grammar covers all of `sql`; what is only known by its first word does not count."""
    from sqlglot import exp

    trees = trees_of(sql, dialect)
    return bool(trees) and all(not isinstance(tree, exp.Command | exp.Alias | exp.Column) for tree in trees or ())


@lru_cache(maxsize=64)
def _kept(sql: str, dialect: str) -> tuple[Tree, ...] | None:
    return _trees(sql, dialect)


def _trees(sql: str, dialect: str) -> tuple[Tree, ...] | None:
    trees: list[Tree] = []
    for statement in split_statements(sql, dialect):
        parsed = _parsed(statement.text, dialect) if statement.kind == "sql" else None
        if parsed is None:
            return None
        trees.extend(parsed)
    return tuple(trees)


def _parsed(sql: str, dialect: str) -> list[Tree] | None:
    import logging

    import sqlglot

    # It would print the SQL that it knows only by its first word, and what a model wrote has no place in a log.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        text = _with_placeholders_as_names(sql, dialect) if "{{" in sql else sql
        parsed = sqlglot.parse(text, read=sqlglot_name(dialect))
    # A parser of SQL that nobody vouches for fails in ways that it does not declare: IndexError, AttributeError, RecursionError.
    except Exception:  # noqa: BLE001
        return None
    return [tree for tree in parsed if tree is not None]


def _with_placeholders_as_names(sql: str, dialect: str) -> str:
    """`sql` with every bare `{{name}}` quoted: it stands for a name that somebody fills in, and is a name to the parser then."""
    from sqlglot import exp

    tokens = list(iter_tokens(sql, dialect))
    parts: list[str] = []
    position = 0
    for window in zip(*(tokens[shift:] for shift in range(5)), strict=False):
        start, end = window[0].start, window[-1].end
        word = window[2]
        if word.kind == "word" and sql[start:end] == "{{" + word.text + "}}":
            name = exp.to_identifier(sql[start:end], quoted=True).sql(dialect=sqlglot_name(dialect))
            parts += [sql[position:start], name]
            position = end
    return "".join(parts) + sql[position:]
