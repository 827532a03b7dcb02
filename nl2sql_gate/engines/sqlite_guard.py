"""What SQL under test may do in SQLite, held by SQLite itself: an authorizer, and limits on a connection.

An authorizer is asked while a statement is compiled, about every table, function and pragma in it, whatever the text looks like.
"""

from __future__ import annotations

import re
import sqlite3
import sys

NEAR_CELL_BYTES = 32 * 2**10
"""The longest text, blob or row in this process: within it no call of a tame function takes longer than some milliseconds."""

READ_PRAGMAS = frozenset(
    {
        "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list", "foreign_key_list",
        "foreign_key_check", "database_list", "collation_list", "function_list", "module_list", "pragma_list",
        "compile_options", "integrity_check", "quick_check",
    }
)  # fmt: skip
"""Pragmas that only read, with or without an argument."""

READ_VALUES = frozenset(
    {"user_version", "application_id", "schema_version", "encoding", "page_count", "page_size", "freelist_count", "foreign_keys"}
)
"""Pragmas that read without an argument, and set with one."""

WRITE_VALUES = frozenset(
    {
        "user_version",
        "application_id",
        "foreign_keys",
        "defer_foreign_keys",
        "recursive_triggers",
        "legacy_alter_table",
        "reverse_unordered_selects",
        "optimize",
    }
)
"""Pragmas that may be set in a private copy."""

FORBIDDEN_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zipfile", "fsdir", "lsmode"}
)
"""Functions that reach outside the database, where a build of SQLite has them."""

TAME_FUNCTIONS = frozenset(
    {
        "abs", "avg", "ceil", "ceiling", "changes", "char", "coalesce", "concat", "concat_ws", "count", "cume_dist",
        "current_date", "current_time", "current_timestamp", "date", "datetime", "dense_rank", "exp", "first_value", "floor",
        "glob", "group_concat", "hex", "ifnull", "iif", "instr", "julianday", "lag", "last_insert_rowid", "last_value", "lead",
        "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min", "mod",
        "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "pi", "pow", "power", "quote", "random", "rank",
        "replace", "round", "row_number", "rtrim", "sign", "sqrt", "strftime", "string_agg", "substr", "substring", "sum",
        "time", "timediff", "total", "total_changes", "trim", "trunc", "typeof", "unicode", "unixepoch", "unlikely", "upper",
        "randomblob", "zeroblob",
    }
)  # fmt: skip
"""Functions whose one call is short where its arguments are. Any other may take minutes, out of an interrupt's reach: `printf`
with a width, `json_patch` with many keys."""

_LONG_PRAGMAS = frozenset({"integrity_check", "quick_check", "foreign_key_check", "optimize"})
_MOST_QUESTIONS = 20_000  # of one text
_MOST_EXPANSIONS, _NEAR_SQL = 500, 100_000
_LONGEST_SQL, _NEAR_PATTERN, _FAR_PATTERN = 1_000_000, 300, 50_000
_NAMED_QUERY = re.compile(
    r"(?:\bview\s+(?:if\s+not\s+exists\s+)?|(?<=[\s,]))(?P<name>[^\s,()]+)\s*(?:\([^()]*\)\s*)?\bas\s*(?:not\s+)?(?:materialized\s*)?(?:\(|select\b|with\b)",
    re.IGNORECASE,
)
_NAMES_QUERIES = re.compile(r"\b(?:with|view)\b", re.IGNORECASE)

_READ_ACTIONS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}
)
_TOUCHING = frozenset(
    {
        sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_DROP_VTABLE,
    }
)  # fmt: skip
_TEMPORARY = frozenset(
    {
        sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_CREATE_TEMP_VIEW, sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
        sqlite3.SQLITE_CREATE_TEMP_INDEX,
    }
)  # fmt: skip


class Unbounded(Exception):
    """SQL that may take longer, or more, than can be stopped in this process."""


