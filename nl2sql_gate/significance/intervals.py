"""Intervals for a share and for the difference of two paired shares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Floats = NDArray[np.float64]
Interval = tuple[float, float]


def wilson_interval(correct: float, n: float, *, confidence: float) -> Interval:
    """Interval for a share, as (low, high) in [0, 1]; `n` may be an effective number of cases.

    Wilson's score interval without continuity correction (Wilson 1927), because with n around 100 and accuracy near 1 the normal
    interval passes 1. Raises `ValueError` if `correct > n` or `n` is not positive.
    """
    if not 0 <= correct <= n or n <= 0:
        raise ValueError(f"{correct} of {n} is no share")
    return _wilson(correct / n, n, _z(confidence))


def newcombe_interval(both: int, fixed: int, *, broke: int, neither: int, confidence: float) -> Interval:
    """Interval for (fixed − broke) / n, the paired difference of two shares, as (low, high) in [−1, 1].

    Newcombe 1998, method 10: square-and-add from the Wilson limits of the two shares, with their correlation φ corrected for
    continuity. Raises `ValueError` for no items.
    """
    n = both + fixed + broke + neither
    if n <= 0:
        raise ValueError("no items, no interval")
    z = _z(confidence)
    new, old = (both + fixed) / n, (both + broke) / n
    cross = both * neither - fixed * broke
    if cross > 0:
        cross = max(0, cross - n / 2)  # type: ignore[assignment]
    spread = math.sqrt(float(both + fixed) * (broke + neither) * (both + broke) * (fixed + neither))
    return _square_and_add((new, *_wilson(new, n, z)), (old, *_wilson(old, n, z)), cross / spread if spread else 0.0)


def clustered_interval(old: Floats, new: Floats, *, sizes: Floats, confidence: float) -> Interval:
    """Interval for the difference of two means in [0, 1], from sums over units of `sizes` cases each.

    Square-and-add as in Newcombe's method 10, with each mean's variance and their correlation taken between units: a unit's
    cases move together. Wilson limits use the number of independent cases that would give that variance, at least one, at most
    all cases; where a mean does not vary, the number of units. Student's t on units − 1 replaces the normal quantile.
    """
    units, cases = sizes.size, float(sizes.sum())
    if not units:
        raise ValueError("no items, no interval")
    if units == 1:
        return -1.0, 1.0
    means = float(old.sum() / cases), float(new.sum() / cases)
    offsets = old - means[0] * sizes, new - means[1] * sizes
    scale = units / (units - 1) / cases**2
    variances = float(offsets[0] @ offsets[0]) * scale, float(offsets[1] @ offsets[1]) * scale
    covariance = float(offsets[0] @ offsets[1]) * scale
    spread = math.sqrt(variances[0] * variances[1])
    t = float(stdtrit(units - 1, (1 + confidence) / 2))
    limits = [
        (mean, *_wilson(min(1.0, max(0.0, mean)), _effective(mean, variance, units=units, cases=cases), t))
        for mean, variance in zip(means, variances, strict=True)
    ]
    return _square_and_add(limits[1], limits[0], covariance / spread if spread > 0 else 0.0)


def student_interval(differences: Floats, *, sizes: Floats, confidence: float) -> Interval:
    """Interval for the mean difference a case of real-valued scores, from sums over units: Student's t on units − 1."""
    units, cases = sizes.size, float(sizes.sum())
    if units <= 1:
        return -1.0, 1.0
    mean = float(differences.sum() / cases)
    half = float(stdtrit(units - 1, (1 + confidence) / 2)) * standard_error(differences, sizes=sizes)
    return max(-1.0, mean - half), min(1.0, mean + half)


def standard_error(differences: Floats, *, sizes: Floats) -> float:
    """Standard error of the mean difference a case, units independent; 0 for a single unit."""
    units, cases = sizes.size, float(sizes.sum())
    if units <= 1:
        return 0.0
    offsets = differences - differences.sum() / cases * sizes
    return math.sqrt(units / (units - 1) * float(offsets @ offsets)) / cases


def _effective(mean: float, variance: float, *, units: int, cases: float) -> float:
    return min(cases, max(1.0, mean * (1 - mean) / variance)) if variance > 0 and 0 < mean < 1 else float(units)


def _z(confidence: float) -> float:
    return float(ndtri((1 + confidence) / 2))


def _wilson(share: float, n: float, z: float) -> Interval:
    centre, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and 1 the limit is the share itself; rounding must not push it past.
    return (0.0 if share == 0 else (centre - half) / scale), (1.0 if share == 1 else (centre + half) / scale)


def _square_and_add(new: tuple[float, float, float], old: tuple[float, float, float], phi: float) -> Interval:
    (p1, low1, high1), (p2, low2, high2) = new, old
    delta = p1 - p2
    down = (p1 - low1) ** 2 - 2 * phi * (p1 - low1) * (high2 - p2) + (high2 - p2) ** 2
    up = (high1 - p1) ** 2 - 2 * phi * (high1 - p1) * (p2 - low2) + (p2 - low2) ** 2
    return max(-1.0, delta - math.sqrt(max(0.0, down))), min(1.0, delta + math.sqrt(max(0.0, up)))
