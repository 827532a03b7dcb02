"""The gate against simulated pairs of runs: quiet without a change, awake to a drop. benchmarks/simulation.py has more draws."""

from __future__ import annotations

import importlib.util
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nl2sql_gate.compare import pair
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy
from nl2sql_gate.verdict import decide

DRAWS = 2000
QUIET = (0.03, 0.06)


@pytest.fixture(scope="module")
def simulation(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulation", root / "benchmarks" / "simulation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def red(simulation: ModuleType, draw: Callable[..., str], draws: int = DRAWS) -> float:
    return float(simulation.red(simulation.Scenario("", draw, 0, 1), draws))


def within(share: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= share <= bounds[1]


def test_unchanged_pairs_of_200_items_are_rarely_red(simulation: ModuleType) -> None:
    assert within(red(simulation, simulation.one_verdict(200, churn=0.1)), QUIET)


def test_sixty_items_in_four_dialects_are_sixty(simulation: ModuleType) -> None:
    assert within(red(simulation, simulation.shared_flips(60, dialects=4, churn=0.15)), QUIET)
    assert red(simulation, simulation.pooled(60, dialects=4, churn=0.15), 400) > 0.1


def test_trials_are_no_items(simulation: ModuleType) -> None:
    assert within(red(simulation, simulation.repeated(200, trials=3)), QUIET)


def test_a_quarantine_from_independent_runs_is_quiet(simulation: ModuleType) -> None:
    assert within(red(simulation, simulation.quarantined(200, coins=0, runs=3, independent=True)), QUIET)
    assert red(simulation, simulation.quarantined(200, coins=0, runs=3, independent=False), 400) > 0.1


def test_a_confirmation_of_both_sides_is_quiet(simulation: ModuleType) -> None:
    assert within(red(simulation, simulation.confirmed(200, both_sides=True)), QUIET)


def test_ten_measured_coins_redden_nothing(simulation: ModuleType) -> None:
    assert red(simulation, simulation.measured_coins(200, coins=10, runs=10)) <= 0.06


def test_slices_with_a_rule_share_their_alpha(simulation: ModuleType) -> None:
    assert red(simulation, simulation.ruled_slices(400, slices=4, with_whole=False), 1000) <= 0.06


def test_drifting_databases_are_quiet_when_flipped_whole(simulation: ModuleType) -> None:
    assert red(simulation, simulation.moving_databases(cluster="database"), 1000) <= 0.065
    assert red(simulation, simulation.moving_databases(cluster="item"), 400) > 0.08


def test_real_values_are_quiet(simulation: ModuleType) -> None:
    assert red(simulation, simulation.real_valued(60, policy=Policy(min_drop=0)), 300) <= 0.09


def test_cases_missing_at_random_redden_nothing_more(simulation: ModuleType) -> None:
    assert red(simulation, simulation.unmeasured(200, drop=0, hidden=0.02, at_random=True), 1000) <= 0.06


def test_hiding_what_broke_never_passes(simulation: ModuleType) -> None:
    draw = simulation.unmeasured(200, drop=0.1, hidden=1.0)
    random = np.random.default_rng(2)
    assert {draw(random) for _ in range(300)} == {"no_verdict"}


def test_a_true_drop_of_eight_points_is_found(simulation: ModuleType) -> None:
    assert red(simulation, simulation.one_verdict(200, churn=0.05, drop=0.08)) >= 0.8


def test_the_whole_gate_agrees_with_its_rule(run_of: Callable[..., Run]) -> None:
    random = np.random.default_rng(4)
    statuses = []
    for _ in range(60):
        rates = random.random(60) < 0.75
        flipped = random.random((2, 60)) < 0.06
        old, new = (run_of({f"q{i}": int(v) for i, v in enumerate(rates ^ flips)}) for flips in flipped)
        statuses.append(decide(pair(new, old), new, Policy()).status)
    assert statuses.count("fail") <= 6
    assert set(statuses) <= {"pass", "fail", "undecided"}


@pytest.mark.parametrize("real", [False, True])
def test_twenty_thousand_cases_take_seconds(real: bool, run_of: Callable[..., Run]) -> None:
    random = np.random.default_rng(5)
    sides = random.random((2, 20_000)) if real else (random.random((2, 20_000)) < 0.75).astype(float)
    facts = {f"q{i}": {"tags": (f"t{i % 20}",), "latency_s": 1.0 + i % 7} for i in range(20_000)}
    runs = [run_of({(f"q{i}", "sqlite", f"db{i % 11}"): v for i, v in enumerate(side.tolist())}, facts=facts) for side in sides]
    started, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict = decide(pair(runs[1], runs[0]), runs[1], Policy())
    assert verdict.rows[0].items == 20_000
    assert time.process_time() - started < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 400 * 1024
