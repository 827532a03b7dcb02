"""Precision, recall and F1 over cells, from counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Cells that match, of all generated and of all golden ones. `best` is what no pairing of the rows exceeds.

    `matched` is a real number where rows are similar rather than equal; then `generated` and `golden` count rows.
    """

    matched: float
    generated: int
    golden: int
    best: float

    @classmethod
    def exactly(cls, matched: float, *, generated: int, golden: int) -> CellCounts:
        """Counts whose pairing is known to be the best."""
        return cls(matched, generated, golden, matched)

    @property
    def precision(self) -> float:
        """Matched of generated; 1 where both sides are empty, 0 where one is."""
        return self._share(self.generated)

    @property
    def recall(self) -> float:
        """Matched of golden; 1 where both sides are empty, 0 where one is."""
        return self._share(self.golden)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return harmonic_mean(self.precision, self.recall)

    def _share(self, of: int) -> float:
        if not self.generated and not self.golden:
            return 1.0
        return self.matched / of if of else 0.0


def harmonic_mean(one: float, other: float) -> float:
    """The harmonic mean of two shares, 0 where both are 0."""
    return 2 * one * other / (one + other) if one + other else 0.0
