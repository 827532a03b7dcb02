"""One spelling for SQL that differs only in its looks."""

from __future__ import annotations

from nl2sql_gate.dialects import sqlglot_name
from nl2sql_gate.sqltext.parse import Tree, trees_of


def canonical_sql(sql: str, dialect: str) -> str | None:
    """`sql` without comments, in one layout, with names folded and quoted; nothing where it is not understood.

    Two texts with the same form mean the same. The reverse does not hold: aliases and the order of conditions are not touched.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

    trees = trees_of(sql, dialect)
    if not trees or any(tree.find(exp.Command) is not None for tree in trees):
        return None
    name = sqlglot_name(dialect)
    try:
        return ";\n".join(_written(normalize_identifiers(tree.copy(), dialect=name), name) for tree in trees)
    except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError):
        return None


def _written(tree: Tree, dialect: str) -> str:
    return str(tree.sql(dialect=dialect, comments=False, identify=True, normalize_functions="upper"))
