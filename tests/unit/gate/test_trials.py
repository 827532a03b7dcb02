"""Questions asked several times: pass rates, and what repeats are worth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nl2sql_gate.compare import pair
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy
from nl2sql_gate.trials import pass_rates
from nl2sql_gate.verdict import decide

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]


def asked(run_of: RunOf, values: dict[str, list[object]]) -> Run:
    return run_of(
        {(name, "sqlite", "shop", trial): value for name, each in values.items() for trial, value in enumerate(each, 1)}
    )


def test_pass_rates_count_trials_with_a_value(run_of: RunOf) -> None:
    comparison = pair(asked(run_of, {"a": [0, 0, "unscored"], "b": [1, 1, 0]}), asked(run_of, {"a": [1, 1, 1], "b": [1, 1, 1]}))
    assert [f"{rate.id} {rate}" for rate in pass_rates(comparison.pairs, METRIC)] == ["a 0/2 ← 3/3", "b 2/3 ← 3/3"]
    assert pass_rates(comparison.pairs, METRIC)[0].to_json()["new_trials"] == 2


def test_an_item_that_fell_from_always_to_half_counts_half(run_of: RunOf) -> None:
    head = asked(run_of, {f"q{i}": [1, 0] if i < 8 else [1, 1] for i in range(40)})
    base = asked(run_of, {f"q{i}": [1, 1] for i in range(40)})
    row = decide(pair(head, base), head, Policy()).rows[0]
    assert row.delta == -0.1
    assert (row.broke, row.items, row.status) == (8, 40, "fail")


def test_four_times_the_trials_halve_what_is_noise_alone(run_of: RunOf) -> None:
    random = np.random.default_rng(1)
    coins = [asked(run_of, {f"q{i}": random.integers(0, 2, 2).tolist() for i in range(400)}) for _ in range(2)]
    row = decide(pair(coins[1], coins[0]), coins[1], Policy()).rows[0]
    assert row.provable == pytest.approx(2.486 * math.sqrt(0.25 / 400), rel=0.1)
    assert row.items_to_halve == 1600
    assert row.trials_to_halve in range(6, 12)


def test_repeats_do_not_help_where_trials_agree(run_of: RunOf) -> None:
    head = asked(run_of, {f"q{i}": [int(i > 5)] * 3 for i in range(60)})
    row = decide(pair(head, asked(run_of, {f"q{i}": [1, 1, 1] for i in range(60)})), head, Policy()).rows[0]
    assert row.trials_to_halve is None
