"""defog's golden SQL: several queries in one cell, and groups in braces that stand for several queries each.

`SELECT {a, b}, c FROM t GROUP BY {}`: any non-empty subset of a and b is right, in any order, since a set has none; `{}` takes
the same columns.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass

MOST_ALTERNATIVES = 64
_MOST_WRITTEN = 1000
_GROUP = re.compile(r"\{([^{}]*)\}")
_LITERAL = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Goldens:
    """Alternatives in order, each once. `shortened` tells that a query stands for too many: see `goldens_of`."""

    alternatives: tuple[str, ...]
    shortened: bool = False


def goldens_of(cell: str, dialect: str) -> Goldens:
    """The golden queries of one cell, in order: for each query the choices of its groups, fewer columns first.

    Four columns make 64 choices, and five too many: then there are only the single columns and the whole group. Each of the
    choices left out holds one of the single columns, so that with `columns: superset` every right answer is still right; the
    caller sets that key. Raises `ValueError` for groups without measure.
    """
    from nl2sql_gate.sqltext import split_statements

    found: list[str] = []
    shortened = False
    for statement in split_statements(cell, dialect or "postgres"):
        queries, is_shortened = _expanded(statement.text)
        found += queries
        shortened = shortened or is_shortened
    return Goldens(tuple(dict.fromkeys(found)), shortened)


def _expanded(sql: str) -> tuple[list[str], bool]:
    """(the queries that `sql` stands for, whether there would be too many)."""
    pieces, groups = _taken_apart(sql)
    choosing = [group for group in groups if group]
    if not choosing:
        return [sql], False
    count = math.prod(sum(math.perm(len(group), size) for size in range(1, len(group) + 1)) for group in choosing)
    shortened = count > MOST_ALTERNATIVES
    choices = [_choices(group, shortened=shortened) for group in choosing]
    if math.prod(map(len, choices)) > _MOST_WRITTEN:
        message = f"the groups of one query stand for more than {_MOST_WRITTEN} queries"
        raise ValueError(message)
    queries = []
    for chosen in itertools.product(*choices):
        taken = iter(chosen)
        last: tuple[str, ...] = ()
        text = [pieces[0]]
        for group, piece in zip(groups, pieces[1:], strict=True):
            last = next(taken) if group else last
            text += [", ".join(last), piece]
        queries.append("".join(text))
    return queries, shortened


def _taken_apart(sql: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """(the text between groups, the columns of each group); braces in literals and comments are text.

    `{}` before any group has nothing to take: then the query has no groups, and the database will say what is wrong.
    """
    literals = [found.span() for found in _LITERAL.finditer(sql)]
    pieces: list[str] = []
    groups: list[tuple[str, ...]] = []
    end = 0
    for found in _GROUP.finditer(sql):
        if any(start <= found.start() < stop for start, stop in literals):
            continue
        columns = tuple(_columns(found.group(1)))
        if not columns and not any(groups):
            return [sql], []
        pieces.append(sql[end : found.start()])
        groups.append(columns)
        end = found.end()
    return [*pieces, sql[end:]], groups


def _columns(text: str) -> list[str]:
    """The columns of a group, split at commas outside of parentheses and quotes."""
    parts = [""]
    depth = 0
    quote = ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        depth += 0 if quote else (char == "(") - (char == ")")
        if char == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _choices(columns: tuple[str, ...], *, shortened: bool) -> list[tuple[str, ...]]:
    """The choices in every order, that of the group first, fewer columns first; where shortened, single columns and the whole."""
    if shortened:
        return list(dict.fromkeys([*((column,) for column in columns), columns]))
    chosen = [choice for size in range(1, len(columns) + 1) for choice in itertools.combinations(columns, size)]
    every = [order for size in range(1, len(columns) + 1) for order in itertools.permutations(columns, size)]
    return list(dict.fromkeys([*chosen, *every]))
