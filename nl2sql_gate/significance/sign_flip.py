"""The one-sided sign-flip permutation test: is the sum of the units' differences lower than chance would make it?

A unit is what moves together: an item with all its dialects and trials, or a whole database. If head and baseline are the same
system, each unit's difference is as likely to have the other sign. For differences of −1, 0 and 1 this is the mid-p McNemar test.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nl2sql_gate.significance.mcnemar import mid_p

Floats = NDArray[np.float64]
EXACT_UP_TO = 20
_TIE = 1e-9


class SignFlip(NamedTuple):
    """The mid-p value, how it was found, and how many units had a difference at all."""

    p: float
    method: Literal["exact", "monte-carlo"]
    changed: int


def sign_flip(differences: Floats, *, draws: int = 10_000, seed: int = 0) -> SignFlip:
    """One-sided mid-p value for a drop: `P(T* < T) + P(T* = T) / 2` over all sign patterns, T the sum of `differences`.

    Exact for whole-number differences (sums of passes) of any number of units and for up to 20 changed units of real ones;
    otherwise `draws` seeded patterns, the observed one counted among them.
    """
    moved = differences[differences != 0.0]
    if not moved.size:
        return SignFlip(0.5, "exact", 0)
    if np.all(np.abs(moved) == abs(moved[0])):
        return SignFlip(float(mid_p(np.count_nonzero(moved < 0), np.count_nonzero(moved > 0))), "exact", moved.size)
    if np.all(moved == np.rint(moved)):
        return SignFlip(_lattice(moved), "exact", moved.size)
    if moved.size <= EXACT_UP_TO:
        return SignFlip(_mid(_all_sums(moved), moved), "exact", moved.size)
    return SignFlip(_drawn(moved, draws=draws, seed=seed), "monte-carlo", moved.size)


def _lattice(moved: Floats) -> float:
    """Exact by Fourier inversion: the sum of ±d has the characteristic function ∏ cos(t·d), and only whole values."""
    sizes, counts = np.unique(np.abs(moved).astype(np.int64), return_counts=True)
    reach = int(sizes @ counts)
    points = 1 << (2 * reach + 1).bit_length()
    angles = 2 * np.pi * np.arange(points // 2 + 1) / points
    transform = np.ones_like(angles)
    for size, count in zip(sizes, counts, strict=True):
        transform *= np.cos(angles * size) ** count
    mass = np.clip(np.fft.irfft(transform, points), 0.0, None)
    # Index −s of the periodic result holds the mass of the sum −s.
    ordered = np.concatenate([mass[points - reach :], mass[: reach + 1]])
    at = int(moved.sum()) + reach
    return float(min(1.0, ordered[:at].sum() + ordered[at] / 2))


def _all_sums(moved: Floats) -> Floats:
    sums = np.zeros(1)
    for size in np.abs(moved):
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _mid(sums: Floats, moved: Floats) -> float:
    observed, near = moved.sum(), _TIE * np.abs(moved).sum()
    return float((np.count_nonzero(sums < observed - near) + np.count_nonzero(np.abs(sums - observed) <= near) / 2) / sums.size)


def flipped_sums(differences: Floats, *, draws: int, seed: int) -> Floats:
    """`draws` sums of `differences` under random signs, seeded."""
    random = np.random.default_rng(seed)
    # A random byte flips eight units at once: a table holds what each of its 256 values takes off the sum.
    octets = np.resize(np.concatenate([differences, np.zeros(-differences.size % 8)]), (-(-differences.size // 8), 8))
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
    sums = np.full(draws, float(differences.sum()))
    for octet in octets @ bits.T:
        sums -= 2 * octet[random.integers(0, 256, size=draws, dtype=np.uint8)]
    return sums


def _drawn(moved: Floats, *, draws: int, seed: int) -> float:
    sums = flipped_sums(moved, draws=draws, seed=seed)
    observed, near = float(moved.sum()), _TIE * float(np.abs(moved).sum())
    below, ties = np.count_nonzero(sums < observed - near), np.count_nonzero(np.abs(sums - observed) <= near)
    return float((below + (ties + 1) / 2) / (draws + 1))
