"""The values of a judgement, frozen: pairs of cases, the comparison of two runs, the rows of a verdict, the verdict.

`compare.pair` makes a `Comparison`, `verdict.decide` a `Verdict`; reporters only read them. All `to_json` results are plain
dicts, lists, numbers and text, the keys sorted, the cases in dataset order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nl2sql_gate.records import MODEL_FAILURES, CaseKey, CaseResult, Reason, Score

Status = Literal["pass", "fail", "undecided", "no_verdict"]
Change = Literal["broke", "fixed", "passing", "failing", "unmeasured", "changed", "new", "removed", "golden_error", "skipped"]
Severity = Literal["announce", "restrict", "refuse"]
RowKind = Literal["metric", "floor", "required", "budget", "ratio", "slice", "anchor", "confirmation"]
PASSING = 1.0
"""A case passes by a metric where its value reaches this."""


def value_of(case: CaseResult | None, metric: str) -> float | None:
    """The case's value by `metric`, in [0, 1]; `None` where there is none. The model's failures are 0 whatever is stored."""
    if case is None or case.outcome in {"golden_error", "unscored", "skipped"}:
        return None
    if case.outcome in MODEL_FAILURES:
        return 0.0
    score = case.scores.get(metric)
    return float(score.value) if isinstance(score, Score) else None


def should_have_value(case: CaseResult) -> bool:
    """Whether coverage counts the case: golden errors are the dataset's, skipped ones are out by a stated rule."""
    return case.outcome not in {"golden_error", "skipped"}


