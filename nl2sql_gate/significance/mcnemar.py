"""The one-sided mid-p McNemar test: are more items broken than fixed?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc


def mid_p(broke: Any, fixed: Any) -> Any:
    """One-sided mid-p value of `broke` against `fixed` items, elementwise; 0.5 where nothing changed.

    Under the null hypothesis a changed item breaks as often as it is fixed: `P(K > broke) + P(K = broke) / 2` for
    K ~ Bin(broke + fixed, 1/2). Fagerland, Lydersen & Laake 2013: near its nominal size where the exact test is too cautious.
    """
    lost, changed = np.asarray(broke, dtype=np.int64), np.asarray(broke, dtype=np.int64) + np.asarray(fixed, dtype=np.int64)
    above = np.where(lost >= changed, 0.0, bdtrc(np.minimum(lost, changed), changed, 0.5))
    at_least = np.where(lost <= 0, 1.0, bdtrc(np.maximum(lost, 1) - 1, np.maximum(changed, 1), 0.5))
    p = (above + at_least) / 2
    return p if p.ndim else float(p)


def fewest_broken(fixed: Any, *, alpha: float) -> NDArray[np.int64]:
    """The smallest number of broken items whose `mid_p` is below `alpha`, for each number of fixed ones."""
    won = np.atleast_1d(np.asarray(fixed, dtype=np.int64))
    low, high = np.zeros_like(won), won + 1
    while np.any(weak := mid_p(high, won) >= alpha):
        high = np.where(weak, won + 2 * (high - won), high)
    # `low` is never proven, `high` always: bisect all of them at once.
    while np.any(high - low > 1):
        middle = (low + high) // 2
        proven = mid_p(middle, won) < alpha
        low, high = np.where(proven, low, middle), np.where(proven, middle, high)
    return high
