"""Names that are qualified by their database: `shop.customer`."""

from __future__ import annotations

import re

from nl2sql_gate.sqltext.parse import Tree, trees_of
from nl2sql_gate.sqltext.split import split_statements

_IN_FIRST_PLACE = {"mysql": "db", "mariadb": "db", "postgres": "catalog", "sqlserver": "catalog", "duckdb": "catalog"}
"""Where the parser keeps the database's part of a name, in the dialects that have one."""


def without_database(sql: str, dialect: str, database: str) -> str:
    """`sql` with `database` taken off the names that it qualifies; unchanged where that could change what a name means.

    For SQL that is written for a database's real name and runs on a copy that has another: what is left means the same there.
    """
    if dialect not in _IN_FIRST_PLACE or not _mentions(sql, database):
        return sql
    cuts: list[tuple[int, int]] = []
    for statement in split_statements(sql, dialect):
        trees = trees_of(statement.text, dialect)
        found = None if trees is None else [_cuts(tree, statement.text, dialect, database) for tree in trees]
        if found is None or any(each is None for each in found):
            return sql
        offset = statement.start_offset
        cuts += [(offset + start, offset + end) for each in found for start, end in each or ()]
    for start, end in sorted(cuts, reverse=True):
        sql = sql[:start] + sql[end:]
    return sql


def _mentions(sql: str, database: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(database)}(?!\w)[\"`\]]?\s*\.", sql, re.IGNORECASE) is not None


def _cuts(tree: Tree, text: str, dialect: str, database: str) -> list[tuple[int, int]] | None:
    """The slices to take out, each from a qualifier to the name behind it; `None` where a name in `tree` could be mistaken."""
    from sqlglot import exp

    tables = list(tree.find_all(exp.Table))
    made = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    near = made | {table.alias.lower() for table in tables} | {table.name.lower() for table in tables if not table.args.get("db")}
    if database.lower() in near:
        return None
    cuts = []
    for node in (*tables, *tree.find_all(exp.Column)):
        name = node.this if isinstance(node, exp.Table) else node.args.get("table")
        part = _IN_FIRST_PLACE[dialect]
        if dialect == "duckdb" and not node.args.get("catalog"):
            # Of two parts the first may be the file's name or a schema's.
            part = "db"
        qualifier = node.args.get(part)
        if not isinstance(qualifier, exp.Identifier) or not _is_named(qualifier, dialect, database):
            continue
        if isinstance(node, exp.Table) and node.name.lower() in made:
            return None
        schema = node.args.get("db")
        # T-SQL's shop..customer has an empty schema.
        following = schema if part == "catalog" and isinstance(schema, exp.Identifier) and schema.name else name
        start, end = qualifier.meta.get("start"), following.meta.get("start")
        if start is None or end is None or qualifier.name not in text[start:end]:
            return None
        cuts.append((start, end))
    return cuts


def _is_named(identifier: Tree, dialect: str, database: str) -> bool:
    """Whether the product takes `identifier` for `database`."""
    if dialect in {"mysql", "mariadb"}:
        return bool(identifier.name == database)
    if dialect == "postgres":
        return bool((identifier.name if identifier.quoted else identifier.name.lower()) == database)
    return bool(identifier.name.lower() == database.lower())
