"""Cases from public bug reports about pairing predictions with items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nl2sql_gate.dataset import load
from nl2sql_gate.dataset.predictions import pair_predictions


def test_cases_with_predictions(shared_data: Path, tmp_path: Path) -> None:
    lines = (shared_data / "cases/public.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if "predictions" in case.get("dataset", {})]
    assert {case["id"] for case in cases} == {"ds-pred-order", "ds-pred-missing", "ds-id-space"}
    assert [failure for case in cases for failure in _failures(case, tmp_path)] == []


def _failures(case: dict[str, Any], folder: Path) -> list[str]:
    dataset, predictions = folder / f"{case['id']}.json", folder / f"{case['id']}_predictions.json"
    dataset.write_text(case["dataset"]["text"], encoding="utf-8")
    predictions.write_text(json.dumps(case["dataset"]["predictions"]), encoding="utf-8")
    items = load(dataset).items
    found = pair_predictions(predictions, items)
    said = " ".join(warned.message for warned in found.warnings)
    replies = {reply.id: reply.reply for reply in found.replies}
    expect = case["expect"]
    wrong = [f"{case['id']}: {part!r} not in {said}" for part in expect.get("error_or_warning_mentions", []) if part not in said]
    if "EX_mean" in expect:
        right = sum(replies.get(item.id) == item.golden_sql.pick("sqlite")[0] for item in items) / len(items)
        wrong += [] if right == expect["EX_mean"] else [f"{case['id']}: {right}"]
    if "coverage" in expect and expect["coverage"] != f"{len(replies)} of {len(items)}":
        wrong.append(f"{case['id']}: {replies}")
    return wrong
