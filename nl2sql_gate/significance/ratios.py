"""Latency, tokens, cost: how two runs' amounts relate, and intervals for a total and for a quantile."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BOOTSTRAPPED_UP_TO = 300
_DRAWS = 1_000
_ENOUGH_STEPS = 60


class Ratio(NamedTuple):
    """Head over baseline with its interval; `n` pairs with both amounts above zero."""

    value: float
    low: float
    high: float
    n: int
    method: Literal["bootstrap", "signed-rank"]


def ratio(old: Floats, new: Floats, *, confidence: float, seed: int = 0) -> Ratio | None:
    """The typical ratio `new / old` of paired positive amounts, one pair an item; `None` for fewer than two pairs.

    Hodges–Lehmann on the logarithms: the median of all pairwise averages, which neither one slow answer nor skewness moves.
    The interval is a percentile bootstrap over items up to 300 pairs; beyond, the order statistics of the same averages that
    the signed-rank test would not reject, which agrees with it and costs n log n.
    """
    kept = (old > 0) & (new > 0) & np.isfinite(old) & np.isfinite(new)
    logs = np.sort(np.log(new[kept]) - np.log(old[kept]))
    n = logs.size
    if n < 2:  # noqa: PLR2004 - a pair
        return None
    if n <= _BOOTSTRAPPED_UP_TO:
        random = np.random.default_rng(seed)
        drawn = np.array([_pseudo_median(np.sort(logs[random.integers(0, n, n)])) for _ in range(_DRAWS)])
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
        return Ratio(float(np.exp(_pseudo_median(logs))), float(np.exp(low)), float(np.exp(high)), n, "bootstrap")
    averages = n * (n + 1) // 2
    half = float(ndtri((1 + confidence) / 2)) * np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    first = max(1, int(averages / 2 - half))
    middle, low, high = (_average_of_rank(logs, rank) for rank in ((averages + 1) // 2, first, averages + 1 - first))
    return Ratio(float(np.exp(middle)), float(np.exp(low)), float(np.exp(high)), n, "signed-rank")


def total_interval(amounts: Floats, *, confidence: float, seed: int = 0) -> tuple[float, float]:
    """Bootstrap interval for the sum over as many items, from one amount an item."""
    random = np.random.default_rng(seed)
    sums = [float(amounts[random.integers(0, amounts.size, amounts.size)].sum()) for _ in range(_DRAWS)]
    low, high = np.quantile(sums, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def quantile_interval(values: Floats, q: float, *, items: Ints, confidence: float, seed: int = 0) -> tuple[float, float]:
    """Bootstrap interval for the `q`-quantile of `values`; whole items are drawn, `items` gives each value's item from 0."""
    random = np.random.default_rng(seed)
    order = np.argsort(values, kind="stable")
    ordered, owners = values[order], items[order]
    units = int(items.max()) + 1
    drawn = np.empty(_DRAWS)
    for draw in range(_DRAWS):
        reached = np.cumsum(np.bincount(random.integers(0, units, units), minlength=units)[owners])
        drawn[draw] = ordered[min(ordered.size - 1, int(np.searchsorted(reached, q * reached[-1])))]
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _pseudo_median(ordered: Floats) -> float:
    """The median of (x_i + x_j) / 2 over i ≤ j."""
    rows, columns = np.triu_indices(ordered.size)
    return float(np.median((ordered[rows] + ordered[columns]) / 2))


def _average_of_rank(ordered: Floats, rank: int) -> float:
    """The pairwise average of this rank, counted from 1, without building them: bisection on how many lie at or below."""
    low, high = float(ordered[0]), float(ordered[-1])
    for _ in range(_ENOUGH_STEPS):
        middle = (low + high) / 2
        below = np.searchsorted(ordered, 2 * middle - ordered, side="right") - np.arange(ordered.size)
        low, high = (low, middle) if int(np.clip(below, 0, None).sum()) >= rank else (middle, high)
    return high
