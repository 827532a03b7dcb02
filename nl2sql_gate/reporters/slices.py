"""The primary metric by dialect, difficulty, type, database and tag, with the baseline beside it where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nl2sql_gate.judgement import PASSING, value_of
from nl2sql_gate.records import CaseKey, CaseResult
from nl2sql_gate.reporters.report import Report


@dataclass(frozen=True, slots=True)
class Slice:
    """Values of the primary metric in one slice: sum and number, now and in the baseline, and what moved.

    The baseline's figures are over the cases that are compared.
    """

    by: str
    value: str
    total: float = 0.0
    n: int = 0
    old_total: float = 0.0
    old_n: int = 0
    broke: int = 0
    fixed: int = 0

    @property
    def share(self) -> float | None:
        """The mean now."""
        return self.total / self.n if self.n else None

    @property
    def old_share(self) -> float | None:
        """The mean in the baseline."""
        return self.old_total / self.old_n if self.old_n else None


_WAYS: dict[str, Callable[[CaseResult], Iterable[str]]] = {
    "dialect": lambda case: [case.key.dialect],
    "type": lambda case: [case.query_type],
    "difficulty": lambda case: [case.difficulty] if case.difficulty else [],
    "database": lambda case: [case.key.database],
    "tag": lambda case: case.tags,
}


def slices(report: Report, by: str) -> list[Slice]:
    """The slices of one kind (`dialect`, `type`, `difficulty`, `database`, `tag`), by name."""
    old = _old_values(report)
    rows: dict[str, list[float]] = {}
    for case in report.head.cases:
        value = value_of(case, report.primary)
        for name in _WAYS[by](case):
            row = rows.setdefault(name, [0.0] * 6)
            if value is None:
                continue
            row[0] += value
            row[1] += 1
            before = old.get(case.key)
            if before is not None:
                row[2] += before
                row[3] += 1
                row[4] += before >= PASSING > value
                row[5] += value >= PASSING > before
    return [
        Slice(by, name, row[0], int(row[1]), row[2], int(row[3]), int(row[4]), int(row[5])) for name, row in sorted(rows.items())
    ]


def all_slices(report: Report) -> list[list[Slice]]:
    """Every kind of slice that has more than one value."""
    return [found for by in _WAYS if len(found := slices(report, by)) > 1]


def _old_values(report: Report) -> dict[CaseKey, float]:
    if report.comparison is None:
        return {}
    values = ((pair.key, value_of(pair.old, report.primary)) for pair in report.comparison.pairs)
    return {key: value for key, value in values if value is not None}
