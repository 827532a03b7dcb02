"""The cases that a report names, in groups, the trials of one item in one dialect together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nl2sql_gate.judgement import PASSING, Exclusion, Pair, value_of
from nl2sql_gate.records import CaseKey, CaseResult, Score
from nl2sql_gate.reporters.report import Report


@dataclass(frozen=True, slots=True)
class Tally:
    """Passes of `n` trials with a value."""

    passed: int
    n: int

    def __str__(self) -> str:
        """`passed/n`."""
        return f"{self.passed}/{self.n}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One item in one dialect. `case` is the trial to look at, `old` the baseline's counterpart of that trial."""

    key: CaseKey
    case: CaseResult
    old: CaseResult | None
    now: Tally
    before: Tally
    required: bool = False
    excluded: Exclusion | None = None

    @property
    def why(self) -> str:
        """In words: the reason of the case, else the database's message, else its outcome."""
        return why(self.case)


def why(case: CaseResult, metric: str = "") -> str:
    """Why a case is not right, in one phrase."""
    score = case.scores.get(metric)
    if isinstance(score, Score) and score.reason is not None and case.outcome == "answered":
        return score.reason.message or score.reason.code
    if case.error is not None and case.error.message:
        code = f"{case.error.code}: " if case.error.code and case.error.code not in case.error.message else ""
        return f"{code}{case.error.message}"
    if case.reason is not None:
        return case.reason.message or case.reason.code
    return case.outcome.replace("_", " ")


def broke(report: Report) -> list[Finding]:
    """Passed in the baseline, failed now; the most important first: required ones, then those that always fail now."""
    if report.comparison is None:
        return []
    found = _grouped(report, report.comparison.by(report.primary).broke)
    return sorted(found, key=lambda finding: (finding.excluded is not None, not finding.required, finding.now.passed > 0))


def fixed(report: Report) -> list[Finding]:
    """Failed in the baseline, passes now; in dataset order."""
    return [] if report.comparison is None else _grouped(report, report.comparison.by(report.primary).fixed)


def unmeasured(report: Report) -> list[CaseResult]:
    """Head cases that should have a value of the primary metric and have none."""
    return [case for case in report.head.cases if case.outcome == "unscored" or _faulty(case, report.primary)]


def golden_errors(report: Report) -> list[CaseResult]:
    """Head cases whose golden SQL fails."""
    return [case for case in report.head.cases if case.outcome == "golden_error"]


def wrong(report: Report) -> list[Finding]:
    """All that is wrong now, whatever it was before."""
    return _tallied(report, lambda case: (value := value_of(case, report.primary)) is not None and value < PASSING)


def arrivals(report: Report) -> tuple[list[CaseKey], list[CaseKey], list[CaseKey]]:
    """Keys of the cases that are new, removed, and changed since the baseline."""
    if report.comparison is None:
        return [], [], []
    lists = (report.comparison.new, report.comparison.removed, report.comparison.changed)
    new, removed, changed = ([pair.key for pair in pairs] for pairs in lists)
    return new, removed, changed


def changes(report: Report) -> dict[CaseKey, str]:
    """How each head case moved by the primary metric: `broke`, `fixed`, `new`, `changed`; others are absent."""
    if report.comparison is None:
        return {}
    by_metric = report.comparison.by(report.primary)
    lists = {
        "broke": by_metric.broke,
        "fixed": by_metric.fixed,
        "new": report.comparison.new,
        "changed": report.comparison.changed,
    }
    return {pair.key: name for name, pairs in lists.items() for pair in pairs}


def _faulty(case: CaseResult, metric: str) -> bool:
    return case.outcome == "answered" and value_of(case, metric) is None


def _unit(key: CaseKey) -> tuple[str, str, str]:
    return key.id, key.dialect, key.database


def _grouped(report: Report, pairs: Iterable[Pair]) -> list[Finding]:
    by_unit: dict[tuple[str, str, str], Pair] = {}
    for pair in pairs:
        by_unit.setdefault(_unit(pair.key), pair)
    comparison = report.comparison
    tallies: dict[tuple[str, str, str], list[Pair]] = {unit: [] for unit in by_unit}
    excluded = {}
    if comparison is not None:
        for pair in comparison.pairs:
            if _unit(pair.key) in tallies:
                tallies[_unit(pair.key)].append(pair)
        excluded = {_unit(exclusion.key): exclusion for exclusion in comparison.excluded}
    findings = []
    for unit, pair in by_unit.items():
        if pair.new is None:
            continue
        members = tallies[unit] or [pair]
        findings.append(
            Finding(
                key=pair.key,
                case=pair.new,
                old=pair.old,
                now=_tally((member.new for member in members), report.primary),
                before=_tally((member.old for member in members), report.primary),
                required=pair.key.id in report.required,
                excluded=excluded.get(unit),
            )
        )
    return findings


def _tallied(report: Report, wanted: Callable[[CaseResult], bool]) -> list[Finding]:
    old = {} if report.baseline is None else {case.key: case for case in report.baseline.cases}
    members: dict[tuple[str, str, str], list[CaseResult]] = {}
    for case in report.head.cases:
        members.setdefault(_unit(case.key), []).append(case)
    findings = []
    for cases in members.values():
        shown = next(filter(wanted, cases), None)
        if shown is not None:
            now = _tally(cases, report.primary)
            before = _tally((old.get(case.key) for case in cases), report.primary)
            findings.append(Finding(shown.key, shown, old.get(shown.key), now, before, shown.key.id in report.required))
    return findings


def _tally(cases: Iterable[CaseResult | None], metric: str) -> Tally:
    values = [value for case in cases if (value := value_of(case, metric)) is not None]
    return Tally(sum(value >= PASSING for value in values), len(values))
