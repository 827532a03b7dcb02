"""The tokens of SQL text, without a grammar: enough to find words, calls and clauses where no parser understands the text too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from nl2sql_gate.sqltext.lexis import DOLLAR_TAG, end_of_counted, lexis_of

_STRINGS_IN_DOUBLE_QUOTES = {"mysql", "mariadb", "bigquery"}


class Token(NamedTuple):
    """One token; `depth` counts the parentheses around it, `start` and `end` are offsets into the source."""

    kind: Literal["word", "number", "string", "name", "symbol"]
    text: str
    start: int
    end: int
    depth: int

    def is_word(self, *words: str) -> bool:
        """Whether this is one of the unquoted `words`, given in upper case."""
        return self.kind == "word" and self.text.upper() in words


def iter_tokens(sql: str, dialect: str) -> Iterator[Token]:
    """The tokens of `sql` in order; blanks and comments are none."""
    pattern = _pattern(dialect)
    lexis = lexis_of(dialect)
    position, depth = 0, 0
    while (found := pattern.search(sql, position)) is not None:
        start, position = found.span()
        kind = found.lastgroup
        if kind == "counted":
            position = end_of_counted(sql, start, lexis) or position
            if found.group() == "/*":
                continue
            kind = "string"
        if kind == "comment":
            continue
        text = sql[start:position]
        if text == ")":
            depth = max(0, depth - 1)
        yield Token(_kind(kind or "symbol", text, dialect), text, start, position, depth)
        if text == "(":
            depth += 1


def unquoted(token: Token) -> str:
    """The text of a literal or name without its quotes; doubled quotes are undone, escapes are not."""
    text = token.text
    if token.kind not in {"string", "name"} or text[:1] not in "'\"`[" or len(text) < len("''"):
        return text
    closing = "]" if text[0] == "[" else text[0]
    return text[1:-1].replace(closing * 2, closing) if text.endswith(closing) else text[1:]


def _kind(kind: str, text: str, dialect: str) -> Literal["word", "number", "string", "name", "symbol"]:
    match kind:
        case "literal":
            is_name = text[0] in "`[" or (text[0] == '"' and dialect not in _STRINGS_IN_DOUBLE_QUOTES)
            return "name" if is_name else "string"
        case "string" | "word" | "number":
            return kind
        case _:
            return "symbol"


@lru_cache(maxsize=32)
def _pattern(dialect: str) -> re.Pattern[str]:
    lexis = lexis_of(dialect)
    counted = [r"/\*"] if lexis.nested_comments else []
    if lexis.dollar_quotes:
        counted.append(DOLLAR_TAG.pattern)
    sigils = {"sqlserver": "[@#]{0,2}", "mysql": "@{0,2}", "mariadb": "@{0,2}"}.get(dialect, "")
    parts = [
        f"(?P<literal>{'|'.join(lexis.literals)})",
        f"(?P<comment>{'|'.join(lexis.comments)})",
        f"(?P<counted>{'|'.join(counted)})" if counted else "",
        rf"(?P<word>{sigils}[^\W\d][\w$]*+)",
        r"(?P<number>\d[\w.]*+)",
        r"(?P<symbol>\S)",
    ]
    return re.compile("|".join(filter(None, parts)), re.DOTALL)
