"""What SQL under test may do in SQLite, held by SQLite itself: an authorizer, and limits on a connection.

An authorizer is asked while a statement is compiled, about every table, function and pragma in it, whatever the text looks like.
"""

from __future__ import annotations

import re
import sqlite3

CELL_BYTES = 32 * 2**20
"""The longest text or blob; SQLite's own limit is 1 GB, and one `group_concat` reaches it."""

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

SLOW_CELL_BYTES, PATTERN_CELL_BYTES = 64 * 2**10, 2**20
"""The longest cell beside functions whose time grows with the product of two lengths: within them nothing can be interrupted."""

_PRODUCT_OF_LENGTHS = re.compile(r"\b(?:instr|replace|[lr]?trim)\b", re.IGNORECASE)
_PATTERNS = re.compile(r"\b(?:like|glob)\b", re.IGNORECASE)
_PATTERN_LENGTH, _SQL_LENGTH = 1000, 1_000_000

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


def read_authorizer(action: int, first: str | None, second: str | None, _db: str | None, _trigger: str | None) -> int:
    """Allow what reads, deny everything else."""
    if action in _READ_ACTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
        # SQLite asks this when it first meets json_each. No statement can update that table: writable_schema is denied.
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() in FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        allowed = name in READ_PRAGMAS or (name in READ_VALUES and second is None)
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY


class WriteGuard:
    """Allows what stays inside a private copy, and notes what a statement may have changed.

    `touched` holds the tables that may be written, also by triggers and foreign keys; `dirty` says that the connection itself
    may differ.
    """

    def __init__(self) -> None:
        self.touched: set[str] = set()
        self.dirty = False

    def clear(self) -> None:
        """Forget what earlier statements did."""
        self.touched.clear()
        self.dirty = False

    def __call__(self, action: int, first: str | None, second: str | None, _db: str | None, _trigger: str | None) -> int:
        """SQLite's question about one action of one statement."""
        if action in _TOUCHING:
            self.touched.add(first or "")
        elif action == sqlite3.SQLITE_ALTER_TABLE:
            self.touched.add(second or "")
        elif action in _TEMPORARY:
            self.dirty = True
        elif action == sqlite3.SQLITE_ATTACH:
            self.dirty = True
            # VACUUM attaches a nameless database; any other file is outside.
            return sqlite3.SQLITE_OK if first == "" else sqlite3.SQLITE_DENY
        elif action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if (second or "").lower() in FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_PRAGMA:
            self.dirty = True
            name = (first or "").lower()
            allowed = name in READ_PRAGMAS or name in WRITE_VALUES or (name in READ_VALUES and second is None)
            return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK


def cell_bytes(sql: str, *, most: int) -> int:
    """How long a cell may grow while `sql` runs: `most`, or less beside slow functions."""
    if _PRODUCT_OF_LENGTHS.search(sql):
        return min(most, SLOW_CELL_BYTES)
    return min(most, PATTERN_CELL_BYTES) if _PATTERNS.search(sql) else most


def limit_connection(connection: sqlite3.Connection, *, attached: int, cell_bytes: int) -> None:
    """Set the limits that no statement can lift."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, attached)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, cell_bytes)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _PATTERN_LENGTH)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _SQL_LENGTH)
