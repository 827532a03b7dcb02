"""The statistics against published figures, exact enumeration and each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2sql_gate.significance.beta import is_unstable, pass_rate_interval
from nl2sql_gate.significance.intervals import (
    clustered_interval,
    newcombe_interval,
    standard_error,
    student_interval,
    wilson_interval,
)
from nl2sql_gate.significance.mcnemar import fewest_broken, mid_p
from nl2sql_gate.significance.multiplicity import holm
from nl2sql_gate.significance.power import items_for, power_of_test, provable_drop, smallest_provable_drop, trials_for
from nl2sql_gate.significance.ratios import quantile_interval, ratio, total_interval
from nl2sql_gate.significance.sign_flip import flipped_sums, sign_flip

SMALLEST_DROPS = {
    30: (17.6, 19.6, 22.4, 25.8, 30.6),
    50: (10.8, 12.7, 15.0, 17.6, 22.0),
    100: (5.5, 7.2, 8.9, 11.0, 14.2),
    200: (2.7, 4.2, 5.5, 7.1, 9.4),
    500: (1.1, 2.2, 3.1, 4.2, 5.6),
    1000: (0.6, 1.4, 2.1, 2.8, 3.8),
}
"""Points, one-sided α 5 %, power 80 %, at a churn of 0, 2, 5, 10 and 20 %."""


def enumerated(differences: list[float]) -> float:
    """The mid-p value over all sign patterns, the slow way."""
    sums = [
        sum(s * abs(d) for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    observed = sum(differences)
    below = sum(value < observed - 1e-9 for value in sums)
    return (below + sum(abs(value - observed) <= 1e-9 for value in sums) / 2) / len(sums)


@pytest.mark.parametrize("alpha, expected", [(0.05, [4, 8, 11, 14, 17, 19, 25, 32]), (0.01, [6, 11, 14, 18, 21, 24, 30, 38])])
def test_fewest_broken_items_that_prove_a_drop(alpha: float, expected: list[int]) -> None:
    assert expected == fewest_broken([0, 2, 4, 6, 8, 10, 14, 20], alpha=alpha).tolist()


def test_three_broken_and_none_fixed_prove_nothing_at_any_size() -> None:
    assert mid_p(3, 0) == 0.0625


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_mid_p_is_its_definition(broke: int, fixed: int) -> None:
    n = broke + fixed
    terms = [math.comb(n, k) / 2**n for k in range(n + 1)]
    assert mid_p(broke, fixed) == pytest.approx(sum(terms[broke + 1 :]) + terms[broke] / 2, abs=1e-12)


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(0, 200))
def test_sign_flip_of_single_verdicts_is_mcnemar(broke: int, fixed: int) -> None:
    flipped = sign_flip(np.array([-1.0] * broke + [1.0] * fixed + [0.0] * 7))
    assert flipped.p == pytest.approx(mid_p(broke, fixed), abs=1e-10)
    assert flipped.method == "exact"


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_sign_flip_of_sums_is_exact(differences: list[int]) -> None:
    assert sign_flip(np.array(differences, dtype=float)).p == pytest.approx(enumerated(list(map(float, differences))), abs=1e-10)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=1, max_size=9))
def test_sign_flip_of_few_real_differences_is_exact(differences: list[float]) -> None:
    assert sign_flip(np.array(differences)).p == pytest.approx(enumerated(differences), abs=1e-9)


def test_sign_flip_of_many_real_differences_is_seeded_and_near_the_normal_limit() -> None:
    differences = np.random.default_rng(3).normal(-0.05, 0.3, 200)
    first, again = sign_flip(differences, seed=7), sign_flip(differences, seed=7)
    z = differences.sum() / math.sqrt(float(differences @ differences))
    assert first == again
    assert first.method == "monte-carlo"
    assert first.p == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)), abs=0.01)


def test_flipped_sums_have_the_parity_and_spread_of_the_differences() -> None:
    sums = flipped_sums(np.array([1.0, 1.0, 2.0, 0.0]), draws=4000, seed=1)
    assert set(sums.tolist()) == {-4.0, -2.0, 0.0, 2.0, 4.0}
    assert float(sums.var()) == pytest.approx(6.0, rel=0.05)


@pytest.mark.parametrize("table, expected", [((1, 1, 7, 12), (-0.507, -0.026)), ((36, 12, 2, 0), (0.057, 0.340))])
def test_newcombe_intervals_of_the_paper(table: tuple[int, int, int, int], expected: tuple[float, float]) -> None:
    both, first, second, neither = table
    found = newcombe_interval(both, first, broke=second, neither=neither, confidence=0.95)
    assert expected == pytest.approx(found, abs=0.0005)


@settings(deadline=None)
@given(st.integers(0, 80), st.integers(0, 20), st.integers(0, 20), st.integers(0, 80))
def test_newcombe_interval_holds_the_difference_and_mirrors(both: int, fixed: int, broke: int, neither: int) -> None:
    n = both + fixed + broke + neither
    if n == 0:
        return
    low, high = newcombe_interval(both, fixed, broke=broke, neither=neither, confidence=0.9)
    mirrored = newcombe_interval(both, broke, broke=fixed, neither=neither, confidence=0.9)
    assert -1 <= low <= (fixed - broke) / n + 1e-12
    assert (fixed - broke) / n - 1e-12 <= high <= 1
    assert (-high, -low) == pytest.approx(mirrored, abs=1e-12)


def test_wilson_interval_of_the_literature() -> None:
    found = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0.0, 0.1611)}
    for (correct, n), expected in found.items():
        assert expected == pytest.approx(wilson_interval(correct, n, confidence=0.95), abs=0.0001)
    assert wilson_interval(10, 10, confidence=0.9)[1] == 1.0
    with pytest.raises(ValueError, match="no share"):
        wilson_interval(3, 2, confidence=0.9)


def test_clustered_interval_is_newcombes_but_for_continuity_where_units_are_cases() -> None:
    old = np.array([1.0] * 150 + [0.0] * 4 + [1.0] * 9 + [0.0] * 37)
    new = np.array([1.0] * 150 + [1.0] * 4 + [0.0] * 9 + [0.0] * 37)
    single = newcombe_interval(150, 4, broke=9, neither=37, confidence=0.9)
    assert single == pytest.approx(clustered_interval(old, new, sizes=np.ones(200), confidence=0.9), abs=0.002)


def test_copies_of_a_case_do_not_narrow_the_interval() -> None:
    old = np.array([1.0] * 30 + [0.0] * 2 + [1.0] * 5 + [0.0] * 13)
    new = np.array([1.0] * 30 + [1.0] * 2 + [0.0] * 5 + [0.0] * 13)
    once = clustered_interval(old, new, sizes=np.ones(50), confidence=0.9)
    four_times = clustered_interval(4 * old, 4 * new, sizes=np.full(50, 4.0), confidence=0.9)
    assert once == pytest.approx(four_times, abs=1e-12)


def test_no_change_still_leaves_doubt() -> None:
    same = np.array([4.0] * 40 + [0.0] * 10)
    low, high = clustered_interval(same, same, sizes=np.full(50, 4.0), confidence=0.9)
    assert low < 0 < high


def test_student_interval_covers_the_mean_by_its_standard_error() -> None:
    differences = np.array([0.1, -0.2, 0.05, 0.0, -0.1])
    low, high = student_interval(differences, sizes=np.ones(5), confidence=0.9)
    assert (low + high) / 2 == pytest.approx(differences.mean())
    assert (high - low) / 2 == pytest.approx(2.1318 * differences.std(ddof=1) / math.sqrt(5), rel=1e-4)
    assert standard_error(differences, sizes=np.ones(5)) == pytest.approx(differences.std(ddof=1) / math.sqrt(5))


@pytest.mark.parametrize("items", SMALLEST_DROPS)
def test_smallest_provable_drops_of_the_table(items: int) -> None:
    found = [100 * smallest_provable_drop(items, churn=churn, alpha=0.05) for churn in (0, 0.02, 0.05, 0.1, 0.2)]
    assert SMALLEST_DROPS[items] == pytest.approx(found, abs=0.06)


def test_power_is_what_enumeration_gives() -> None:
    win, lose, n = 0.05, 0.15, 12
    expected = sum(
        math.comb(n, w) * math.comb(n - w, lost) * win**w * lose**lost * (1 - win - lose) ** (n - w - lost)
        for w in range(n + 1)
        for lost in range(n - w + 1)
        if mid_p(lost, w) < 0.05
    )
    assert expected == pytest.approx(power_of_test(n, 0.1, churn=0.1, alpha=0.05), abs=1e-10)


def test_a_true_drop_of_eight_points_is_found() -> None:
    assert power_of_test(200, 0.08, churn=0.05, alpha=0.05) >= 0.8
    assert power_of_test(200, 0.02, churn=0.05, alpha=0.05) == pytest.approx(0.27, abs=0.01)


def test_halving_takes_more_items_or_where_churn_is_all_more_trials() -> None:
    drop = smallest_provable_drop(200, churn=0.05, alpha=0.05)
    assert power_of_test(items_for(drop / 2, churn=0.05, alpha=0.05), drop / 2, churn=0.05, alpha=0.05) >= 0.8
    assert 600 < items_for(drop / 2, churn=0.05, alpha=0.05) < 640
    assert trials_for(drop / 2, 200, churn=0.05, alpha=0.05) is None
    assert trials_for(smallest_provable_drop(200, churn=0.2, alpha=0.05) / 2, 200, churn=0.2, alpha=0.05) == 7
    assert smallest_provable_drop(3, churn=0.0, alpha=0.05) == 1.0
    assert provable_drop(0.01, alpha=0.05) == pytest.approx(0.02486, abs=1e-5)


def test_holm_is_the_step_down_of_its_paper() -> None:
    expected = (0.03, 0.06, 0.06, 0.02)
    assert expected == pytest.approx(holm([0.01, 0.04, 0.03, 0.005]))
    assert holm([]) == ()


def test_ratio_finds_the_typical_change_in_spite_of_one_slow_answer() -> None:
    random = np.random.default_rng(5)
    old = random.lognormal(0, 1, 120)
    new = old * 1.2 * random.lognormal(0, 0.1, 120)
    new[0] *= 1000
    found = ratio(old, new, confidence=0.9)
    assert found is not None
    assert found.value == pytest.approx(1.2, rel=0.03)
    assert found.low < 1.2 < found.high
    assert found == ratio(old, new, confidence=0.9)


def test_ratio_of_many_pairs_agrees_with_the_bootstrap_of_few() -> None:
    random = np.random.default_rng(6)
    logs = random.normal(0.05, 0.3, 300)
    few = ratio(np.ones(300), np.exp(logs), confidence=0.9)
    many = ratio(np.ones(301), np.exp(np.append(logs, np.median(logs))), confidence=0.9)
    assert few is not None
    assert many is not None
    assert (few.method, many.method) == ("bootstrap", "signed-rank")
    assert (few.value, few.low, few.high) == pytest.approx((many.value, many.low, many.high), rel=0.01)


def test_ratio_needs_two_pairs() -> None:
    assert ratio(np.array([1.0, 0.0]), np.array([2.0, 1.0]), confidence=0.9) is None


def test_intervals_of_totals_and_quantiles_hold_what_they_are_of() -> None:
    values = np.random.default_rng(8).lognormal(0, 0.5, 200)
    low, high = total_interval(values, confidence=0.9)
    assert low < values.sum() < high
    middle = quantile_interval(values, 0.5, items=np.arange(200), confidence=0.9)
    assert middle[0] < np.median(values) < middle[1]
    whole = quantile_interval(np.repeat(values[:20], 10), 0.5, items=np.repeat(np.arange(20), 10), confidence=0.9)
    assert whole[1] - whole[0] > middle[1] - middle[0]


@pytest.mark.parametrize(
    "passes, runs, expected",
    [(1, 2, False), (3, 3, False), (2, 3, True), (0, 3, False), (7, 10, True), (9, 10, False), (5, 10, True), (40, 100, False)],
)
def test_only_measured_coins_are_unstable(passes: int, runs: int, expected: bool) -> None:
    assert expected == is_unstable(passes, runs)


def test_pass_rate_interval_is_jeffreys() -> None:
    low, high = pass_rate_interval(0, 10, confidence=0.95)
    assert low < 1e-4
    assert high == pytest.approx(0.2172, abs=0.0001)
    with pytest.raises(ValueError, match="passes of"):
        pass_rate_interval(4, 3)
