"""Characters that a word processor put where SQL has quotes and blanks.

Chat models and chat windows send no-break spaces and curly quotes; no database takes them for what they stand for. Like the
escapes of a JSON reply they belong to the carrier, so they are decoded, outside of literals, quoted names and comments only,
and the rule that is recorded with the SQL says so.
"""

from __future__ import annotations

import re
from functools import lru_cache

from nl2sql_gate.sqltext.lexis import end_of_counted, lexis_of

_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NOTHING = "\u200b-\u200d\u2060\ufeff"
_ODD = re.compile(f"[{_SPACES}{_NOTHING}‘’“”]")


def has_odd_characters(sql: str) -> bool:
    """Whether `sql` holds any such character, inside literals or out."""
    return _ODD.search(sql) is not None


def decoded(sql: str, dialect: str) -> str:
    """`sql` with no-break blanks, zero-width characters and pairs of curly quotes read as what they stand for.

    What stands in literals, quoted names and comments is left alone, and so is a curly quote without its partner.
    """
    if not has_odd_characters(sql):
        return sql
    lexis = lexis_of(dialect)
    parts: list[str] = []
    position = 0
    while (found := _pattern(dialect).search(sql, position)) is not None:
        parts.append(sql[position : found.start()])
        position = found.end()
        if found.lastgroup == "counted":
            position = end_of_counted(sql, found.start(), lexis) or position
        parts.append(_straight(found.lastgroup, sql[found.start() : position]))
    return "".join(parts) + sql[position:]


def _straight(kind: str | None, text: str) -> str:
    match kind:
        case "single":
            # A quote within doubles, as SQL writes it.
            return "'" + text[1:-1].replace("'", "''") + "'"
        case "double":
            return '"' + text[1:-1].replace('"', '""') + '"'
        case "space":
            return " " * len(text)
        case "nothing":
            return ""
        case _:
            return text


@lru_cache(maxsize=32)
def _pattern(dialect: str) -> re.Pattern[str]:
    lexis = lexis_of(dialect)
    dollar = r"|(?<![\w$])\$(?:[^\W\d]\w*+)?\$" if lexis.dollar_quotes else ""
    parts = [
        f"(?P<skip>{'|'.join(lexis.skipped)})",
        rf"(?P<counted>/\*{dollar})" if lexis.nested_comments else "",
        # A line break ends the attempt: an apostrophe that opens nothing would reach far.
        r"(?P<single>[‘’](?:[^‘’\n]|’(?=\w))*+’)",
        "(?P<double>[“”][^“”\n]*+”)",
        f"(?P<space>[{_SPACES}]++)",
        f"(?P<nothing>[{_NOTHING}]++)",
    ]
    return re.compile("|".join(filter(None, parts)), re.DOTALL)
