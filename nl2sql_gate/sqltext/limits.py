"""The number of rows that a query takes, and the same query taking another number."""

from __future__ import annotations

from nl2sql_gate.sqltext.tokens import Token, iter_tokens


def limit_of(sql: str, dialect: str) -> int | None:
    """The number in the query's own LIMIT, TOP or FETCH; `None` where it has none, or one that is no plain number."""
    token = _number(list(iter_tokens(sql, dialect)))
    return None if token is None else int(token.text)


def with_limit(sql: str, dialect: str, rows: int) -> str | None:
    """`sql` with `rows` for its own limit, all else as it stands; `None` where `limit_of` is."""
    token = _number(list(iter_tokens(sql, dialect)))
    return None if token is None else f"{sql[: token.start]}{rows}{sql[token.end :]}"


def _number(tokens: list[Token]) -> Token | None:
    found = None
    for index, token in enumerate(tokens):
        following = [each for each in tokens[index + 1 : index + 5] if each.text not in {"(", ")"}]
        if not following:
            continue
        if token.depth == 0 and token.is_word("LIMIT"):
            # MySQL's LIMIT skip, take: the second number counts.
            comma = len(following) > 2 and following[1].text == ","  # noqa: PLR2004 - the number, a comma, a number
            found = following[2] if comma else following[0]
        elif token.depth == 0 and token.is_word("FETCH") and following[0].is_word("FIRST", "NEXT") and len(following) > 1:
            found = following[1]
        elif token.depth == 0 and token.is_word("TOP") and found is None:
            found = following[0]
    return found if found is not None and found.kind == "number" and found.text.isdecimal() else None
