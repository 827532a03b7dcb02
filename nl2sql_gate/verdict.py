"""Decide: the policy's checks added up into one of four verdicts, and the exit code that it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nl2sql_gate.gates import budgets, drop, floors, slices
from nl2sql_gate.gates.check import TOLERANCE, Check, percent, share_readings
from nl2sql_gate.judgement import Comparison, Coverage, Figure, Row, Status, Verdict
from nl2sql_gate.policy_names import check_policy
from nl2sql_gate.records import Reason, Run
from nl2sql_gate.settings import Policy

_GRAVITY: dict[Status, int] = {"fail": 3, "no_verdict": 2, "undecided": 1, "pass": 0}
_EXITS: dict[Status, int] = {"fail": 1, "no_verdict": 3, "undecided": 1, "pass": 0}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known beside the two runs: a comparison with the pinned anchor, and the churn that a calibration measured.

    `informing` is another look at the same change, shown and never decisive: the comparison before its confirmation, or the
    head's fresh answers against a stored baseline that could not be asked again; `informing_name` is its row's name.
    """

    anchor: Comparison | None = None
    churn: float | None = None
    informing: Comparison | None = None
    informing_name: str = "asked again"


def decide(comparison: Comparison | None, head: Run, policy: Policy, *, evidence: Evidence | None = None) -> Verdict:
    """The verdict on `head`; `comparison` is `None` where there is no baseline yet.

    Every check is read twice, with the unmeasured as passed and as broken. If the readings differ there is no verdict; what
    fails in both is proven. Raises `SettingsError` where the policy names items, tags or slices that a complete run lacks.
    """
    known = evidence or Evidence()
    if head.complete:
        check_policy(policy, head.cases)
    checks = list(_checks(comparison, head, policy, known))
    hopeful, grim = (_worst(check.readings[reading] for check in checks) for reading in (0, 1))
    status: Status = hopeful if hopeful == grim else "no_verdict"
    metrics = dict.fromkeys((policy.primary, *head.metrics))
    figures = {metric: share_readings(head.cases, metric) for metric in metrics}
    return Verdict(
        status=status,
        reasons=tuple(_reasons(checks, status, readings=(hopeful, grim), missing=figures[policy.primary])),
        rows=tuple(_rows(checks, comparison, policy, known)),
        notes=tuple(_notes(checks, comparison, head)),
        readings=(hopeful, grim),
        causes=tuple(_causes(checks)),
        accuracy={name: Figure(total / n, total, n) for name, (total, n, _) in figures.items() if n},
        coverage={name: Coverage(n, expected) for name, (_, n, expected) in figures.items()},
        excluded=comparison.excluded if comparison else (),
    )


def without_run(code: str, message: str) -> Verdict:
    """The verdict where nothing could be run. `code` is `no_credentials` for a fork's pull request, else the cause."""
    return Verdict("no_verdict", (Reason(code, message),), causes=((code, "no_verdict", "no_verdict"),))


def exit_code(verdict: Verdict, policy: Policy) -> int:
    """0, 1 or 3 by the policy's `on_…` words; of several that apply 1 comes before 3, and 3 before 0.

    What would exit with 1 in both readings does so, although two readings that differ give no verdict.
    """
    hopeful, grim = (_first(_exit(cause[0], cause[at], policy) for cause in verdict.causes) for at in (1, 2))
    if hopeful == grim and (hopeful == 1 or verdict.readings[0] == verdict.readings[1]):
        return hopeful
    return 3 if policy.on_no_verdict == "fail" else 0


def _checks(comparison: Comparison | None, head: Run, policy: Policy, evidence: Evidence) -> Iterator[Check]:
    yield from _enough_measured(head, policy)
    if comparison is None:
        message = "there is no baseline: what this change did cannot be said; floors and required items still hold"
        yield Check(("no_verdict", "no_verdict"), Reason("no_baseline", message))
    else:
        yield from _enough_paired(comparison, policy)
        yield drop.primary(comparison, policy, churn=evidence.churn)
    excluded = drop.excluded_keys(comparison) if comparison else frozenset()
    yield from floors.floors(head, policy)
    if (needed := floors.required(head, policy, excluded=excluded)) is not None:
        yield needed
    if evidence.anchor is not None:
        excluded_too = comparison.excluded if comparison else ()
        yield drop.anchored(replace(evidence.anchor, excluded=(*evidence.anchor.excluded, *excluded_too)), policy)
    yield from slices.ruled(comparison, head, policy)
    yield from budgets.budgets(head, policy, comparison=comparison)


def _enough_measured(head: Run, policy: Policy) -> Iterator[Check]:
    _, measured, expected = share_readings(head.cases, policy.primary)
    outcomes = Counter(case.outcome for case in head.cases if case.outcome in {"golden_error", "skipped", "unscored"})
    why = ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in sorted(outcomes.items()))
    if not measured:
        message = f"0 items were measured by {policy.primary}: {why or 'no case was run'}"
        yield Check(("no_verdict", "no_verdict"), Reason("nothing_measured", message))
    elif measured / expected < policy.min_coverage - TOLERANCE:
        message = (
            f"{measured} of {expected} cases have a value ({percent(measured / expected)}), "
            f"min_coverage is {percent(policy.min_coverage)}: {expected - measured} unmeasured"
        )
        yield Check(("no_verdict", "no_verdict"), Reason("low_coverage", message))


