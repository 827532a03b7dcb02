"""What an unchanged system does: churn, false alarms, items that behave like coins. Measured outside the comparison it serves.

Instability measured by the runs being compared would excuse what broke because it broke (42 to 94 % false alarms in simulation),
so evidence of a run that takes part in a comparison does not count in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from nl2sql_gate.errors import UsageError
from nl2sql_gate.judgement import PASSING, Comparison, Exclusion, value_of
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy

if TYPE_CHECKING:
    import numpy as np

    from nl2sql_gate.effect import Sample

_TIE = 1e-9


class Question(NamedTuple):
    """An item in one dialect on one database: what its trials have in common."""

    id: str
    dialect: str
    database: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two runs of the same build compared: the share of items that flipped, and how often the gate would have been red.

    `false_alarms` is the share of random exchanges of the two runs, whole databases where there are five, else whole items, in
    which the policy proves a drop. `flipped` names the items.
    """

    metric: str
    items: int
    cases: int
    churn: float
    false_alarms: float
    exchanged: str
    draws: int
    flipped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return dict(sorted({name: getattr(self, name) for name in self.__slots__}.items())) | {"flipped": list(self.flipped)}


@dataclass(frozen=True, slots=True)
class Unstable:
    """A question that the same system sometimes passes: `verdicts` maps a run's name to (passes, trials) in it."""

    question: Question
    verdicts: Mapping[str, tuple[int, int]]
    expiry: date

    def counts(self, *, without: Iterable[str] = ()) -> tuple[int, int]:
        """Passes and trials over all runs but those named."""
        used = [counts for name, counts in self.verdicts.items() if name not in set(without)]
        return sum(passes for passes, _ in used), sum(n for _, n in used)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, with the interval of the pass rate."""
        from nl2sql_gate.significance.beta import pass_rate_interval

        passes, trials = self.counts()
        return {
            **self.question._asdict(),
            "expiry": self.expiry.isoformat(),
            "interval": list(pass_rate_interval(passes, trials)),
            "passes": passes,
            "trials": trials,
            "verdicts": {name: list(counts) for name, counts in sorted(self.verdicts.items())},
        }


def calibrate(comparison: Comparison, policy: Policy, *, draws: int = 10_000, seed: int = 0) -> Calibration:
    """Churn and false alarms from the comparison of two runs of the same build.

    Raises `UsageError` where the two cannot be compared or have no value in common.
    """
    # The numerical libraries are loaded where they compute: reading what a calibration found needs none.
    import numpy as np

    from nl2sql_gate.effect import FEWEST_DATABASES
    from nl2sql_gate.gates.check import TOLERANCE, Values
    from nl2sql_gate.significance.sign_flip import flipped_sums

    why = comparison.incomparable or comparison.by(policy.primary).incomparable
    values = Values.of(comparison.pairs, policy.primary)
    sample = values.measured()
    if why is not None or sample is None:
        raise UsageError(
            "the two runs cannot calibrate the gate",
            where=[why.message if why else "no case has a value in both"],
            meaning="Churn is what two runs of the same build do to the same items.",
            next_step="Run the same build twice on the whole dataset.",
        )
    differences = sample.new - sample.old
    by_item, by_database = (np.bincount(of, weights=differences).astype(np.float64) for of in (sample.items, sample.databases))
    whole_databases = by_database.size >= FEWEST_DATABASES
    tested = by_database if policy.cluster == "database" and whole_databases else by_item
    exchanged = by_database if whole_databases else by_item
    null = np.sort(flipped_sums(tested, draws=draws, seed=seed))
    sums = flipped_sums(exchanged, draws=draws, seed=seed + 1)
    p = _mid_p(null, sums, near=_TIE * (1 + float(np.abs(tested).sum())))
    drops = -sums / differences.size
    red = (p < policy.alpha) & (drops > TOLERANCE) & (drops >= policy.min_drop - TOLERANCE)
    moved = {both.key.id for both in comparison.by(policy.primary).broke + comparison.by(policy.primary).fixed}
    return Calibration(
        metric=policy.primary,
        items=by_item.size,
        cases=differences.size,
        churn=_churn(sample),
        false_alarms=float(np.mean(red)),
        exchanged="database" if whole_databases else "item",
        draws=draws,
        flipped=tuple(dict.fromkeys(both.key.id for both in comparison.pairs if both.key.id in moved)),
    )


def unstable(runs: Sequence[Run], metric: str, *, expiry: date) -> tuple[Unstable, ...]:
    """The questions whose pass rate may be one half, by runs that no fingerprint tells apart, in dataset order.

    Of several groups of like runs the largest counts, the latest among equals: an item that another prompt repaired is no coin.
    """
    from nl2sql_gate.significance.beta import is_unstable

    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(json.dumps(run.provenance.get("fingerprint"), sort_keys=True, default=str), []).append(run)
    like = max(reversed(groups.values()), key=len, default=[])
    counted: dict[Question, dict[str, tuple[int, int]]] = {}
    for number, run in enumerate(like, start=1):
        name = run_name(run) or f"run {number}"
        for case in run.cases:
            value = value_of(case, metric)
            if value is not None:
                verdicts = counted.setdefault(Question(*case.key[:3]), {})
                passes, trials = verdicts.get(name, (0, 0))
                verdicts[name] = passes + (value >= PASSING), trials + 1
    found = (Unstable(question, verdicts, expiry) for question, verdicts in counted.items())
    return tuple(entry for entry in found if is_unstable(*entry.counts()))


def quarantine(comparison: Comparison, entries: Iterable[Unstable], *, today: date, compared: Sequence[Run] = ()) -> Comparison:
    """`comparison` without the questions measured unstable and not expired.

    Evidence of the `compared` runs themselves is taken out first, and what is left must still say unstable.
    """
    from nl2sql_gate.significance.beta import is_unstable

    names = {name for run in compared if (name := run_name(run))}
    evidence: dict[Question, tuple[str, str]] = {}
    for entry in entries:
        passes, trials = entry.counts(without=names)
        if entry.expiry >= today and is_unstable(passes, trials):
            evidence[entry.question] = f"passed {passes} of {trials} like runs", entry.expiry.isoformat()
    known = {exclusion.key for exclusion in comparison.excluded}
    added = [
        Exclusion(both.key, "quarantine", reason="unstable", evidence=said[0], expiry=said[1])
        for both in comparison.pairs
        if both.key not in known and (said := evidence.get(Question(*both.key[:3]))) is not None
    ]
    return replace(comparison, excluded=(*comparison.excluded, *added))


def run_name(run: Run) -> str:
    """What tells this run from others: when it was made, of which commit, and which of several at once (`repeat`).

    Empty where provenance does not say.
    """
    facts = run.provenance.get("facts")
    if not isinstance(facts, Mapping):
        return ""
    return " ".join(str(facts[name]) for name in ("created", "commit", "repeat") if facts.get(name))


def read_unstable(content: Iterable[Mapping[str, Any]]) -> tuple[Unstable, ...]:
    """The entries that `Unstable.to_json` wrote. Raises `UsageError` where they are something else."""
    try:
        return tuple(
            Unstable(
                Question(str(entry["id"]), str(entry["dialect"]), str(entry["database"])),
                {str(name): (int(counts[0]), int(counts[1])) for name, counts in entry["verdicts"].items()},
                date.fromisoformat(entry["expiry"]),
            )
            for entry in content
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            "the list of unstable items cannot be read",
            where=[f"{type(error).__name__}: {error}"],
            meaning="No item was quarantined.",
            next_step="Measure it again with `nl2sql-gate calibrate`.",
        ) from error


def _mid_p(null: np.ndarray[Any, np.dtype[np.float64]], sums: np.ndarray[Any, np.dtype[np.float64]], *, near: float) -> Any:
    import numpy as np

    below, up_to = np.searchsorted(null, sums - near, side="left"), np.searchsorted(null, sums + near, side="right")
    return (below + up_to) / 2 / null.size


def _churn(sample: Sample) -> float:
    import numpy as np

    changed = np.bincount(sample.items, weights=np.abs(sample.new - sample.old))
    return float(np.count_nonzero(changed)) / changed.size