def compiles_soon(sql: str) -> bool:
    """Whether SQLite is done with compiling `sql` before anyone waits: nothing interrupts that.

    A query that is named (WITH, a view) is written out wherever it is used: twenty that use the one before twice are a million.
    """
    if len(sql) > _NEAR_SQL:
        return False
    if not _NAMES_QUERIES.search(sql):
        return True
    if "--" in sql or "/*" in sql:
        return False
    low, expansions = sql.lower(), 1
    for name in {found["name"].lower() for found in _NAMED_QUERY.finditer(sql)}:
        bare = name.strip("\"`[]'")
        if not bare.replace("_", "a").replace(".", "a").isalnum():
            return False
        expansions *= max(1, len(re.findall(rf"(?<!\w){re.escape(bare)}(?!\w)", low)) - 1)
    return expansions <= _MOST_EXPANSIONS


class Guard:
    """SQLite's questions about a statement, answered. With `is_near` what may not stop is denied, and noted as `unbounded`."""

    def __init__(self, *, is_near: bool) -> None:
        self.is_near = is_near
        self.unbounded = False
        self._questions = 0
        self._most = _MOST_QUESTIONS if is_near else sys.maxsize

    def begin(self) -> None:
        """Before another text."""
        self._questions = 0
        self.unbounded = False

    def _stops(self) -> int:
        self.unbounded = True
        return sqlite3.SQLITE_DENY

    def _function(self, name: str) -> int:
        low = name.lower()
        if low in FORBIDDEN_FUNCTIONS:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK if low in TAME_FUNCTIONS or not self.is_near else self._stops()

    def _pragma(self, name: str, value: str | None, *, may_set: bool) -> int:
        low = name.lower()
        if low in _LONG_PRAGMAS and self.is_near:
            return self._stops()
        allowed = low in READ_PRAGMAS or (low in READ_VALUES and value is None) or (may_set and low in WRITE_VALUES)
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


class ReadGuard(Guard):
    """Allows what reads, denies everything else."""

    def __call__(self, action: int, first: str | None, second: str | None, _db: str | None, _trigger: str | None) -> int:
        """SQLite's question about one action of one statement."""
        self._questions += 1
        if self._questions > self._most:
            return self._stops()
        if action in _READ_ACTIONS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            # SQLite asks this when it first meets json_each. No statement can update that table: writable_schema is denied.
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return self._function(second or "")
        if action == sqlite3.SQLITE_PRAGMA:
            return self._pragma(first or "", second, may_set=False)
        return sqlite3.SQLITE_DENY


class WriteGuard(Guard):
    """Allows what stays inside a private copy, and notes what a statement may have changed.

    `touched` holds the tables that may be written, also by triggers and foreign keys; `dirty` says that the connection itself
    may differ.
    """

    def __init__(self, *, is_near: bool) -> None:
        super().__init__(is_near=is_near)
        self.touched: set[str] = set()
        self.dirty = False

    def clear(self) -> None:
        """Forget what earlier statements did."""
        self.begin()
        self.touched.clear()
        self.dirty = False

    def __call__(self, action: int, first: str | None, second: str | None, _db: str | None, _trigger: str | None) -> int:
        """SQLite's question about one action of one statement."""
        self._questions += 1
        if self._questions > self._most:
            return self._stops()
        if action in _TOUCHING:
            self.touched.add(first or "")
            if action == sqlite3.SQLITE_CREATE_VTABLE and self.is_near:
                return self._stops()
        elif action == sqlite3.SQLITE_ALTER_TABLE:
            self.touched.add(second or "")
        elif action in _TEMPORARY:
            self.dirty = True
        elif action == sqlite3.SQLITE_ATTACH:
            self.dirty = True
            # VACUUM attaches a nameless database; any other file is outside.
            if first != "":
                return sqlite3.SQLITE_DENY
            return self._stops() if self.is_near else sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_FUNCTION:
            return self._function(second or "")
        elif action == sqlite3.SQLITE_PRAGMA:
            self.dirty = True
            return self._pragma(first or "", second, may_set=True)
        return sqlite3.SQLITE_OK


def limit_connection(connection: sqlite3.Connection, *, attached: int, cell_bytes: int, is_near: bool) -> None:
    """Set the limits that no statement can lift."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, attached)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, cell_bytes)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _NEAR_PATTERN if is_near else _FAR_PATTERN)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_SQL)
