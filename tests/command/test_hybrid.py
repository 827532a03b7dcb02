"""Hybrid mode on the bundled dataset: golden SQL on one engine, generated SQL on another, over the same data in both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.engines.postgres_server import has_binaries

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "datasets" / "thistledown"
DIFFER = {"index-orders-by-status", "unique-member-email"}
"""Items of ddl whose eval_query reads the catalogue, where SQLite counts an index's columns from 0 and PostgreSQL from 1."""


def run(target: str, reference: str, folder: Path) -> list[dict[str, Any]]:
    """The cases of a run in which the target's own goldens are what the model answers."""
    items = [item for item in json.loads((DATASET / "items.json").read_text()) if {target, reference} <= set(item["golden_sql"])]
    answers = {item["id"]: item["golden_sql"][target] for item in items}
    lines = [json.dumps({"id": name, "reply": "```sql\n" + ";\n".join(sql) + ";\n```"}) for name, sql in answers.items()]
    (folder / "replies.jsonl").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "nl2sql_gate", "run", "--dataset", str(DATASET / "items.json"), "--dialect", target]
    command += ["--setup-directory", str(DATASET / "setup"), "--set", f"reference={reference}", "--replies", "replies.jsonl"]
    ran = subprocess.run(
        command, cwd=folder, env={**os.environ, "HOME": str(folder)}, check=False, capture_output=True, text=True
    )
    assert ran.returncode in {0, 3}, ran.stdout + ran.stderr
    cases: list[dict[str, Any]] = json.loads((folder / "nl2sql-gate-out" / "report.json").read_text())["cases"]
    assert len(cases) == len(items)
    return cases


@pytest.mark.server
@pytest.mark.parametrize(("target", "reference"), [("postgres", "sqlite"), ("sqlite", "postgres")])
def test_the_targets_own_goldens_pass_beside_the_references(target: str, reference: str, tmp_path: Path) -> None:
    if not has_binaries():
        pytest.skip("no PostgreSQL server is installed")
    cases = run(target, reference, tmp_path)
    wrong = {case["id"]: case["scores"]["execution_accuracy"]["reason"] for case in cases if not is_right(case)}
    assert set(wrong) == DIFFER, wrong


def is_right(case: dict[str, Any]) -> bool:
    """Whether the case was scored, and found right."""
    return case["outcome"] == "answered" and case["scores"]["execution_accuracy"]["value"] == 1.0
