"""Mutants as files: JSON lines of our own, with the fate of each, and the JSON array that SQLMorph's experiments read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nl2sql_gate.mutation import Mutations
from nl2sql_gate.mutation_testing.fates import MutatedItem, Tried


def json_lines(items: Iterable[MutatedItem]) -> str:
    """A line for every mutant, in dataset order; the kept ones are those of `fate: killed`.

    The generator `mutant` reads such a file.
    """
    return "".join(_line(_plain(item, tested)) for item in items for tested in item.mutants)


def sqlmorph_json(items: Iterable[MutatedItem], *, kept: bool = True) -> str:
    """The kept mutants as SQLMorph's files have them; all of them where nothing was run."""
    entries = [
        _entry(item, tested.mutant.sql, tested.mutant.operators)
        for item in items
        for tested in item.mutants
        if tested.fate == "killed" or not kept
    ]
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def untested(mutations: Mutations) -> tuple[Tried, ...]:
    """Mutants that nothing was run for, as if they were tested: their fate is not known."""
    return tuple(Tried(mutant, "unmeasured", "not run") for mutant in mutations.mutants)


def _plain(item: MutatedItem, tested: Tried) -> Mapping[str, Any]:
    return {
        "id": item.key.id,
        "database": item.key.database,
        "dialect": item.key.dialect,
        "fate": tested.fate,
        "reason": tested.reason,
        "operators": list(tested.mutant.operators),
        "changes": list(tested.mutant.changes),
        "depth": tested.mutant.depth,
        "sql": tested.mutant.sql,
        "golden_sql": item.golden_sql,
    }


def _entry(item: MutatedItem, sql: str, operators: Sequence[str]) -> Mapping[str, Any]:
    name = item.key.id
    return {
        # There ids are numbers.
        "question_id": int(name) if name.isdecimal() and str(int(name)) == name else name,
        "db_id": item.key.database,
        "depth": len(operators),
        "operators": list(operators),
        "mutated_sql": sql,
        "error_count": len(operators),
        "gold_sql": item.golden_sql,
    }


def _line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False) + "\n"
