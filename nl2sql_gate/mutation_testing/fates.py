"""What became of mutants: the outcome of each, and the score of an item and of a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nl2sql_gate.mutation import Mutant
from nl2sql_gate.records import CaseKey, Item, Reason, Score

Fate = Literal["killed", "survived", "equivalent", "invalid", "limit", "unmeasured"]
FATES: tuple[Fate, ...] = ("killed", "survived", "equivalent", "invalid", "limit", "unmeasured")
"""`killed`: it runs, and its result differs. `survived`: it runs, and its result is golden's on this data. `equivalent`: a
survivor that no data could tell from golden. `invalid`: the database refuses it. `limit`: it ran out of time, or of
rows. `unmeasured`: our fault, or it was not run."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One mutant with its fate; `reason` says why, `scores` are those of a mutant that ran."""

    mutant: Mutant
    fate: Fate
    reason: str = ""
    scores: Mapping[str, Score] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MutatedItem:
    """All mutants of one golden query in one dialect. `problem` says why there are none: no item of it counts in a score."""

    key: CaseKey
    item: Item
    dialect: str
    golden_sql: str
    mutants: tuple[Tried, ...] = ()
    problem: Reason | None = None

    @property
    def score(self) -> float | None:
        """The mutation score; nothing where no mutant ran."""
        return mutation_score(self.mutants)

    @property
    def survivors(self) -> tuple[Tried, ...]:
        """The mutants that the data cannot tell from golden SQL."""
        return tuple(tested for tested in self.mutants if tested.fate == "survived")


def mutation_score(tested: Iterable[Tried]) -> float | None:
    """Killed ÷ (killed + survivors not shown equivalent); nothing for nothing."""
    counts = Counter(each.fate for each in tested)
    counted = counts["killed"] + counts["survived"]
    return counts["killed"] / counted if counted else None


def counts_of(items: Iterable[MutatedItem]) -> dict[Fate, int]:
    """How many mutants had each fate."""
    counts = Counter(tested.fate for item in items for tested in item.mutants)
    return {fate: counts[fate] for fate in FATES}
