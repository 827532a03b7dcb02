"""The published schemas are those of the code, and real files keep them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nl2sql_gate.records import CaseResult, ResultSet
from nl2sql_gate.reporters.json_v1 import json_report
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.runfile import baseline_bytes, run_bytes
from nl2sql_gate.runfile.schemas import MODELS, schema_text


def _schema(root: Path, name: str) -> Any:
    return json.loads((root / "docs" / "schemas" / f"{name}-v1.json").read_text(encoding="utf-8"))


def _problems(root: Path, name: str, content: str | bytes) -> list[str]:
    return [error.message for error in Draft202012Validator(_schema(root, name)).iter_errors(json.loads(content))]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_published_schema_is_the_one_of_the_code(root: Path, name: str) -> None:
    assert schema_text(name) == (root / "docs" / "schemas" / f"{name}-v1.json").read_text(encoding="utf-8")
    Draft202012Validator.check_schema(_schema(root, name))


def test_real_files_keep_their_schema(
    root: Path, make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    head = [make_case(f"o{i}", i % 2, result=ResultSet(("a", "a"), ((1, None), (b"x", 2**70)))) for i in range(6)]
    report = make_report(head, [make_case(f"o{i}") for i in range(6)])
    assert not _problems(root, "run", run_bytes(report.head))
    assert not _problems(root, "baseline", baseline_bytes(report.head))
    assert not _problems(root, "report", json_report(report))
    assert not _problems(root, "report", json_report(make_report(head)))


def test_a_schema_refuses_what_is_not_its_file(
    root: Path, make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    run = json.loads(run_bytes(make_report([make_case("a")]).head))
    for change in ({"format": "nl2sql-gate/run/v2"}, {"cases": [{"id": 43}]}, {"metrics": "all"}):
        assert _problems(root, "run", json.dumps({**run, **change}))


def test_recorded_replies_keep_their_schema(root: Path, shared_data: Path) -> None:
    for path in sorted((shared_data / "data" / "replies").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not _problems(root, "replies", line)
