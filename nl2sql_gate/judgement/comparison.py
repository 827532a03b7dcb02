"""Two runs case by case: pairs, the lists by metric, what differs between the runs, what the test leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nl2sql_gate.judgement.plain import reason_json, sorted_keys
from nl2sql_gate.records import MODEL_FAILURES, CaseKey, CaseResult, Reason, Score

Change = Literal["broke", "fixed", "passing", "failing", "unmeasured", "changed", "new", "removed", "golden_error", "skipped"]
Severity = Literal["announce", "restrict", "refuse"]
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
        return sorted_keys({**self.key._asdict(), "new": _side(self.new, metric), "old": _side(self.old, metric)})


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
        return sorted_keys({**self.key._asdict(), **said})


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
            **{name: [sorted_keys(pair.key._asdict()) for pair in pairs] for name, pairs in keys.items()},
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
        return sorted_keys(plain)


def _side(case: CaseResult | None, metric: str) -> dict[str, Any] | None:
    if case is None:
        return None
    score = case.scores.get(metric)
    why = score.reason if isinstance(score, Score) and score.reason is not None else case.reason
    return {"outcome": case.outcome, "reason": reason_json(why), "value": value_of(case, metric)}
