"""Statements that hold semicolons without quoting them: triggers, routines, events, rules.

A statement is such a one by its first words; where it ends is then counted over its block words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from nl2sql_gate.sqltext.lexis import DOLLAR_TAG, end_of_counted, lexis_of

_GAP = r"(?:\s++|/\*!\d*+|/\*(?!!)(?:[^*]++|\*(?!/))*+\*/|\*/|--[^\n]*+\n)"
_USER = r"(?:`[^`]*+`|'[^']*+'|\"[^\"]*+\"|[\w%.$]++(?:\(\))?)"
_CREATE = rf"(?:EXPLAIN{_GAP}++)?(?:/\*!\d*+{_GAP}*+)?CREATE{_GAP}++(?:OR{_GAP}++(?:REPLACE|ALTER){_GAP}++)?"
_MYSQL_HEAD = rf"{_CREATE}(?:AGGREGATE{_GAP}++)?(?:DEFINER{_GAP}*+={_GAP}*+{_USER}(?:\s*+@\s*+{_USER})?{_GAP}++)?"
_WORD = r"(?<![\w.@$#:])"


@dataclass(frozen=True)
class Block:
    """How one kind of statement nests. `head` recognises it; a delimiter counts only where nothing is open."""

    head: re.Pattern[str]
    opens: str
    closes: str
    neutral: str = ""


def _block(head: str, *, opens: str, closes: str, neutral: str = "") -> Block:
    return Block(re.compile(head, re.IGNORECASE), opens, closes, neutral)


_SQLITE_TRIGGER = _block(rf"{_CREATE}(?:TEMP(?:ORARY)?{_GAP}++)?TRIGGER\b", opens=r"(?:BEGIN|CASE)\b", closes=r"END\b")
_MYSQL_ROUTINE = _block(
    rf"{_MYSQL_HEAD}(?:TRIGGER|FUNCTION|PROCEDURE|EVENT)\b|BEGIN{_GAP}++NOT{_GAP}++ATOMIC\b",
    opens=r"(?:BEGIN|CASE)\b",
    closes=r"END(?:\s++CASE)?\b",
    neutral=r"END\s++(?:IF|LOOP|WHILE|REPEAT|FOR)\b",
)
_POSTGRES_ATOMIC = _block(
    rf"{_CREATE}(?:FUNCTION|PROCEDURE)\b",
    # A function's text may say CASE in a default before the body: that one is closed by its own END.
    opens=r"(?:BEGIN\s++ATOMIC|CASE)\b",
    closes=r"END\b",
)
_POSTGRES_RULE = _block(rf"{_CREATE}RULE\b", opens=r"\(", closes=r"\)")
_BIGQUERY_SCRIPT = _block(
    rf"{_CREATE}PROCEDURE\b|BEGIN\b(?!\s*+(?:;|TRANSACTION\b))",
    opens=r"(?:BEGIN|CASE)\b(?!\s++TRANSACTION\b)",
    closes=r"END(?:\s++CASE)?\b",
    neutral=r"END\s++(?:IF|LOOP|WHILE|REPEAT|FOR)\b",
)
_SQLSERVER_BLOCK = _block(
    r"",
    opens=r"(?:BEGIN(?!\s++(?:TRAN|TRANSACTION|DISTRIBUTED|DIALOG|CONVERSATION)\b)|CASE)\b",
    closes=r"END\b",
    neutral=r"END\s++CONVERSATION\b",
)
TO_END_OF_BATCH = re.compile(
    rf"(?:CREATE(?:{_GAP}++OR{_GAP}++ALTER)?|ALTER){_GAP}++(?:PROC|PROCEDURE|FUNCTION|TRIGGER)\b", re.IGNORECASE
)
"""In T-SQL the body of such a statement is the rest of its batch."""

BLOCKS: dict[str, tuple[Block, ...]] = {
    "sqlite": (_SQLITE_TRIGGER,),
    "mysql": (_MYSQL_ROUTINE,),
    "mariadb": (_MYSQL_ROUTINE,),
    "postgres": (_POSTGRES_ATOMIC, _POSTGRES_RULE),
    "bigquery": (_BIGQUERY_SCRIPT,),
    "sqlserver": (_SQLSERVER_BLOCK,),
}


def block_at(text: str, position: int, dialect: str) -> Block | None:
    """The kind of block statement that begins at `position`, if one does."""
    return next((block for block in BLOCKS.get(dialect, ()) if block.head.match(text, position)), None)


def end_of_block(text: str, position: int, *, dialect: str, block: Block, stop: int) -> int:
    """The offset of the semicolon that ends the block statement beginning at `position`; `stop` where none does."""
    lexis = lexis_of(dialect)
    tokens = _tokens(dialect, block)
    depth = 0
    while position < stop:
        token = tokens.search(text, position, stop)
        if token is None:
            return stop
        position = token.end()
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(0, depth - 1)
            case "counted":
                position = end_of_counted(text, token.start(), lexis) or position
            case "end" if depth == 0:
                return token.start()
            case _:
                pass
    return stop


@lru_cache(maxsize=32)
def _tokens(dialect: str, block: Block) -> re.Pattern[str]:
    lexis = lexis_of(dialect)
    word = "" if block.opens.startswith("\\") else _WORD
    # The E of another word opens no escape string, and a dollar within a name no dollar quote.
    first = rf"(?<![\w$]){lexis.literals[0]}" if lexis.dollar_quotes else lexis.literals[0]
    dollar = r"|(?<![\w$])" + DOLLAR_TAG.pattern if lexis.dollar_quotes else ""
    parts = [
        f"(?P<skip>{'|'.join([first, *lexis.skipped[1:]])})",
        rf"(?P<counted>/\*{dollar})" if lexis.nested_comments else "",
        f"(?P<neutral>{word}{block.neutral})" if block.neutral else "",
        f"(?P<open>{word}{block.opens})",
        f"(?P<close>{word}{block.closes})",
        "(?P<end>;)",
    ]
    return re.compile("|".join(filter(None, parts)), re.IGNORECASE | re.DOTALL)
