"""How far a metric moved between two runs: p, interval and what could have been seen, from paired values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nl2sql_gate.records import CaseKey
from nl2sql_gate.significance import intervals, power, sign_flip
from nl2sql_gate.significance.mcnemar import mid_p

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEWEST_DATABASES = 5
"""The least p that flipping K databases can give is 2⁻ᴷ, so fewer than five prove nothing at 5 %."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Paired values in [0, 1], one entry a case. The others are codes from 0: what a case shares with others.

    A question is an item in one dialect: its cases are its trials.
    """

    old: Floats
    new: Floats
    items: Ints
    databases: Ints
    questions: Ints

    @classmethod
    def build(cls, old: Sequence[float], new: Sequence[float], keys: Sequence[CaseKey]) -> Sample:
        """From plain sequences; codes follow first appearance, so that seeded draws depend on dataset order only."""
        items, databases = _codes([key.id for key in keys]), _codes([key.database for key in keys])
        return cls(
            np.array(old, dtype=np.float64), np.array(new, dtype=np.float64), items, databases, _codes([k[:3] for k in keys])
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """What two runs show about one metric.

    `delta` is the mean over cases of new − old, `p` one-sided for a drop, the unit the item or, as `cluster` says, the database.
    `p_database` flips whole databases where there are at least five. `broke` and `fixed` count items that went down and up.
    `churn` is the share of items that moved one way and back: twice the smaller of `broke` and `fixed`, since what is left is the
    difference itself. `noise` is the part of the squared standard error that comes from trials of
    one question not agreeing, and `trials` how many there are; 0 for one trial. `note` says which wish could not be granted.
    """

    cases: int
    items: int
    databases: int
    broke: int
    fixed: int
    old: float
    new: float
    delta: float
    interval: tuple[float, float]
    interval_method: Literal["newcombe", "clustered", "student"]
    p: float
    p_method: Literal["mcnemar", "exact", "monte-carlo"]
    p_database: float | None
    cluster: Literal["item", "database"]
    churn: float
    standard_error: float
    noise: float
    trials: float
    single: bool
    note: str = ""


def measure(sample: Sample, *, alpha: float, cluster: Literal["item", "database"] = "item", seed: int = 0) -> Effect:
    """The effect in `sample`, which must hold at least one case; the interval's confidence is 1 − 2·`alpha`.

    One verdict an item: mid-p McNemar and Newcombe's interval. Otherwise the sign-flip test over whole units with an interval of
    the same units: square-and-add with between-unit variances for verdicts, Student's for real values that moved.
    """
    differences = sample.new - sample.old
    items = _sums(differences, sample.items)
    broke, fixed = int(np.count_nonzero(items < 0)), int(np.count_nonzero(items > 0))
    databases = int(sample.databases.max()) + 1
    by_database = sign_flip.sign_flip(_sums(differences, sample.databases), seed=seed) if databases >= FEWEST_DATABASES else None
    clustered = cluster == "database" and by_database is not None
    verdicts = bool(np.all(np.isin(sample.old, (0.0, 1.0))) and np.all(np.isin(sample.new, (0.0, 1.0))))
    single = verdicts and items.size == differences.size
    p, method = _test(items, single=single, seed=seed) if not clustered or by_database is None else by_database[:2]
    interval, interval_method = _interval(
        sample, sample.databases if clustered else sample.items, single=single and not clustered, verdicts=verdicts, alpha=alpha
    )
    few = f"cluster: database needs {FEWEST_DATABASES} databases, there are {databases}: items were used"
    return Effect(
        cases=differences.size,
        items=items.size,
        databases=databases,
        broke=broke,
        fixed=fixed,
        old=_mean(sample.old),
        new=_mean(sample.new),
        delta=float(differences.sum()) / differences.size,
        interval=interval,
        interval_method=interval_method,
        p=p,
        p_method=method,
        p_database=by_database.p if by_database else None,
        cluster="database" if clustered else "item",
        churn=2 * min(broke, fixed) / items.size,
        standard_error=_error(sample, sample.databases if clustered else sample.items),
        noise=_noise(sample),
        trials=differences.size / (int(sample.questions.max()) + 1),
        single=single and not clustered,
        note=few if cluster == "database" and not clustered else "",
    )


@dataclass(frozen=True, slots=True)
class Sight:
    """The smallest drop that would have been proven four times in five, and what would halve it (`None`: nothing would)."""

    drop: float
    churn: float
    items_to_halve: int | None
    trials_to_halve: int | None


def sight(effect: Effect, *, alpha: float, churn: float | None = None) -> Sight:
    """What the comparison could have seen; `churn` from a calibration, but never less than this comparison itself shows.

    Exact for one verdict an item. For several cases an item, real values or databases: from the measured standard error, and
    never below what a perfectly steady system on as many items would allow.
    """
    flips = max(effect.churn, churn or 0.0)
    if effect.single:
        drop = power.smallest_provable_drop(effect.items, churn=flips, alpha=alpha)
        if drop >= 1:
            return Sight(1.0, flips, None, None)
        more = power.items_for(drop / 2, churn=flips, alpha=alpha)
        return Sight(drop, flips, more, power.trials_for(drop / 2, effect.items, churn=flips, alpha=alpha))
    steady = power.smallest_provable_drop(effect.items, churn=0.0, alpha=alpha)
    drop = min(1.0, max(steady, power.provable_drop(effect.standard_error, alpha=alpha)))
    if drop >= 1:
        return Sight(1.0, flips, None, None)
    if drop == steady:
        return Sight(drop, flips, power.items_for(drop / 2, churn=0.0, alpha=alpha), None)
    return Sight(drop, flips, 4 * effect.items, _trials_to_halve(effect))


def _trials_to_halve(effect: Effect) -> int | None:
    """K' trials leave K/K' of the noise; half the standard error is a quarter of its square."""
    excess = 0.75 * effect.standard_error**2
    return math.ceil(effect.trials / (1 - excess / effect.noise)) if effect.noise > excess else None


def _test(items: Floats, *, single: bool, seed: int) -> tuple[float, Literal["mcnemar", "exact", "monte-carlo"]]:
    if single:
        return float(mid_p(np.count_nonzero(items < 0), np.count_nonzero(items > 0))), "mcnemar"
    flipped = sign_flip.sign_flip(items, seed=seed)
    return flipped.p, flipped.method


def _interval(
    sample: Sample, units: Ints, *, single: bool, verdicts: bool, alpha: float
) -> tuple[tuple[float, float], Literal["newcombe", "clustered", "student"]]:
    confidence = 1 - 2 * alpha
    old, new, sizes = _sums(sample.old, units), _sums(sample.new, units), _sums(np.ones_like(sample.old), units)
    if single:
        both, fixed, broke = (int(np.count_nonzero(mask)) for mask in (old * new > 0, new > old, old > new))
        neither = old.size - both - fixed - broke
        return intervals.newcombe_interval(both, fixed, broke=broke, neither=neither, confidence=confidence), "newcombe"
    if not verdicts and np.any(new != old):
        return intervals.student_interval(new - old, sizes=sizes, confidence=confidence), "student"
    return intervals.clustered_interval(old, new, sizes=sizes, confidence=confidence), "clustered"


def _error(sample: Sample, units: Ints) -> float:
    return intervals.standard_error(_sums(sample.new - sample.old, units), sizes=_sums(np.ones_like(sample.old), units))


def _noise(sample: Sample) -> float:
    """The variance of the mean difference that the disagreement of a question's own trials explains."""
    trials = _sums(np.ones_like(sample.old), sample.questions)
    repeated = trials > 1
    if not np.any(repeated):
        return 0.0
    within = np.zeros_like(trials)
    for values in (sample.old, sample.new):
        means = _sums(values, sample.questions) / trials
        squares = _sums((values - means[sample.questions]) ** 2, sample.questions)
        within[repeated] += squares[repeated] / (trials[repeated] - 1)
    return float((trials * within).sum()) / sample.old.size**2


def _sums(values: Floats, units: Ints) -> Floats:
    return np.bincount(units, weights=values).astype(np.float64)


def _mean(values: Floats) -> float:
    return float(values.sum()) / values.size


def _codes(names: Sequence[Hashable]) -> Ints:
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)
