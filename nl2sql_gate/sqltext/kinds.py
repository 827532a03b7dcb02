"""What kinds of statements SQL holds: reading, changing rows, changing the schema."""

from __future__ import annotations

from collections.abc import Iterator

from nl2sql_gate.records import QueryType
from nl2sql_gate.sqltext.lexis import after_trivia
from nl2sql_gate.sqltext.parse import Tree, trees_of
from nl2sql_gate.sqltext.split import split_statements
from nl2sql_gate.sqltext.tokens import Token, iter_tokens

_STRENGTH: tuple[QueryType, ...] = ("dql", "dml", "ddl")
_TYPES: dict[str, QueryType] = {
    **dict.fromkeys(("select", "values", "show", "describe", "explain", "pragma", "summarize", "table"), "dql"),
    **dict.fromkeys(("insert", "update", "delete", "merge", "replace", "upsert", "copy", "load"), "dml"),
    **dict.fromkeys(
        ("create", "alter", "drop", "truncate", "rename", "comment", "grant", "revoke", "select into", "refresh", "reindex"),
        "ddl",
    ),
}
_FIRST_WORDS = {
    "desc": "describe",
    "from": "select",
    "exec": "execute",
    "start": "begin",
    "truncatetable": "truncate",
    "end": "commit",
}
_SELECT_INTO_CREATES = {"postgres", "sqlserver"}
_WORDS_LOOKED_AT = 3


def query_type_of(sql: str, dialect: str) -> QueryType | None:
    """The strongest kind among the statements of `sql`: ddl over dml over dql; nothing where that cannot be told.

    A WITH that changes rows is dml, SELECT … INTO a table is ddl, TRUNCATE is ddl. Statements that are none of the three (SET,
    BEGIN, CALL) count only if there are no others, and then as unknown.
    """
    types: set[QueryType] = set()
    for kind in statement_kinds(sql, dialect):
        if kind == "unknown":
            return "ddl" if "ddl" in types else None
        if kind in _TYPES:
            types.add(_TYPES[kind])
    return max(types, key=_STRENGTH.index) if types else None


def statement_kinds(sql: str, dialect: str) -> tuple[str, ...]:
    """The kind of each statement of `sql`, in order, as one lower-case word: `select`, `insert`, `create`, `set` ….

    Also `select into` where that creates a table, and `unknown` for what no parser understands and its first word does not tell.
    What changes rows inside a WITH or a T-SQL block names the statement.
    """
    kinds: list[str] = []
    for statement in split_statements(sql, dialect):
        if statement.kind != "sql":
            kinds.append(statement.kind)
            continue
        trees = trees_of(statement.text, dialect)
        by_word = _kind_by_words(statement.text, dialect)
        if by_word in _TYPES and _TYPES[by_word] != "dql" and not (trees and len(trees) > 1):
            kinds.append(by_word)
        elif trees is None:
            kinds.append("unknown" if by_word in {"select", "with", "values", "if", "while", "declare", "explain"} else by_word)
        else:
            kinds.extend(_kind_of_tree(tree, dialect, by_word) for tree in trees if type(tree).__name__ != "EndStatement")
    return tuple(kinds)


def _kind_by_words(sql: str, dialect: str) -> str:
    words = [token.text.lower() for token, _ in zip(_words(sql, dialect), range(_WORDS_LOOKED_AT), strict=False)]
    if not words:
        return "unknown"
    first = _FIRST_WORDS.get(words[0], words[0])
    if first == "explain" and words[1:2] == ["analyze"]:
        # It runs what it explains.
        return _FIRST_WORDS.get(words[-1], words[-1])
    return first


def _words(sql: str, dialect: str) -> Iterator[Token]:
    start = after_trivia(sql, 0, dialect)
    return (token for token in iter_tokens(sql[start : start + 2000], dialect) if token.kind == "word")


def _kind_of_tree(tree: Tree, dialect: str, by_word: str) -> str:
    from sqlglot import exp

    strongest = ""
    for node in tree.find_all(
        exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.TruncateTable, exp.Into
    ):
        kind = type(node).__name__.lower().removesuffix("table")
        if kind == "into":
            if dialect not in _SELECT_INTO_CREATES or not isinstance(node.parent, exp.Select):
                continue
            kind = "select into"
        # ALTER TABLE … DROP COLUMN holds a Drop; a trigger's body holds what it will do: the outermost names the statement.
        if node is tree:
            return kind
        if not strongest or _STRENGTH.index(_TYPES[kind]) > _STRENGTH.index(_TYPES[strongest]):
            strongest = kind
    if strongest:
        return strongest
    if isinstance(tree, exp.Query | exp.Values):
        return "select"
    return by_word
