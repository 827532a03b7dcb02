"""What the gate says: figures, coverage, the rows of the table of gates, the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nl2sql_gate.judgement.comparison import Exclusion
from nl2sql_gate.judgement.plain import reason_json, sorted_keys
from nl2sql_gate.records import Reason

Status = Literal["pass", "fail", "undecided", "no_verdict"]
RowKind = Literal["metric", "floor", "required", "budget", "ratio", "slice", "anchor", "confirmation"]


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
        return sorted_keys(plain)


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
