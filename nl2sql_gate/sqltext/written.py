"""Which tables SQL writes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nl2sql_gate.dialects import sqlglot_name
from nl2sql_gate.sqltext.parse import Tree, trees_of


def tables_written(sql: str, dialect: str) -> frozenset[str] | None:
    """The tables that `sql` itself inserts into, changes, creates or drops; nothing known where one statement is not understood.

    Names are folded as the dialect folds them, with their schema where it is written: `orders`, `sales.orders`. What triggers,
    cascading keys and functions write is not among them.
    """
    trees = trees_of(sql, dialect)
    if trees is None:
        return None
    written: set[str] = set()
    for tree in trees:
        if not _is_known(tree):
            return None
        for table in _targets(tree):
            name = _name(table, dialect)
            if name is None:
                return None
            written.add(name)
    return frozenset(written)


def _is_known(tree: Tree) -> bool:
    from sqlglot import exp

    known = exp.Query | exp.DML | exp.Values | exp.Merge | exp.Create | exp.Drop | exp.Alter | exp.TruncateTable
    if not isinstance(tree, known | exp.Set | exp.Transaction | exp.Commit | exp.Rollback | exp.Pragma):
        return False
    if isinstance(tree, exp.Create | exp.Drop | exp.Alter) and str(tree.args.get("kind")).upper() not in {
        "TABLE",
        "VIEW",
        "INDEX",
    }:
        return False
    if isinstance(tree, exp.Drop | exp.TruncateTable) and (tree.args.get("cascade") or tree.args.get("option") == "CASCADE"):
        return False
    return tree.find(exp.Command) is None


def _targets(tree: Tree) -> Iterator[Tree]:
    from sqlglot import exp

    for node in tree.find_all(
        exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.TruncateTable, exp.Into
    ):
        match node:
            case exp.Update():
                yield from _with_joins(node)
            case exp.Delete():
                yield from _resolved(node.args.get("tables") or [node.this], node)
            case exp.TruncateTable():
                yield from node.expressions
            case exp.Drop() if not isinstance(node.parent, exp.Alter):
                yield from node.args.get("tables") or [node.this]
            case exp.Create() if str(node.args.get("kind")).upper() == "INDEX":
                yield node.find(exp.Table)
            case exp.Insert() | exp.Merge() | exp.Create() | exp.Alter() | exp.Into():
                target = node.this
                yield target.this if isinstance(target, exp.Schema) else target
            case _:
                pass


def _with_joins(update: Tree) -> Iterator[Tree]:
    """The target of an UPDATE; of MySQL's UPDATE over a join every table, since SET may name any."""
    targets = [update.this, *(join.this for join in update.this.args.get("joins") or ())]
    yield from _resolved(targets, update)


def _resolved(targets: Iterable[Tree], statement: Tree) -> Iterator[Tree]:
    """`targets` with aliases replaced by their tables: T-SQL and MySQL name an alias of the FROM clause."""
    from sqlglot import exp

    aliases = {table.alias.lower(): table for table in statement.find_all(exp.Table) if table.alias}
    for target in targets:
        named = aliases.get(target.name.lower()) if isinstance(target, exp.Table) and not target.args.get("db") else None
        yield named if named is not None and named is not target else target


def _name(table: Tree, dialect: str) -> str | None:
    from sqlglot import exp
    from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

    if not isinstance(table, exp.Table) or not table.name:
        return None
    folded = normalize_identifiers(table.copy(), dialect=sqlglot_name(dialect))
    return ".".join(part.name for part in folded.parts)
