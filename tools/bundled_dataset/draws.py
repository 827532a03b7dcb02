"""Draws that depend on nothing but their key, so that a new column or table never shifts the values of another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import TypeVar

SEED = "thistledown-1"
T = TypeVar("T")
Key = str | int


def share(*key: Key) -> float:
    """A number in [0, 1) that belongs to `key`."""
    digest = sha256("\x1f".join([SEED, *map(str, key)]).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def chance(probability: float, *key: Key) -> bool:
    """True for about `probability` of all keys."""
    return share(*key) < probability


def between(low: int, high: int, *key: Key) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(share(*key) * (high - low + 1))


def pick(options: Sequence[T], *key: Key) -> T:
    """One of `options`, each as likely as the next."""
    return options[int(share(*key) * len(options))]


def weighted(options: Sequence[tuple[T, int]], *key: Key) -> T:
    """One of `options`, as often as its weight says."""
    left = share(*key) * sum(weight for _, weight in options)
    for option, weight in options:
        left -= weight
        if left < 0:
            return option
    return options[-1][0]


def day_between(first: date, last: date, *key: Key) -> date:
    """A day from `first` to `last`, both included."""
    return first + timedelta(days=between(0, (last - first).days, *key))


def hundredths(low: int, high: int, *key: Key) -> Decimal:
    """A decimal with two places; the bounds are given in hundredths."""
    return Decimal(between(low, high, *key)).scaleb(-2)
