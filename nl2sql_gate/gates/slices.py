"""Parts of the dataset: dialects, tags, difficulties, types, databases. Shown always, gated by rule, corrected by Holm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from nl2sql_gate.dialects import canonical
from nl2sql_gate.effect import Effect, measure, sight
from nl2sql_gate.gates.check import Check, Values, chance, points
from nl2sql_gate.gates.drop import could, excluded_keys, row, status_of
from nl2sql_gate.gates.floors import floor
from nl2sql_gate.judgement import Comparison, Row, Status
from nl2sql_gate.records import CaseResult, Reason, Run
from nl2sql_gate.settings import Policy, SliceRule
from nl2sql_gate.significance.multiplicity import holm

DIMENSIONS: dict[str, Callable[[CaseResult], Collection[str]]] = {
    "dialect": lambda case: (case.key.dialect,),
    "tag": lambda case: case.tags,
    "difficulty": lambda case: (case.difficulty,) if case.difficulty else (),
    "type": lambda case: (case.query_type,),
    "database": lambda case: (case.key.database,),
}
"""Which slices of a dimension a case belongs to."""


def belongs(case: CaseResult, by: str, value: str) -> bool:
    """Whether the case is in the slice; dialects by any of their spellings."""
    return value in DIMENSIONS[by](case) or (by == "dialect" and canonical(value) == case.key.dialect)


def ruled(comparison: Comparison | None, head: Run, policy: Policy) -> list[Check]:
    """The slices that a rule names, as one family: their p-values are adjusted together. Floors need no baseline."""
    rules = policy.slices.rules
    checks = [_floor(head, policy, rule) for rule in rules if rule.floor is not None]
    if comparison is None or comparison.incomparable or comparison.by(policy.primary).incomparable:
        return checks
    everything = Values.of(comparison.pairs, policy.primary, excluded=excluded_keys(comparison))
    named = [(rule, everything.where(lambda case, rule=rule: belongs(case, rule.by, rule.value))) for rule in rules]  # type: ignore[misc]
    large = [(rule, values) for rule, values in named if _items(values) >= policy.slices.min_items]
    checks += [_small(rule, values, policy) for rule, values in named if _items(values) < policy.slices.min_items]
    as_measured = _family([(rule, _effect(values, policy, 0)) for rule, values in large], policy)
    hopeful = _family([(rule, _effect(values, policy, 1)) for rule, values in large], policy)
    grim = _family([(rule, _effect(values, policy, 2)) for rule, values in large], policy)
    for (rule, _), measured, best, worst in zip(large, as_measured, hopeful, grim, strict=True):
        checks.append(_judged(rule, measured, readings=(best[1], worst[1]), policy=policy))
    return checks


def shown(comparison: Comparison, policy: Policy) -> list[Row]:
    """A row for every slice of the paired cases, decided by nothing; p-values are adjusted over all that are large enough."""
    if comparison.incomparable or comparison.by(policy.primary).incomparable:
        return []
    everything = Values.of(comparison.pairs, policy.primary, excluded=excluded_keys(comparison))
    rows = [made for by in DIMENSIONS for made in _dimension(by, everything, policy)]
    large = [made for made in rows if made.items >= policy.slices.min_items]
    adjusted = dict(zip((made.name for made in large), holm([made.p or 0.0 for made in large]), strict=True))
    return [replace(made, p_adjusted=adjusted.get(made.name)) for made in rows]


def _dimension(by: str, everything: Values, policy: Policy) -> Iterable[Row]:
    at: dict[str, list[int]] = {}
    for index, both in enumerate(everything.pairs):
        for value in DIMENSIONS[by](both.new) if both.new is not None else ():
            at.setdefault(value, []).append(index)
    if len(at) < 2 and by != "tag":  # noqa: PLR2004 - a dimension with one value is the whole
        return
    for value, indices in at.items():
        pairs = tuple(everything.pairs[i] for i in indices)
        values = Values(pairs, tuple(everything.old[i] for i in indices), tuple(everything.new[i] for i in indices))
        effect = _effect(values, policy, 0)
        if effect is not None:
            words = f"{effect.broke} broke, {effect.fixed} fixed of {effect.items}, {chance(effect.p)}; shown only"
            name = f"{by} {value}"
            yield row(effect, name=name, metric=policy.primary, status="pass", words=words, kind="slice", gated=False)


def _effect(values: Values, policy: Policy, reading: int) -> Effect | None:
    """The effect as measured (0), with the unmeasured as passed (1), as broken (2)."""
    sample = (values.measured, lambda: values.readings()[0], lambda: values.readings()[1])[reading]()
    return None if sample is None else measure(sample, alpha=policy.alpha)


_Judged = tuple[Effect | None, Status, float]


def _family(effects: list[tuple[SliceRule, Effect | None]], policy: Policy) -> list[_Judged]:
    adjusted = holm([1.0 if effect is None else effect.p for _, effect in effects])
    return [
        (effect, "no_verdict" if effect is None else status_of(effect, policy, p=p, min_drop=rule.min_drop), p)
        for (rule, effect), p in zip(effects, adjusted, strict=True)
    ]


def _judged(rule: SliceRule, measured: _Judged, *, readings: tuple[Status, Status], policy: Policy) -> Check:
    name = f"{rule.by} {rule.value}"
    effect, status, p = measured
    if effect is None:
        return Check(
            ("no_verdict", "no_verdict"), Reason("slice_unmeasured", f"{name}: no paired case has a value on both sides")
        )
    limit = policy.min_drop if rule.min_drop is None else rule.min_drop
    proven = effect.delta < 0 and p < policy.alpha
    seen = None if proven or policy.mode == "non_inferiority" else sight(effect, alpha=policy.alpha)
    moved = points(abs(effect.delta), beside=limit)
    counts = f"{effect.broke} broke, {effect.fixed} fixed of {effect.items} items"
    worse = {
        "fail": f"worse by more than {points(limit)}: {counts}",
        "undecided": f"not proven to be within {points(limit)}: {counts}",
    }
    words = {
        "fail": f"the drop of {moved} is proven: {counts}, {chance(p)} adjusted",
        "undecided": f"a drop of {moved} that is not proven: {counts}, {chance(p)} adjusted",
    }.get(status, f"no drop of {points(limit)} or more: {counts}{could(seen)}")
    if policy.mode == "non_inferiority":
        words = worse.get(status, f"no worse by {points(limit)} or more: {counts}")
    made = row(
        effect, name=name, metric=policy.primary, status=status, words=words, kind="slice", seen=seen, limit=limit, p_adjusted=p
    )
    code = {"fail": "slice_drop_proven", "undecided": "slice_drop_not_proven"}.get(status, "slice_no_drop_proven")
    return Check(readings, Reason(code, f"{name}: {words}", {"by": rule.by, "value": rule.value, "p": p}), made)


def _floor(head: Run, policy: Policy, rule: SliceRule) -> Check:
    cases = [case for case in head.cases if belongs(case, rule.by, rule.value)]
    name = f"{rule.by} {rule.value} floor"
    check = floor(cases, policy.primary, limit=rule.floor or 0.0, name=name)
    if len({case.key.id for case in cases}) >= policy.slices.min_items:
        return check
    small = replace(check.row, gated=False, words=f"{check.row.words}; {_too_few(policy)}") if check.row else None
    return Check(("pass", "pass"), None, small)


def _small(rule: SliceRule, values: Values, policy: Policy) -> Check:
    effect = _effect(values, policy, 0)
    name, n = f"{rule.by} {rule.value}", _items(values)
    note = Reason("slice_too_small", f"{name}: {n} items, {_too_few(policy)}")
    if effect is None:
        return Check(("pass", "pass"), None, None, (note,))
    words = f"{effect.broke} broke, {effect.fixed} fixed of {effect.items}; {_too_few(policy)}"
    made = row(effect, name=name, metric=policy.primary, status="pass", words=words, kind="slice", gated=False)
    return Check(("pass", "pass"), None, made, (note,))


def _too_few(policy: Policy) -> str:
    return f"under min_items {policy.slices.min_items}: shown, not gated"


def _items(values: Values) -> int:
    return len({both.key.id for both in values.pairs})
