"""SQL for a database that goes by another name than the one it was written for."""

from __future__ import annotations

from nl2sql_gate.sqltext.parse import LONGEST
from nl2sql_gate.sqltext.tokens import Token, iter_tokens, unquoted


def with_database_renamed(sql: str, dialect: str, *, name: str, actual: str) -> str:
    """`sql` with `name` replaced by `actual` where it stands before a dot, as in `shop.customer` and ``shop`.customer.id``.

    It stays as it is where `name` stands anywhere else, too: then it may mean a table, an alias or a column. In a text of more
    than `LONGEST` characters nothing behind the first VALUES is looked at, which are rows; if there is none, the text stays.
    """
    if name not in sql:
        return sql
    read: list[Token] = []
    for token in iter_tokens(sql, dialect):
        if len(sql) > LONGEST and token.is_word("VALUES", "VALUE"):
            break
        if token.start > LONGEST:
            return sql
        read.append(token)
    parts: list[str] = []
    position = 0
    for before, token, after in zip([None, *read], read, [*read[1:], None], strict=False):
        if token.kind not in {"word", "name"} or unquoted(token) != name:
            continue
        if not _is_dot(after) or _is_dot(before):
            return sql
        parts += [sql[position : token.start], token.text.replace(name, actual)]
        position = token.end
    return "".join(parts) + sql[position:]


def _is_dot(token: Token | None) -> bool:
    return token is not None and token.text == "."
