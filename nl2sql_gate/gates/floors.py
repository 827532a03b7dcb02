"""Absolute rules: floors of a metric, and items that must pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nl2sql_gate.gates.check import TOLERANCE, Check, percent, share_readings
from nl2sql_gate.judgement import PASSING, Figure, Row, Status, value_of
from nl2sql_gate.records import CaseKey, CaseResult, Reason, Run
from nl2sql_gate.settings import Policy

_NAMED = 5


def floors(head: Run, policy: Policy) -> Iterator[Check]:
    """A check for each floor. The value exactly at the floor is a pass."""
    for metric in sorted(policy.floors):
        yield floor(head.cases, metric, limit=policy.floors[metric], name=f"{metric} floor")


def floor(cases: Collection[CaseResult], metric: str, *, limit: float, name: str) -> Check:
    """Whether `metric` over `cases` reaches `limit`, with the unmeasured as passed and as broken."""
    total, measured, expected = share_readings(cases, metric)
    if not measured:
        words = f"0 of {expected} cases have a value"
        row = Row(name, "floor", "no_verdict", words, metric=metric, limit=limit)
        return Check(("no_verdict", "no_verdict"), Reason("floor_unmeasured", f"{name}: {words}"), row)
    share = total / measured
    best, worst = (total + expected - measured) / expected, total / expected
    readings = _reaches(best, limit), _reaches(worst, limit)
    status = _reaches(share, limit)
    words = f"{percent(share)} ({total:g}/{measured}) {'reaches' if status == 'pass' else 'is below'} {percent(limit)}"
    row = Row(name, "floor", status, words, metric=metric, head=Figure(share, total, measured), limit=limit)
    code = "floor_missed" if status == "fail" else "floor_reached"
    return Check(readings, Reason(code, f"{name}: {words}", {"metric": metric, "value": share, "limit": limit}), row)


def required(head: Run, policy: Policy, *, excluded: Collection[CaseKey]) -> Check | None:
    """Whether every required item passes the primary metric in each of its dialects and trials; `None` without such items.

    A required item without a value cannot be a pass, nor one that a filter left out: what is missing cannot help.
    """
    wanted = required_items(head.cases, policy)
    absent = [name for name in policy.required.ids if name not in wanted]
    if not wanted and not absent:
        return None
    broken, unknown = [], list(absent)
    for name, cases in wanted.items():
        counted = [case for case in cases if case.key not in excluded and case.outcome != "skipped"]
        values = [value_of(case, policy.primary) for case in counted]
        if any(value is not None and value < PASSING for value in values):
            broken.append(name)
        elif any(value is None for value in values) or (not counted and not any(case.key in excluded for case in cases)):
            unknown.append(name)
    n = len(wanted) + len(absent)
    passed = n - len(broken) - len(unknown)
    hopeful: Status = "fail" if broken else "pass"
    grim: Status = "fail" if broken or unknown else "pass"
    status: Status = hopeful if hopeful == grim else "no_verdict"
    words = _required_words(broken, unknown, n=n)
    row = Row("required", "required", status, words, metric=policy.primary, unit="items", head=Figure(passed / n, passed, n))
    code = {"pass": "required_passed", "fail": "required_broken"}.get(status, "required_unmeasured")
    detail = {"broken": broken, "unmeasured": unknown, "required": n}
    return Check((hopeful, grim), Reason(code, f"required items: {words}", detail), row)


def required_items(cases: Collection[CaseResult], policy: Policy) -> dict[str, list[CaseResult]]:
    """The cases of each required item, in dataset order."""
    ids, tags = set(policy.required.ids), set(policy.required.tags)
    found: dict[str, list[CaseResult]] = {}
    for case in cases:
        if case.key.id in ids or not tags.isdisjoint(case.tags):
            found.setdefault(case.key.id, []).append(case)
    return found


def _reaches(share: float, limit: float) -> Status:
    return "pass" if share >= limit - TOLERANCE else "fail"


def _required_words(broken: list[str], unknown: list[str], *, n: int) -> str:
    parts = [f"{len(broken)} of {n} broken: {_names(broken)}" if broken else ""]
    parts.append(f"{len(unknown)} of {n} not measured: {_names(unknown)}" if unknown else "")
    return "; ".join(part for part in parts if part) or f"all {n} pass"


def _names(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
