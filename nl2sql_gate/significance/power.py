"""What a comparison could have seen: the smallest drop that is proven with a given power, and what would halve it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, gammaln, ndtri

from nl2sql_gate.significance.mcnemar import fewest_broken

POWER = 0.8
MAX_TRIALS = 100
_STEPS = 26


def power_of_test(items: int, drop: float, *, churn: float, alpha: float) -> float:
    """The chance that mid-p McNemar proves a true `drop` on `items` items, exactly.

    An item is fixed with probability churn / 2 and broken with churn / 2 + `drop`: `churn` is the share of items that flip, as
    often one way as the other, between two runs of the same system.
    """
    win = churn / 2
    lose = win + drop
    if win + lose >= 1:
        return 1.0
    centre, width = items * win, 9 * math.sqrt(items * win * (1 - win)) + 9
    fixed = np.arange(max(0, math.floor(centre - width)), min(items, math.ceil(centre + width)) + 1)
    needed = fewest_broken(fixed, alpha=alpha)
    rest = items - fixed
    proven = np.where(needed > rest, 0.0, bdtrc(np.minimum(needed - 1, rest), np.maximum(rest, 1), lose / (1 - win)))
    return float(_binomial(fixed, items, win) @ proven)


def smallest_provable_drop(items: int, *, churn: float, alpha: float, power: float = POWER) -> float:
    """The smallest true drop that is proven with `power`, as a share; 1 where no drop could be."""
    low, high = 0.0, max(0.0, 1.0 - churn)
    if power_of_test(items, high - 1e-9, churn=churn, alpha=alpha) < power:
        return 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_test(items, middle, churn=churn, alpha=alpha) >= power else (middle, high)
    return high


def items_for(drop: float, *, churn: float, alpha: float, power: float = POWER) -> int:
    """The number of items on which a true `drop` is proven with `power`."""
    low, high = 0, 8
    while power_of_test(high, drop, churn=churn, alpha=alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of_test(middle, drop, churn=churn, alpha=alpha) >= power else (middle, high)
    return high


def trials_for(drop: float, items: int, *, churn: float, alpha: float, power: float = POWER) -> int | None:
    """The number of trials a side at which `drop` is proven on the same `items`; `None` where repeating cannot do it.

    Averaging k trials leaves 1/k of the churn's variance and nothing less of the drop's own. Exact for one trial, an
    approximation beyond.
    """
    if power_of_test(items, drop, churn=0.0, alpha=alpha) < power:
        return None
    for trials in range(1, MAX_TRIALS + 1):
        if power_of_test(items, drop, churn=churn / trials, alpha=alpha) >= power:
            return trials
    return None


def provable_drop(standard_error: float, *, alpha: float, power: float = POWER) -> float:
    """The smallest drop that is proven with `power` where the difference has this standard error (normal approximation)."""
    return float(ndtri(1 - alpha) + ndtri(power)) * standard_error


def _binomial(k: NDArray[np.int64], n: int, p: float) -> NDArray[np.float64]:
    if p <= 0:
        return np.equal(k, 0).astype(np.float64)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
    mass: NDArray[np.float64] = np.exp(logs)
    return mass