@dataclass(frozen=True, slots=True)
class Pair:
    """One case key in two runs. `old` is the baseline's case, `new` the head's; one of them is `None` for new and removed."""

    key: CaseKey
    old: CaseResult | None
    new: CaseResult | None

    def values(self, metric: str) -> tuple[float | None, float | None]:
        """The values (old, new) by `metric`."""
        return value_of(self.old, metric), value_of(self.new, metric)

    def to_json(self, metric: str) -> dict[str, Any]:
        """Both sides by `metric`: outcome, value and reason, with the key's parts."""
        return _sorted({**self.key._asdict(), "new": _side(self.new, metric), "old": _side(self.old, metric)})


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not the same in the two runs' fingerprints.

    `subject` is a path such as `engines.pg16.version`. `announce`: said before any figure; `restrict`: what it touches is not
    paired; `refuse`: the metrics named in `metrics` (all, where empty) are not compared. `next_step` says how to get over it.
    """

    subject: str
    old: Any
    new: Any
    severity: Severity
    message: str
    next_step: str = ""
    metrics: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "message": self.message,
            "metrics": list(self.metrics),
            "new": self.new,
            "next_step": self.next_step,
            "old": self.old,
            "severity": self.severity,
            "subject": self.subject,
        }


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A pair of cases that the test leaves out because somebody said so.

    `kind` is `waiver`, `trailer`, `label` or `quarantine`; `reason`, `expiry` (ISO date) and `link` are the person's own words.
    """

    key: CaseKey
    kind: Literal["waiver", "trailer", "label", "quarantine"]
    reason: str = ""
    expiry: str = ""
    link: str = ""
    evidence: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        said = {name: getattr(self, name) for name in ("evidence", "expiry", "kind", "link", "reason")}
        return _sorted({**self.key._asdict(), **said})


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """The pairs by one metric, each in exactly one list. `incomparable` says why no figure of this metric may be compared."""

    metric: str
    broke: tuple[Pair, ...] = ()
    fixed: tuple[Pair, ...] = ()
    passing: tuple[Pair, ...] = ()
    failing: tuple[Pair, ...] = ()
    unmeasured: tuple[Pair, ...] = ()
    incomparable: Reason | None = None

    def to_json(self) -> dict[str, Any]:
        """Broke, fixed and unmeasured by name, the rest as counts."""
        return {
            "broke": [pair.to_json(self.metric) for pair in self.broke],
            "failing": len(self.failing),
            "fixed": [pair.to_json(self.metric) for pair in self.fixed],
            "incomparable": reason_json(self.incomparable),
            "passing": len(self.passing),
            "unmeasured": [pair.to_json(self.metric) for pair in self.unmeasured],
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, case by case.

    `pairs` agree in key and digest and could have a value on both sides; `changed` agree in the key only. `golden_errors` and
    `skipped` have no value on a side by rule. `lone_trials` counts cases whose trial number the other run does not have.
    `head_cases` and `baseline_cases` count what should have a value; `paired_share` is the share of the baseline's measured
    cases that the head could be compared on: what the minimum paired share is held against. `unused` are accepted names that
    did not break.
    """

    pairs: tuple[Pair, ...]
    metrics: Mapping[str, MetricComparison]
    changed: tuple[Pair, ...] = ()
    new: tuple[Pair, ...] = ()
    removed: tuple[Pair, ...] = ()
    golden_errors: tuple[Pair, ...] = ()
    skipped: tuple[Pair, ...] = ()
    lone_trials: int = 0
    head_cases: int = 0
    baseline_cases: int = 0
    paired_share: float = 0.0
    differences: tuple[Difference, ...] = ()
    incomparable: Reason | None = None
    excluded: tuple[Exclusion, ...] = ()
    unused: tuple[str, ...] = ()

    def by(self, metric: str) -> MetricComparison:
        """The lists by `metric`; an unknown metric is an incomparable one."""
        missing = Reason("metric_absent", f"{metric} was not computed in both runs")
        return self.metrics.get(metric) or MetricComparison(metric, incomparable=missing)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: every list by name but those that did not move."""
        named = ("changed", "golden_errors", "new", "removed", "skipped")
        keys: dict[str, tuple[Pair, ...]] = {name: getattr(self, name) for name in named}
        plain = {
            **{name: [_sorted(pair.key._asdict()) for pair in pairs] for name, pairs in keys.items()},
            "baseline_cases": self.baseline_cases,
            "differences": [difference.to_json() for difference in self.differences],
            "excluded": [exclusion.to_json() for exclusion in self.excluded],
            "head_cases": self.head_cases,
            "incomparable": reason_json(self.incomparable),
            "lone_trials": self.lone_trials,
            "metrics": {name: self.metrics[name].to_json() for name in sorted(self.metrics)},
            "paired": len(self.pairs),
            "paired_share": self.paired_share,
            "unused": list(self.unused),
        }
        return _sorted(plain)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its count: `total` of `n` (passes of cases), or an amount over `n` cases."""

    value: float
    total: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"n": self.n, "total": self.total, "value": self.value}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Cases with a value of those that should have one; `share` is 0 where there is none at all."""

    measured: int
    expected: int

    @property
    def share(self) -> float:
        """`measured / expected`, 0 for 0/0: nothing measured is not full coverage."""
        return self.measured / self.expected if self.expected else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"expected": self.expected, "measured": self.measured, "share": self.share}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of gates.

    `delta` is head minus baseline (for `ratio` and `budget` rows with a baseline: head over baseline), `interval` belongs to
    `delta`, for budgets to the head's value. `p` is one-sided, `p_adjusted` by Holm within its family, `p_database` flips whole
    databases. `provable` is the smallest drop that would have been proven four times in five; `items_to_halve`,
    `trials_to_halve` what it takes to halve that. `limit` is the floor, the budget or the margin. `gated` is false for rows that
    are shown only. `status` is this row's own, `words` one short sentence.
    """

    name: str
    kind: RowKind
    status: Status
    words: str
    metric: str = ""
    unit: Literal["share", "items", "s", "tokens", "cost", "ratio"] = "share"
    baseline: Figure | None = None
    head: Figure | None = None
    delta: float | None = None
    interval: tuple[float, float] | None = None
    method: str = ""
    broke: int = 0
    fixed: int = 0
    items: int = 0
    p: float | None = None
    p_adjusted: float | None = None
    p_database: float | None = None
    provable: float | None = None
    churn: float | None = None
    items_to_halve: int | None = None
    trials_to_halve: int | None = None
    limit: float | None = None
    gated: bool = True

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        plain["baseline"] = self.baseline.to_json() if self.baseline else None
        plain["head"] = self.head.to_json() if self.head else None
        plain["interval"] = list(self.interval) if self.interval else None
        return _sorted(plain)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says.

    `reasons` are why, the gravest first. `notes` change nothing but must be read. `readings` are the statuses with the unmeasured
    as passed and as broken. `causes` are all checks that are not a pass in both, as (reason's code, reading, reading): the exit
    code follows from them. `accuracy` and `coverage` are the head's, per metric, over all its cases.
    """

    status: Status
    reasons: tuple[Reason, ...]
    rows: tuple[Row, ...] = ()
    notes: tuple[Reason, ...] = ()
    readings: tuple[Status, Status] = ("no_verdict", "no_verdict")
    causes: tuple[tuple[str, Status, Status], ...] = ()
    accuracy: Mapping[str, Figure] = field(default_factory=dict)
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    excluded: tuple[Exclusion, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, `status` and `reasons` as the files' format has them."""
        return {
            "accuracy": {name: self.accuracy[name].to_json() for name in sorted(self.accuracy)},
            "causes": [list(cause) for cause in self.causes],
            "coverage": {name: self.coverage[name].to_json() for name in sorted(self.coverage)},
            "excluded": [exclusion.to_json() for exclusion in self.excluded],
            "notes": [reason_json(note) for note in self.notes],
            "readings": list(self.readings),
            "reasons": [reason_json(reason) for reason in self.reasons],
            "rows": [row.to_json() for row in self.rows],
            "status": self.status,
        }


def reason_json(reason: Reason | None) -> dict[str, Any] | None:
    """A reason as `{code, message, …}`; `None` stays `None`."""
    return None if reason is None else _sorted({**reason.detail, "code": reason.code, "message": reason.message})


def _sorted(plain: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(plain.items()))


def _side(case: CaseResult | None, metric: str) -> dict[str, Any] | None:
    if case is None:
        return None
    score = case.scores.get(metric)
    why = score.reason if isinstance(score, Score) and score.reason is not None else case.reason
    return {"outcome": case.outcome, "reason": reason_json(why), "value": value_of(case, metric)}
