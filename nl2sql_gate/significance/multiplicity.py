"""Several tests at once: Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values in the order given: each compared with α, the chance of any false alarm in the family is at most α.

    Holm 1979: the smallest is multiplied by the number of tests, the next by one less, and none is below its predecessor.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
