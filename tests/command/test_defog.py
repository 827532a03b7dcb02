"""defog's 210 questions through the real command: every one has an outcome, on PostgreSQL and, translated, on SQLite."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.server


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
def test_every_item_has_an_outcome_and_no_golden_fails(shared_data: Path, tmp_path: Path, dialect: str) -> None:
    defog = shared_data / "data" / "defog"
    dataset, schemas = defog / "questions" / f"questions_gen_{dialect}.csv", defog / "schemas"
    words = ["run", "--dataset", str(dataset), "--setup-directory", str(schemas), "--generator", "mutant", "--out", "out"]
    # A model that answers with the first golden query: what is not right then is the golden's fault, or ours.
    command = [sys.executable, "-m", "nl2sql_gate", *words, "--set", "model.error_rate=0"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert Counter(case["outcome"] for case in run["cases"]) == {"answered": 210}
    assert [case["id"] for case in run["cases"]] == [f"defog-{number:03d}" for number in range(210)]
    assert {case["scores"]["execution_accuracy"]["value"] for case in run["cases"]} == {1.0}
    warned = {warning["subject"] for warning in run["warnings"] if warning["code"] == "transpiled"}
    assert warned == (set() if dialect == "postgres" else {path.stem for path in schemas.glob("*.sql")})
    alternatives = [case["id"] for case in run["cases"] for warning in case.get("warnings", ()) if "fails" in warning["code"]]
    assert alternatives == []
