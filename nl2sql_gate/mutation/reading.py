"""Golden SQL as trees that may be changed, with the few spellings mended that its grammar does not take."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from nl2sql_gate.sqltext.parse import Tree, trees_of
from nl2sql_gate.sqltext.tokens import Token, iter_tokens

_BEHIND_LIMIT = ("OFFSET", "FETCH", "FOR", "UNION", "INTERSECT", "EXCEPT", "LOCK", "INTO")


def read_trees(sql: str, dialect: str) -> tuple[Tree, ...] | None:
    """The statements of `sql` as trees of one's own; nothing where one of them is not understood."""
    for text in (sql, with_limits_in_parentheses(sql, dialect)):
        trees = trees_of(text, dialect)
        if trees and not any(isinstance(tree, exp.Command | exp.Alias | exp.Column) for tree in trees):
            return tuple(tree.copy() for tree in trees)
    return None


def with_limits_in_parentheses(sql: str, dialect: str) -> str:
    """`sql` with what stands behind each LIMIT in parentheses: there a `%` would be read as PERCENT."""
    tokens = list(iter_tokens(sql, dialect))
    parts: list[str] = []
    position = 0
    for index, token in enumerate(tokens):
        if token.is_word("LIMIT") and index + 1 < len(tokens):
            first, last = tokens[index + 1], _last_of_limit(tokens, index)
            if first.start >= position and last is not None and last is not first:
                parts += [sql[position : first.start], "(", sql[first.start : last.end], ")"]
                position = last.end
    return "".join(parts) + sql[position:]


def _last_of_limit(tokens: Sequence[Token], index: int) -> Token | None:
    last = None
    for token in tokens[index + 1 :]:
        if token.depth < tokens[index].depth or token.text == ";":
            break
        if token.depth == tokens[index].depth and (token.is_word(*_BEHIND_LIMIT) or token.text == ","):
            break
        last = token
    return last
