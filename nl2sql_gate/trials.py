"""Pass rates of questions that were asked several times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nl2sql_gate.judgement import PASSING, Pair, value_of


@dataclass(frozen=True, slots=True)
class PassRate:
    """How often a question, an item in one dialect, passed on either side: `old_passes` of `old_trials`, likewise new.

    Trials without a value count on neither. There is no "passed at least once": it hides an item that fell from always to half.
    """

    id: str
    dialect: str
    database: str
    old_passes: int = 0
    old_trials: int = 0
    new_passes: int = 0
    new_trials: int = 0

    def __str__(self) -> str:
        """As reports print it: `0/3 ← 3/3`."""
        return f"{self.new_passes}/{self.new_trials} ← {self.old_passes}/{self.old_trials}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {name: getattr(self, name) for name in sorted(self.__slots__)}


def pass_rates(pairs: Iterable[Pair], metric: str) -> tuple[PassRate, ...]:
    """One entry a question, in the order of `pairs`, over all its trials."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for both in pairs:
        entry = counts.setdefault(both.key[:3], [0, 0, 0, 0])
        for at, case in ((0, both.old), (2, both.new)):
            value = value_of(case, metric)
            if value is not None:
                entry[at] += value >= PASSING
                entry[at + 1] += 1
    return tuple(PassRate(*question, *entry) for question, entry in counts.items())
