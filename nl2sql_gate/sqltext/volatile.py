"""Whether the result of SQL may differ from one moment, or one run, to the next."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql_gate.sqltext.tokens import Token, iter_tokens, unquoted

_BARE = frozenset({
    *("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_DATETIME", "LOCALTIME", "LOCALTIMESTAMP"),
    *("UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP", "SYSDATE", "SYSTIMESTAMP", "TABLESAMPLE"),
})  # fmt: skip
"""Words that need no parentheses."""

_CALLS = frozenset({
    *("NOW", "CURDATE", "CURTIME", "SYSDATE", "SYSDATETIME", "SYSUTCDATETIME", "SYSDATETIMEOFFSET", "GETDATE", "GETUTCDATE"),
    *("TODAY", "GET_CURRENT_TIMESTAMP", "GET_CURRENT_TIME", "GET_CURRENT_DATE", "CURRENT_LOCALTIME", "CURRENT_LOCALTIMESTAMP"),
    *("CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "TIMEOFDAY", "PG_CURRENT_XACT_ID", "TXID_CURRENT"),
    *("RANDOM", "RAND", "RANDOMBLOB", "RANDOM_NORMAL", "CRYPT_GEN_RANDOM", "SETSEED", "GENERATE_UUID", "GEN_RANDOM_BYTES"),
    *("NEWID", "NEWSEQUENTIALID", "UUID", "UUID_SHORT", "UUIDV4", "UUIDV7", "GEN_RANDOM_UUID", "UUID_GENERATE_V1"),
    *("UUID_GENERATE_V4", "NEXTVAL", "CURRVAL", "LASTVAL", "LAST_INSERT_ID", "LAST_INSERT_ROWID", "CONNECTION_ID"),
    *("PG_BACKEND_PID", "PG_POSTMASTER_START_TIME", "PG_CONF_LOAD_TIME", "BENCHMARK", "SLEEP", "PG_SLEEP"),
})  # fmt: skip

_WITHOUT_ARGUMENT = frozenset({"UNIX_TIMESTAMP", "DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH"})
"""Calls that mean the present when nothing is given."""

_WITH_ONE_ARGUMENT = {"AGE": {"postgres", "duckdb"}, "STRFTIME": {"sqlite"}}
"""Calls that mean the present when only one argument is given, and where they do."""

_WITH_NOW = frozenset({"DATE", "TIME", "DATETIME", "JULIANDAY", "STRFTIME", "UNIXEPOCH", "TIMEDIFF"})
"""SQLite's calls that take the word 'now'."""

_CLOCK_LITERALS = frozenset({"NOW", "TODAY", "TOMORROW", "YESTERDAY"})
_TIME_TYPES = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMETZ", "TIMESTAMP_S", "TIMESTAMP_MS"})
_CAST_FROM_TEXT = {"postgres", "duckdb"}


def names_clock_or_random(sql: str, dialect: str) -> bool:
    """Whether `sql` names a clock, a random source, a sequence or a sample, so far as its text tells.

    A column called now, a quoted name, and a literal 'now' that nothing turns into a time do not count.
    """
    tokens = list(iter_tokens(sql, dialect))
    return any(_is_volatile(tokens, index, dialect) for index, token in enumerate(tokens) if token.kind in {"word", "string"})


def _is_volatile(tokens: Sequence[Token], index: int, dialect: str) -> bool:
    token = tokens[index]
    if token.kind == "string":
        return dialect in _CAST_FROM_TEXT and unquoted(token).strip().upper() in _CLOCK_LITERALS and _is_cast(tokens, index)
    name = token.text.upper()
    is_call = _text(tokens, index + 1) == "("
    if _text(tokens, index - 1) == "." and not (
        is_call and _text(tokens, index - 2).lower() in {"pg_catalog", "sys", "main", "public"}
    ):
        return False
    if name in _BARE:
        # `AS current_date` names a column.
        return not tokens[index - 1].is_word("AS") if index else True
    if not is_call or (index and tokens[index - 1].is_word("TABLE", "INTO", "INDEX")):
        return False
    if name in _CALLS:
        return True
    arguments = _arguments(tokens, index + 1)
    if name in _WITHOUT_ARGUMENT and not arguments:
        return dialect == "sqlite" or name == "UNIX_TIMESTAMP"
    if dialect in _WITH_ONE_ARGUMENT.get(name, ()) and len(arguments) == 1:
        return True
    return name in _WITH_NOW and any(len(part) == 1 and _says_now(part[0], dialect) for part in arguments)


def _says_now(token: Token, dialect: str) -> bool:
    # SQLite reads a name in double quotes as a text where no column is called so.
    return (token.kind == "string" or (dialect == "sqlite" and token.kind == "name")) and unquoted(token).strip().lower() == "now"


def _is_cast(tokens: Sequence[Token], index: int) -> bool:
    """Whether the literal at `index` becomes a time: `DATE 'now'`, `'now'::date`, `CAST('now' AS date)`."""
    if index and tokens[index - 1].is_word(*_TIME_TYPES):
        return True
    after = [_text(tokens, index + step).upper() for step in (1, 2, 3)]
    return (after[:2] == [":", ":"] and after[2] in _TIME_TYPES) or (after[0] == "AS" and after[1] in _TIME_TYPES)


def _arguments(tokens: Sequence[Token], opening: int) -> list[list[Token]]:
    """The arguments of the call whose parenthesis is at `opening`, each as its tokens."""
    depth = tokens[opening].depth
    arguments: list[list[Token]] = [[]]
    for token in tokens[opening + 1 :]:
        if token.text == ")" and token.depth == depth:
            break
        if token.text == "," and token.depth == depth + 1:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return [] if arguments == [[]] else arguments


def _text(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""
