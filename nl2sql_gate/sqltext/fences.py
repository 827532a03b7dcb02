"""Fenced code blocks in a reply, as chat models write them rather than as Markdown defines them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nl2sql_gate.sqltext.statement_words import starts_statement

_RUN = re.compile(r"`{3,}+|~{3,}+")
_INFO = re.compile(r"[ \t]*+\{?\.?(?P<word>[A-Za-z][\w+#.-]{0,30}+)?\}?(?P<rest>[ \t\r]*+(?=\n|\Z))?")
_END_OF_LINE = re.compile(r"[ \t\r]*+(?:\n|\Z)")
_LEADING = re.compile(r"[ \t>*+-]*+(?:\d{1,4}[.)])?[ \t]*+\Z")
_QUOTE_MARK = re.compile(r"^[ \t]*+> ?", re.MULTILINE)
_SQL_LANGUAGE = re.compile(
    r"sql|postgres|sqlite|duckdb|maria|bigquery|snowflake|redshift|oracle|db2|spark|trino|presto|hive|clickhouse", re.IGNORECASE
)
_JSON_LANGUAGE = re.compile(r"json", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"(?:\w*(?:sql|json)\w*|text|txt|plain\w*|output|result\w*|csv|tsv|markdown|md|table|python|py|bash|sh|shell|console|xml|html"
    r"|yaml|yml|postgres\w*|duckdb|mariadb|bigquery|snowflake|diff|java|javascript|js|r)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block: its language as written, its content, and whether its end is there."""

    language: str
    content: str
    is_closed: bool

    @property
    def is_sql(self) -> bool:
        """Whether the block says that it holds SQL of some dialect."""
        return _SQL_LANGUAGE.search(self.language) is not None

    @property
    def is_json(self) -> bool:
        """Whether the block says that it holds JSON."""
        return _JSON_LANGUAGE.search(self.language) is not None


@dataclass(slots=True)
class _Open:
    """A block whose end is looked for."""

    mark: str
    language: str
    start: int
    is_quoted: bool


def fenced_blocks(reply: str) -> list[Fence]:
    """The fenced blocks of `reply` in order.

    A block also ends where a new one begins, or with marks behind its last line: models write both.
    """
    blocks: list[Fence] = []
    opened: _Open | None = None
    line_start, counted_to, quotes = 0, 0, 0
    for run in _RUN.finditer(reply):
        newline = reply.rfind("\n", counted_to, run.start())
        if newline >= 0:
            line_start, quotes, counted_to = newline + 1, 0, newline + 1
        quotes += reply.count("'", counted_to, run.start())
        counted_to = run.end()
        begins_line = run.start() - line_start < 200 and _LEADING.match(reply, line_start, run.start()) is not None  # noqa: PLR2004
        if opened is None:
            if run.group()[0] == "~" and not begins_line:
                continue
            opened = _opened(reply, run, line_start)
        elif run.group()[0] == opened.mark[0] and len(run.group()) >= len(opened.mark) and run.start() >= opened.start:
            opens_next = begins_line and _opens_another(reply, run)
            # An odd number of quotes before it on its line: the marks are inside a literal.
            if opens_next or begins_line or _END_OF_LINE.match(reply, run.end()) or quotes % 2 == 0:
                blocks.append(_block(reply, opened, run.start(), is_closed=True))
                opened = _opened(reply, run, line_start) if opens_next else None
    if opened is not None:
        blocks.append(_block(reply, opened, len(reply), is_closed=False))
    return blocks


def _opened(reply: str, run: re.Match[str], line_start: int) -> _Open:
    is_quoted = ">" in reply[line_start : min(run.start(), line_start + 40)]
    info = _INFO.match(reply, run.end())
    word = (info.group("word") or "") if info else ""
    if info is None or not word or starts_statement(word):
        return _Open(run.group(), "", run.end(), is_quoted)
    start = info.end()
    if info.group("rest") is None and not starts_statement(reply[start : start + 200].lstrip(" \t:")):
        # What stands behind the language on its line is attributes, unless it is the code itself.
        newline = reply.find("\n", start)
        start = start if newline < 0 else newline
    return _Open(run.group(), word, start, is_quoted)


def _opens_another(reply: str, run: re.Match[str]) -> bool:
    info = _INFO.match(reply, run.end())
    return bool(info and info.group("word") and info.group("rest") is not None and _LANGUAGE.match(info.group("word")))


def _block(reply: str, opened: _Open, end: int, *, is_closed: bool) -> Fence:
    content = reply[opened.start : end]
    if opened.is_quoted:
        content = _QUOTE_MARK.sub("", content)
    return Fence(opened.language, content.strip(), is_closed)
