"""Whether SQL can be run inside a transaction that is rolled back afterwards, and leave nothing behind."""

from __future__ import annotations

from nl2sql_gate.sqltext.parse import Tree, trees_of
from nl2sql_gate.sqltext.split import Statement, split_statements
from nl2sql_gate.sqltext.tokens import Token, iter_tokens

_READS_AND_WRITES = frozenset(
    {"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE", "SAVEPOINT", "RELEASE", "REPLACE"}
)
_TRANSACTIONAL_DDL = {"postgres", "sqlite", "duckdb", "sqlserver"}
_DDL = frozenset({"CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT"})
_DDL_OBJECTS = frozenset({"TABLE", "VIEW", "INDEX", "SEQUENCE", "SCHEMA", "TRIGGER"})
_DDL_MODIFIERS = frozenset(
    {"OR", "REPLACE", "UNIQUE", "TEMP", "TEMPORARY", "MATERIALIZED", "RECURSIVE", "UNLOGGED", "LOCAL", "ON", "ONLY"}
)
_OUTLIVES = frozenset({
    *("NEXTVAL", "SETVAL", "SET_CONFIG", "PG_ADVISORY_LOCK", "PG_ADVISORY_LOCK_SHARED", "PG_TRY_ADVISORY_LOCK"),
    *("PG_TRY_ADVISORY_LOCK_SHARED", "PG_ADVISORY_UNLOCK", "PG_ADVISORY_UNLOCK_ALL", "PG_TERMINATE_BACKEND", "PG_CANCEL_BACKEND"),
    *("PG_RELOAD_CONF", "PG_SWITCH_WAL", "PG_NOTIFY", "DBLINK", "DBLINK_EXEC", "DBLINK_CONNECT", "LO_IMPORT", "LO_EXPORT"),
    *("GET_LOCK", "RELEASE_LOCK", "RELEASE_ALL_LOCKS", "LOAD_EXTENSION", "OPENROWSET", "OPENQUERY", "OPENDATASOURCE"),
})  # fmt: skip
"""Functions whose effect a rollback does not undo, or that act outside the transaction."""

_ANYWHERE = frozenset({
    *("COMMIT", "ROLLBACK", "TRAN", "TRANSACTION", "EXEC", "EXECUTE", "KILL", "SHUTDOWN", "RECONFIGURE", "BACKUP", "RESTORE"),
    *("DBCC", "WAITFOR", "GO", "USE", "RECEIVE", "BULK", "REVERT"),
})  # fmt: skip
"""T-SQL statements need nothing between them, so there these words count wherever they stand."""


def transaction_control(sql: str, dialect: str) -> bool:
    """Whether anything in `sql` may end or leave a transaction, refuse to run in one, or outlive its rollback; in doubt, yes.

    Reading, changing rows and savepoints do not, nor do tables, views and indexes where the dialect's DDL is transactional. What
    triggers and functions do inside is not seen.
    """
    return any(_may_leave(statement, dialect) for statement in split_statements(sql, dialect))


def _may_leave(statement: Statement, dialect: str) -> bool:
    if statement.kind != "sql":
        return True
    tokens = list(iter_tokens(statement.text, dialect))
    words = [token.text.upper() for token in tokens if token.kind == "word"]
    first = next((token.text.upper() for token in tokens if token.text != "("), "")
    if not (first in _READS_AND_WRITES or (first in _DDL and _is_transactional_ddl(words, dialect))):
        return True
    if _calls_what_outlives(tokens) or (dialect == "sqlserver" and not _ANYWHERE.isdisjoint(words)):
        return True
    if dialect == "mysql" and "/*!" in statement.text:
        # What a server of that version makes of it is not what we read.
        return True
    trees = trees_of(statement.text, dialect)
    if trees is None:
        return True
    return any(_is_unknown(tree, first) for tree in trees)


def _is_unknown(tree: Tree, first: str) -> bool:
    from sqlglot import exp

    # REPLACE INTO and some forms of DDL are known by their first words only, which were judged already.
    if isinstance(tree, exp.Command):
        return first not in {"REPLACE", *_DDL}
    return not isinstance(
        tree,
        exp.Query
        | exp.DML
        | exp.Values
        | exp.Merge
        | exp.Create
        | exp.Drop
        | exp.Alter
        | exp.TruncateTable
        | exp.Comment
        | exp.Alias
        | exp.Column,
    )


def _is_transactional_ddl(words: list[str], dialect: str) -> bool:
    if dialect not in _TRANSACTIONAL_DDL or "CONCURRENTLY" in words:
        return False
    if words[0] == "TRUNCATE":
        return True
    kind = next((word for word in words[1:] if word not in _DDL_MODIFIERS), "")
    return kind in _DDL_OBJECTS and not (dialect == "postgres" and kind == "TRIGGER" and words[0] == "ALTER")


def _calls_what_outlives(tokens: list[Token]) -> bool:
    following = tokens[1:]
    return any(
        token.kind in {"word", "name"} and after.text == "(" and token.text.strip('"`[]').upper() in _OUTLIVES
        for token, after in zip(tokens, following, strict=False)
    )
