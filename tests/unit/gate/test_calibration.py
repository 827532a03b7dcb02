"""Churn, false alarms and coins, measured outside the comparison that they serve."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date

import pytest

from nl2sql_gate.calibration import calibrate, quarantine, read_unstable, unstable
from nl2sql_gate.compare import pair
from nl2sql_gate.errors import UsageError
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]
TODAY, LATER = date(2026, 3, 1), date(2026, 6, 1)


def named(run: Run, name: str, prompt: str = "p") -> Run:
    provenance = {"fingerprint": {"prompt": {"digest": prompt}}, "facts": {"created": name, "commit": "c"}}
    return Run(run.cases, run.metrics, provenance)


def history(run_of: RunOf, values: list[int], prompt: str = "p", prefix: str = "h") -> list[Run]:
    return [named(run_of({"coin": value, "good": 1}), f"{prefix}{i}", prompt) for i, value in enumerate(values)]


def test_calibration_counts_churn_and_false_alarms(run_of: RunOf) -> None:
    first = run_of({f"q{i}": 1 for i in range(200)})
    second = run_of({f"q{i}": int(i >= 20) for i in range(200)})
    found = calibrate(pair(second, first), Policy())
    assert (found.items, found.churn, found.exchanged) == (200, 0.1, "item")
    assert found.flipped == tuple(f"q{i}" for i in range(20))
    assert 0.03 < found.false_alarms < 0.06
    assert calibrate(pair(second, first), Policy()).to_json() == found.to_json()


def test_databases_that_move_together_show_in_the_false_alarms(run_of: RunOf) -> None:
    first = run_of({(f"q{i}", "sqlite", f"db{i % 8}"): 1 for i in range(160)})
    second = run_of({(f"q{i}", "sqlite", f"db{i % 8}"): int(i % 8 > 5 or i > 60) for i in range(160)})
    by_item, by_database = (calibrate(pair(second, first), Policy(cluster=word)) for word in ("item", "database"))
    assert by_item.exchanged == "database"
    assert by_item.false_alarms > 0.15
    assert by_database.false_alarms < 0.06


def test_a_steady_build_has_no_churn(run_of: RunOf) -> None:
    same = run_of({f"q{i}": i % 2 for i in range(30)})
    found = calibrate(pair(same, same), Policy())
    assert (found.churn, found.false_alarms, found.flipped) == (0.0, 0.0, ())


def test_runs_without_a_common_value_cannot_calibrate(run_of: RunOf) -> None:
    with pytest.raises(UsageError, match="cannot calibrate"):
        calibrate(pair(run_of({"a": "unscored"}), run_of({"a": 1})), Policy())


def test_coins_are_measured_from_like_runs(run_of: RunOf) -> None:
    (found,) = unstable(history(run_of, [1, 0, 1, 1, 0]), METRIC, expiry=LATER)
    assert (found.question.id, found.counts()) == ("coin", (3, 5))
    low, high = found.to_json()["interval"]
    assert low < 0.5 < high


def test_an_item_that_another_prompt_repaired_is_no_coin(run_of: RunOf) -> None:
    runs = [*history(run_of, [0, 0, 0], "old", "a"), *history(run_of, [1, 1, 1], "new", "b")]
    assert unstable(runs, METRIC, expiry=LATER) == ()


def test_two_runs_call_nothing_unstable(run_of: RunOf) -> None:
    assert unstable(history(run_of, [1, 0]), METRIC, expiry=LATER) == ()


def test_a_quarantined_item_leaves_with_its_evidence(run_of: RunOf) -> None:
    entries = unstable(history(run_of, [1, 0, 1, 0]), METRIC, expiry=LATER)
    comparison = quarantine(pair(run_of({"coin": 0, "good": 1}), run_of({"coin": 1, "good": 1})), entries, today=TODAY)
    (exclusion,) = comparison.excluded
    assert (exclusion.key.id, exclusion.kind, exclusion.evidence) == ("coin", "quarantine", "passed 2 of 4 like runs")
    assert exclusion.expiry == "2026-06-01"


def test_an_expired_quarantine_excludes_nothing(run_of: RunOf) -> None:
    entries = unstable(history(run_of, [1, 0, 1, 0]), METRIC, expiry=TODAY)
    assert quarantine(pair(run_of({"coin": 0}), run_of({"coin": 1})), entries, today=LATER).excluded == ()


def test_evidence_of_the_compared_runs_does_not_count(run_of: RunOf) -> None:
    runs = history(run_of, [1, 0, 1])
    entries = unstable(runs, METRIC, expiry=LATER)
    comparison = pair(run_of({"coin": 0, "good": 1}), runs[0])
    assert len(quarantine(comparison, entries, today=TODAY).excluded) == 1
    assert quarantine(comparison, entries, today=TODAY, compared=[runs[0]]).excluded == ()


def test_the_list_of_coins_survives_its_file(run_of: RunOf) -> None:
    entries = unstable(history(run_of, [1, 0, 1, 0]), METRIC, expiry=LATER)
    assert read_unstable(json.loads(json.dumps([entry.to_json() for entry in entries]))) == entries
    with pytest.raises(UsageError, match="cannot be read"):
        read_unstable([{"id": "a"}])
