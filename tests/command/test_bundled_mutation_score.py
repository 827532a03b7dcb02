"""The bundled dataset shows the errors that models make: its mutation score in every dialect that runs here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nl2sql_gate.commands import selection
from nl2sql_gate.commands.mutation_run import run_mutants
from nl2sql_gate.mutation import Recipe
from nl2sql_gate.mutation_testing.equivalence import Equivalents, read_equivalents
from nl2sql_gate.mutation_testing.fates import mutation_score
from nl2sql_gate.settings import Settings

SERVERS = {"postgres": "postgres", "mariadb": "mariadbd"}


@pytest.mark.parametrize(
    "dialect",
    ["sqlite", "duckdb", pytest.param("postgres", marks=pytest.mark.server), pytest.param("mariadb", marks=pytest.mark.server)],
)
def test_the_bundled_dataset_tells_mutants_from_golden(root: Path, dialect: str) -> None:
    if dialect in SERVERS and shutil.which(SERVERS[dialect]) is None:
        pytest.skip(f"no {SERVERS[dialect]} on this machine")
    folder = root / "datasets" / "thistledown"
    settings = Settings.model_validate(
        {
            "dataset": str(folder / "items.json"),
            "setup_directory": str(folder / "setup"),
            "filters": {"dialects": [dialect]},
            "limits": {"statement_s": 5},
        }
    )
    marks = folder / "equivalent_mutants.jsonl"
    equivalents = read_equivalents(marks) if marks.is_file() else Equivalents()
    items = run_mutants(settings, selection.select_cases(settings), recipe=Recipe(), equivalents=equivalents)
    without = [item.key.id for item in items if not any(tested.fate == "killed" for tested in item.mutants)]
    assert without == []
    assert [item.key.id for item in items if item.problem is not None] == []
    contradicted = [(item.key.id, t.mutant.sql) for item in items for t in item.mutants if "marked as equivalent" in t.reason]
    assert contradicted == []
    assert (mutation_score(tested for item in items for tested in item.mutants) or 0.0) >= 0.95
