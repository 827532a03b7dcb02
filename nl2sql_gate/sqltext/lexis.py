"""What is not code in each dialect: literals, quoted names, comments.

Everything is one possessive regular expression per dialect and delimiter, so that a dump of many megabytes is read at the
speed of C and hostile text cannot make it backtrack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_QUOTED = {
    "'": r"'[^']*+(?:'|\Z)",
    '"': r'"[^"]*+(?:"|\Z)',
    "`": r"`[^`]*+(?:`|\Z)",
    "[": r"\[[^\]]*+(?:\]|\Z)",
    "[]]": r"\[(?:[^\]]++|\]\])*+(?:\]|\Z)",
}
"""Doubled quotes need no rule of their own where two literals side by side end at the same place as one."""

_ESCAPED = {
    "'": r"'(?:[^'\\]++|\\(?:.|\Z)|'')*+(?:'|\Z)",
    '"': r'"(?:[^"\\]++|\\(?:.|\Z)|"")*+(?:"|\Z)',
}
_TRIPLE = r"'''(?:[^'\\]++|\\(?:.|\Z)|'(?!''))*+(?:'''|\Z)", r'"""(?:[^"\\]++|\\(?:.|\Z)|"(?!""))*+(?:"""|\Z)'
# A literal goes on after a line break, and the part after it takes backslashes as the first does.
_ESCAPE_STRING = r"[eE]'(?:[^'\\]++|\\(?:.|\Z)|''|'[ \t\r\f]*+\n\s*+')*+(?:'|\Z)"

_DASHES = r"--[^\n]*+"
_DASHES_TO_CR = r"--[^\n\r]*+"
# MySQL takes `--` for a comment only before a blank: `5--1` is 6.
_DASHES_BLANK = r"--(?=[\s\x00-\x1f]|\Z)[^\n]*+"
_HASH = r"#[^\n]*+"
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
# The server runs what stands in a versioned comment, so it is code.
_COMMENT_NOT_VERSIONED = r"/\*(?!!|M!)(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
# A comment without another inside; the others are counted by `end_of_nested_comment`.
_COMMENT_FLAT = r"/\*(?:[^*/]++|\*(?!/)|/(?!\*))*+\*/"

DOLLAR_TAG = re.compile(r"\$(?:[^\W\d]\w*+)?\$")
_GO = r"[ \t]*+[Gg][Oo](?:[ \t]++{count})?[ \t]*+;?[ \t]*+(?:--[^\n]*+|/\*[^\n*]*+\*/[ \t]*+)?\r?(?=\n|\Z)"
GO_LINE = re.compile(_GO.format(count=r"(\d{1,9})"))
_NESTING = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Lexis:
    """The rules of one dialect, as alternatives of regular expressions."""

    literals: tuple[str, ...]
    comments: tuple[str, ...]
    nested_comments: bool = False
    dollar_quotes: bool = False
    go_batches: bool = False
    first_characters: str = "'\"-/"

    @property
    def skipped(self) -> tuple[str, ...]:
        """Alternatives for all that is not code, comments last."""
        return (*self.literals, *self.comments)


_ANSI = Lexis((_QUOTED["'"], _QUOTED['"']), (_DASHES, _COMMENT))
_MYSQL = Lexis(
    (_ESCAPED["'"], _ESCAPED['"'], _QUOTED["`"]),
    (_DASHES_BLANK, _HASH, _COMMENT_NOT_VERSIONED),
    first_characters="'\"`-#/",
)
_POSTGRES = Lexis(
    (_ESCAPE_STRING, _QUOTED["'"], _QUOTED['"']),
    (_DASHES_TO_CR, _COMMENT_FLAT),
    nested_comments=True,
    dollar_quotes=True,
    first_characters="'\"-/$",
)
LEXES: dict[str, Lexis] = {
    "sqlite": Lexis(
        (_QUOTED["'"], _QUOTED['"'], _QUOTED["`"], _QUOTED["["]),
        (_DASHES, _COMMENT),
        first_characters="'\"`[-/",
    ),
    "postgres": _POSTGRES,
    "duckdb": _POSTGRES,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlserver": Lexis(
        (_QUOTED["'"], _QUOTED['"'], _QUOTED["[]]"]),
        (_DASHES, _COMMENT_FLAT),
        nested_comments=True,
        go_batches=True,
        first_characters="'\"[-/",
    ),
    "bigquery": Lexis(
        (*_TRIPLE, _ESCAPED["'"], _ESCAPED['"'], _QUOTED["`"]),
        (_DASHES, _HASH, _COMMENT),
        first_characters="'\"`-#/",
    ),
}


def lexis_of(dialect: str) -> Lexis:
    """The rules of `dialect`; standard SQL's where it has none of its own."""
    return LEXES.get(dialect, _ANSI)


@lru_cache(maxsize=128)
def code_run(dialect: str, delimiter: str | None) -> re.Pattern[str]:
    """Matches from a statement's first character up to the delimiter, a GO line, or something that must be counted.

    What must be counted is a nested comment or a dollar quote: the match stops before it.
    """
    lexis = lexis_of(dialect)
    stops = set(lexis.first_characters) | set(delimiter[:1] if delimiter else "") | ({"\n"} if lexis.go_batches else set())
    excluded = "".join(re.escape(character) for character in sorted(stops))
    # Where a word starts matters for E'…' and $tag$: there words are taken whole.
    words = [lexis.literals[0], r"\w[\w$]*+", rf"[^\w{excluded}]++"]
    runs = words if lexis.dollar_quotes else [rf"[^{excluded}]++"]
    guard = f"(?!{re.escape(delimiter)})" if delimiter else ""
    alternatives = "|".join([*runs, *lexis.skipped, *_code_characters(lexis, delimiter)])
    return re.compile(f"(?:{guard}(?:{alternatives}))*+", re.DOTALL)


def _code_characters(lexis: Lexis, delimiter: str | None) -> list[str]:
    """Alternatives for single characters that may open something and do not."""
    characters = ["-", r"/(?!\*)"]
    if lexis is _MYSQL:
        characters.append(r"/(?=\*!|\*M!)")
    if lexis.dollar_quotes:
        characters.append(rf"\$(?!{DOLLAR_TAG.pattern[2:]})")
    if lexis.go_batches:
        characters.append(rf"\n(?!{_GO.format(count='[0-9]{1,9}')})")
    if delimiter:
        characters.append(re.escape(delimiter[0]))
    return characters


@lru_cache(maxsize=32)
def _trivia(dialect: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\s++|{'|'.join(lexis_of(dialect).comments)})*+", re.DOTALL)


def after_trivia(text: str, position: int, dialect: str) -> int:
    """The offset of the first character of code at or after `position`: blanks and comments are passed over."""
    pattern = _trivia(dialect)
    nested = lexis_of(dialect).nested_comments
    while True:
        matched = pattern.match(text, position)
        position = matched.end() if matched else position
        if not (nested and text.startswith("/*", position)):
            return position
        position = end_of_nested_comment(text, position)


def code_at(text: str, position: int, dialect: str, *, length: int) -> str:
    """The first `length` characters from the first code at or after `position`."""
    start = after_trivia(text, position, dialect)
    return text[start : start + length]


def end_of_nested_comment(text: str, position: int) -> int:
    """The offset behind the comment that opens at `position`; the text's end where it never closes."""
    depth = 0
    for mark in _NESTING.finditer(text, position):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def end_of_dollar_quote(text: str, position: int) -> int | None:
    """The offset behind the dollar-quoted text that opens at `position`, or nothing where none opens there."""
    tag = DOLLAR_TAG.match(text, position)
    if tag is None:
        return None
    close = text.find(tag.group(), tag.end())
    return len(text) if close < 0 else close + len(tag.group())


def end_of_counted(text: str, position: int, lexis: Lexis) -> int | None:
    """The offset behind the nested comment or dollar quote that opens at `position`, or nothing where none does."""
    if lexis.nested_comments and text.startswith("/*", position):
        return end_of_nested_comment(text, position)
    return end_of_dollar_quote(text, position) if lexis.dollar_quotes else None
