"""One check's result, and the paired values that checks start from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from nl2sql_gate.effect import Sample
from nl2sql_gate.judgement import Pair, Row, Status, value_of
from nl2sql_gate.records import CaseKey, CaseResult, Reason

TOLERANCE = 1e-12
"""Thresholds are met by values that differ from them by rounding alone: 9 of 10 meets a floor of 0.9."""
MINUS = "−"


@dataclass(frozen=True, slots=True)
class Check:
    """What one gate says: its status with the unmeasured as passed and as broken, why, and its row for people."""

    readings: tuple[Status, Status]
    reason: Reason | None = None
    row: Row | None = None
    notes: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Values:
    """Pairs with a baseline value, and the samples that they give. `new` is `None` where the head was not measured."""

    pairs: tuple[Pair, ...]
    old: tuple[float, ...]
    new: tuple[float | None, ...]

    @classmethod
    def of(cls, pairs: Iterable[Pair], metric: str, *, excluded: Collection[CaseKey] = ()) -> Values:
        """The values by `metric` of all pairs that are not excluded and have one in the baseline."""
        kept = [(both, *both.values(metric)) for both in pairs if both.key not in excluded]
        found = [(both, old, new) for both, old, new in kept if old is not None]
        return cls(tuple(f[0] for f in found), tuple(f[1] for f in found), tuple(f[2] for f in found))

    @property
    def unmeasured(self) -> int:
        """How many cases of the head lack a value that the baseline has."""
        return sum(value is None for value in self.new)

    def measured(self) -> Sample | None:
        """The cases with a value on both sides; `None` where there is none."""
        return self._sample([index for index, value in enumerate(self.new) if value is not None], 0.0)

    def readings(self) -> tuple[Sample | None, Sample | None]:
        """All cases, the unmeasured as passed and as broken."""
        everything = range(len(self.pairs))
        return self._sample(everything, 1.0), self._sample(everything, 0.0)

    def where(self, keep: Callable[[CaseResult], bool]) -> Values:
        """The pairs whose head case `keep` holds for."""
        at = [index for index, both in enumerate(self.pairs) if both.new is not None and keep(both.new)]
        return Values(tuple(self.pairs[i] for i in at), tuple(self.old[i] for i in at), tuple(self.new[i] for i in at))

    def _sample(self, indices: Sequence[int], missing: float) -> Sample | None:
        if not indices:
            return None
        found = (self.new[index] for index in indices)
        new = [missing if value is None else value for value in found]
        return Sample.build([self.old[index] for index in indices], new, [self.pairs[index].key for index in indices])


def share_readings(cases: Iterable[CaseResult], metric: str) -> tuple[float, int, int]:
    """The sum of values, the number of cases with one, and the number that should have one."""
    total, measured, expected = 0.0, 0, 0
    for case in cases:
        if case.outcome in {"golden_error", "skipped"}:
            continue
        expected += 1
        value = value_of(case, metric)
        if value is not None:
            total, measured = total + value, measured + 1
    return total, measured, expected


def points(share: float, *, beside: float | None = None) -> str:
    """A difference of shares in percentage points, with as many places as tell it from the threshold `beside`."""
    text = f"{100 * share:.{places(share, beside)}f}"
    return f"{text} point{'' if text == '1.0' else 's'}"


def places(share: float, threshold: float | None) -> int:
    """The decimals, 1 to 4, at which `share` in percent does not read as the threshold that it only comes near."""
    if threshold is None or abs(abs(share) - threshold) <= TOLERANCE:
        return 1
    return next((n for n in (1, 2, 3) if f"{100 * abs(share):.{n}f}" != f"{100 * threshold:.{n}f}"), 4)


def signed(value: float, digits: int = 1) -> str:
    """`+1.5`, `−4.5`, `±0.0`."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return f"±{text}"
    return f"{MINUS if value < 0 else '+'}{text}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def chance(p: float) -> str:
    """A p-value with as many places as matter."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"  # noqa: PLR2004 - three places
