"""Where the parts of a query stand in its text: the select list, its items, the sort keys. By words, without a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nl2sql_gate.sqltext.tokens import Token, iter_tokens

_SET_WORDS = ("UNION", "EXCEPT", "INTERSECT", "MINUS")
_ENDS_LIST = ("WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "FOR", "OPTION")
_ENDS_KEYS = ("LIMIT", "OFFSET", "FETCH", "FOR", "OPTION", "WITH", "LOCK", "INTO")
_BEFORE_ITEMS = ("DISTINCT", "ALL", "STRAIGHT_JOIN", "SQL_CALC_FOUND_ROWS", "SQL_NO_CACHE", "HIGH_PRIORITY", "DISTINCTROW")


class Span(NamedTuple):
    """A part of the text, by the tokens in it."""

    tokens: tuple[Token, ...]

    @property
    def start(self) -> int:
        """The offset of its first character."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The offset behind its last character."""
        return self.tokens[-1].end


@dataclass(frozen=True, slots=True)
class Clauses:
    """The parts of one ordered query.

    `is_compound`: a set operation or a query in parentheses; its columns can only be named from outside, and `items` is empty.
    `keys` are the sort keys without direction. `end_of_list` is where another column can be inserted.
    """

    items: tuple[Span, ...]
    keys: tuple[Span, ...]
    end_of_list: int
    start: int
    start_of_order: int
    end: int
    is_compound: bool
    is_distinct: bool


def clauses_of(sql: str, dialect: str) -> Clauses | None:
    """The parts of the one query in `sql`; nothing where it has no ORDER BY of its own, or another shape than expected."""
    tokens, depth = _unwrapped(list(iter_tokens(sql, dialect)))
    flat = [index for index, token in enumerate(tokens) if token.depth == depth]
    order = _order_by(tokens, flat)
    if order is None or tokens[-1].text == ";":
        return None
    keys = _keys(tokens, order + 2, depth)
    selects = [index for index in flat if tokens[index].is_word("SELECT")]
    is_compound = not selects or any(tokens[index].is_word(*_SET_WORDS) for index in flat)
    if any(tokens[i].is_word("INTO") or (tokens[i].is_word("FOR") and _next_is(tokens, i, "JSON", "XML")) for i in flat):
        return None
    if is_compound:
        return Clauses((), keys, 0, tokens[0].start, tokens[order].start, tokens[-1].end, is_compound=True, is_distinct=False)
    if len(selects) != 1:
        return None
    end = _end_of_list(tokens, flat, selects[0])
    first, is_distinct = _start_of_items(tokens, selects[0] + 1)
    items = _separated(tokens[first:end], depth)
    return Clauses(
        items,
        keys,
        tokens[end].start,
        tokens[0].start,
        tokens[order].start,
        tokens[-1].end,
        is_compound=False,
        is_distinct=is_distinct,
    )


def has_order_by(sql: str, dialect: str) -> bool:
    """Whether the last statement of `sql` has an ORDER BY outside all its parentheses."""
    tokens = list(iter_tokens(sql, dialect))
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    last = next((index for index in range(len(tokens) - 1, -1, -1) if tokens[index].text == ";" and tokens[index].depth == 0), -1)
    tokens, depth = _unwrapped(tokens[last + 1 :])
    return _order_by(tokens, [index for index, token in enumerate(tokens) if token.depth == depth]) is not None


def without_alias(item: Span) -> Span:
    """`item` without the alias that it ends with; only for an item that has one."""
    kept = item.tokens[:-2] if item.tokens[-2].is_word("AS") else item.tokens[:-1]
    return Span(kept)


def _unwrapped(tokens: list[Token]) -> tuple[list[Token], int]:
    """`tokens` without a final semicolon and without parentheses around all of them; and the depth of what is left."""
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    depth = 0
    while tokens and tokens[0].text == "(" and tokens[-1].text == ")" and _closes(tokens, depth):
        tokens, depth = tokens[1:-1], depth + 1
    return tokens, depth


def _closes(tokens: Sequence[Token], depth: int) -> bool:
    """Whether the last token closes what the first opens."""
    return all(token.depth > depth for token in tokens[1:-1])


def _order_by(tokens: Sequence[Token], flat: Sequence[int]) -> int | None:
    return next((i for i in reversed(flat) if tokens[i].is_word("ORDER") and _next_is(tokens, i, "BY")), None)


def _next_is(tokens: Sequence[Token], index: int, *words: str) -> bool:
    return index + 1 < len(tokens) and tokens[index + 1].is_word(*words)


def _end_of_list(tokens: Sequence[Token], flat: Sequence[int], select: int) -> int:
    """The index of the token before which the select list ends."""
    after = [index for index in flat if index > select]
    for index in after:
        # `a IS DISTINCT FROM b` is a comparison.
        if tokens[index].is_word("FROM") and not (tokens[index - 1].is_word("DISTINCT") and index - 1 > select + 1):
            return index
    return next(index for index in after if tokens[index].is_word(*_ENDS_LIST))


def _start_of_items(tokens: Sequence[Token], index: int) -> tuple[int, bool]:
    """The index of the first item's first token, and whether whole rows are made distinct (DISTINCT ON has keys of its own)."""
    is_distinct = False
    while tokens[index].is_word(*_BEFORE_ITEMS):
        is_distinct = is_distinct or tokens[index].is_word("DISTINCT", "DISTINCTROW")
        index += 1
        if tokens[index].is_word("ON"):
            is_distinct = False
            index = _behind_parentheses(tokens, index + 1)
    if tokens[index].is_word("TOP"):
        index = _behind_parentheses(tokens, index + 1) if tokens[index + 1].text == "(" else index + 2
        if tokens[index].is_word("PERCENT"):
            index += 1
        if tokens[index].is_word("WITH") and _next_is(tokens, index, "TIES"):
            index += 2
    return index, is_distinct


def _behind_parentheses(tokens: Sequence[Token], opening: int) -> int:
    depth = tokens[opening].depth
    closing = (i for i in range(opening + 1, len(tokens)) if tokens[i].text == ")" and tokens[i].depth == depth)
    return next(closing, len(tokens) - 2) + 1


def _keys(tokens: Sequence[Token], start: int, depth: int) -> tuple[Span, ...]:
    end = next((i for i in range(start, len(tokens)) if tokens[i].depth == depth and tokens[i].is_word(*_ENDS_KEYS)), len(tokens))
    return tuple(_without_direction(span) for span in _separated(tokens[start:end], depth))


def _without_direction(span: Span) -> Span:
    kept = list(span.tokens)
    if len(kept) > 2 and kept[-1].is_word("FIRST", "LAST") and kept[-2].is_word("NULLS"):  # noqa: PLR2004
        del kept[-2:]
    if len(kept) > 1 and kept[-1].is_word("ASC", "DESC"):
        kept.pop()
    return Span(tuple(kept))


def _separated(tokens: Sequence[Token], depth: int) -> tuple[Span, ...]:
    """The spans between the commas of `depth`; an empty one makes all of them useless, and none is given."""
    spans: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == "," and token.depth == depth:
            spans.append([])
        else:
            spans[-1].append(token)
    return tuple(Span(tuple(span)) for span in spans) if all(spans) else ()
