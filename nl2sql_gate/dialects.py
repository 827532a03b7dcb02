"""Names of SQL dialects: ours, the spellings met in datasets, and sqlglot's."""

from __future__ import annotations

ALIASES: dict[str, str] = {
    "sqlite3": "sqlite",
    "postgresql": "postgres",
    "pg": "postgres",
    "psql": "postgres",
    "postgre": "postgres",
    "alloydb": "postgres",
    "alloydb_omni": "postgres",
    "mssql": "sqlserver",
    "tsql": "sqlserver",
    "t-sql": "sqlserver",
    "sql server": "sqlserver",
    "sql_server": "sqlserver",
    "bq": "bigquery",
    "googlesql": "bigquery",
    "duck": "duckdb",
    "maria": "mariadb",
}
"""Spelling → our name. Our own names are not listed."""

SQLGLOT: dict[str, str] = {"sqlserver": "tsql", "mariadb": "mysql"}
"""Our name → sqlglot's, where they differ."""

FALLBACKS: dict[str, str] = {"mariadb": "mysql"}
"""A dialect that takes another's SQL, setup folder and replies where it has none of its own."""


def canonical(name: str) -> str:
    """Our name for `name`: lower case, known spellings unified, unknown names unchanged."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, lowered)


def sqlglot_name(dialect: str) -> str:
    """Sqlglot's name for one of our dialects."""
    return SQLGLOT.get(dialect, dialect)


def lookup_order(dialect: str) -> tuple[str, ...]:
    """The dialect itself, then the one whose material it may use."""
    fallback = FALLBACKS.get(dialect)
    return (dialect,) if fallback is None else (dialect, fallback)