def _enough_paired(comparison: Comparison, policy: Policy) -> Iterator[Check]:
    if comparison.incomparable is None and comparison.paired_share < policy.min_paired - TOLERANCE:
        message = (
            f"{percent(comparison.paired_share)} of the baseline's measured questions were compared, "
            f"min_paired is {percent(policy.min_paired)}: {len(comparison.removed)} removed, {len(comparison.changed)} changed, "
            f"{len(comparison.golden_errors)} golden errors, {len(comparison.skipped)} skipped"
        )
        yield Check(("no_verdict", "no_verdict"), Reason("low_pairing", message))


def _reasons(
    checks: Sequence[Check], status: Status, *, readings: tuple[Status, Status], missing: tuple[float, int, int]
) -> Iterator[Reason]:
    if readings[0] != readings[1]:
        _, measured, expected = missing
        gap = f"{expected - measured} of {expected} cases have no value" if measured < expected else "values are missing"
        message = (
            f"{gap}, and they would decide: "
            f"{readings[0].replace('_', ' ')} if they had passed, {readings[1].replace('_', ' ')} if they had broken"
        )
        yield Reason("unmeasured_decides", message)
    ranked = sorted(checks, key=lambda check: -_GRAVITY[_worst(check.readings)])
    for check in ranked:
        # A pass needs no reasons but the primary metric's: the others are in the rows.
        grave = _worst(check.readings) != "pass"
        if check.reason is not None and (grave or (status == "pass" and check.reason.code == "no_drop_proven")):
            yield check.reason


def _rows(checks: Sequence[Check], comparison: Comparison | None, policy: Policy, evidence: Evidence) -> Iterator[Row]:
    yield from (check.row for check in checks if check.row is not None)
    informing = evidence.informing
    if informing is not None and (told := drop.shown(informing, policy, policy.primary)) is not None:
        yield replace(told, name=evidence.informing_name, kind="confirmation")
    if comparison is None:
        return
    for metric in comparison.metrics:
        if metric != policy.primary and (row := drop.shown(comparison, policy, metric)) is not None:
            yield row
    yield from budgets.moved(comparison, policy)
    ruled = {f"{rule.by} {rule.value}" for rule in policy.slices.rules}
    yield from (row for row in slices.shown(comparison, policy) if row.name not in ruled)


def _notes(checks: Sequence[Check], comparison: Comparison | None, head: Run) -> Iterator[Reason]:
    for check in checks:
        yield from check.notes
    golden = sum(case.outcome == "golden_error" for case in head.cases)
    if golden:
        yield Reason("golden_errors", f"{golden} golden error{'s' if golden > 1 else ''}: the dataset's, not the model's")
    if comparison is None:
        return
    for difference in comparison.differences:
        yield Reason("difference", difference.message, difference.to_json() | {"code": "difference"})
    compared = len(comparison.pairs)
    if compared < comparison.head_cases:
        message = (
            f"{compared} of {comparison.head_cases} cases were compared: {len(comparison.new)} new, "
            f"{len(comparison.changed)} changed, {comparison.lone_trials} trials without a counterpart"
        )
        yield Reason("partly_compared", message)
    if comparison.removed:
        yield Reason("removed", f"{len(comparison.removed)} cases of the baseline are gone", {"ids": _ids(comparison)})
    if comparison.unused:
        yield Reason("accepted_unbroken", f"accepted, but not broken: {', '.join(comparison.unused)}")
    kinds = Counter(exclusion.kind for exclusion in comparison.excluded)
    for kind, count in sorted(kinds.items()):
        yield Reason("excluded", f"{count} case{'s' if count > 1 else ''} left out by {kind}")


def _ids(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(both.key.id for both in comparison.removed))


def _worst(statuses: Iterable[Status]) -> Status:
    return max(statuses, key=_GRAVITY.__getitem__, default="no_verdict")


def _causes(checks: Sequence[Check]) -> Iterator[tuple[str, Status, Status]]:
    for check in checks:
        if check.reason is not None and _worst(check.readings) != "pass":
            yield (check.reason.code, *check.readings)


def _exit(code: str, status: str, policy: Policy) -> int:
    if status == "no_verdict":
        words = {"no_baseline": policy.on_missing_baseline, "no_credentials": policy.on_no_credentials}
        return 3 if words.get(code, policy.on_no_verdict) == "fail" else 0
    if status == "undecided":
        return 1 if policy.on_undecided == "fail" else 0
    return 1 if status == "fail" else 0


def _first(codes: Iterable[int]) -> int:
    """1 is proven on what was measured, so it goes before 3."""
    return max(codes, key=(0, 3, 1).index, default=0)
