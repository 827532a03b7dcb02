"""Did a metric fall? The regression test, non-inferiority, and the rows for both."""

from __future__ import annotations

from typing import Literal

from nl2sql_gate.effect import Effect, Sight, measure, sight
from nl2sql_gate.gates.check import TOLERANCE, Check, Values, chance, percent, points, signed
from nl2sql_gate.judgement import Comparison, Figure, Row, RowKind, Status
from nl2sql_gate.records import CaseKey, Reason
from nl2sql_gate.settings import Policy

Mode = Literal["regression", "non_inferiority"]


def primary(comparison: Comparison, policy: Policy, *, churn: float | None = None) -> Check:
    """The primary metric by the policy's mode, over all paired cases that nobody excluded."""
    why = comparison.incomparable or comparison.by(policy.primary).incomparable
    if why is not None:
        return Check(("no_verdict", "no_verdict"), why)
    values = Values.of(comparison.pairs, policy.primary, excluded=excluded_keys(comparison))
    return judge(values, policy, name=policy.primary, churn=churn)


def anchored(comparison: Comparison, policy: Policy) -> Check:
    """The primary metric against the anchor, always by non-inferiority: slow creep is what it is there for."""
    why = comparison.incomparable or comparison.by(policy.primary).incomparable
    if why is not None:
        reason = Reason("anchor_incomparable", f"the anchor cannot be compared: {why.message}", why.detail)
        return Check(("no_verdict", "no_verdict"), reason)
    values = Values.of(comparison.pairs, policy.primary, excluded=excluded_keys(comparison))
    return judge(values, policy.model_copy(update={"mode": "non_inferiority"}), name="anchor", kind="anchor")


def shown(comparison: Comparison, policy: Policy, metric: str) -> Row | None:
    """The row of a metric that is reported beside the primary one and decides nothing; `None` where nothing can be shown."""
    if comparison.incomparable or comparison.by(metric).incomparable:
        return None
    sample = Values.of(comparison.pairs, metric, excluded=excluded_keys(comparison)).measured()
    if sample is None:
        return None
    effect = measure(sample, alpha=policy.alpha, cluster=policy.cluster)
    words = f"{_counts(effect)}, {chance(effect.p)}; shown only"
    return row(effect, name=metric, metric=metric, status=status_of(effect, policy), words=words, gated=False)


def judge(values: Values, policy: Policy, *, name: str, kind: RowKind = "metric", churn: float | None = None) -> Check:
    """One check of `values` by the policy's mode, with what it could have seen, and both readings of the unmeasured."""
    sample = values.measured()
    if sample is None:
        reason = Reason("nothing_compared", f"{name}: 0 of {len(values.pairs)} paired cases have a value on both sides")
        return Check(("no_verdict", "no_verdict"), reason)
    effect = measure(sample, alpha=policy.alpha, cluster=policy.cluster)
    status = status_of(effect, policy)
    readings: tuple[Status, Status] = (status, status)
    if values.unmeasured:
        hopeful, grim = (measure(s, alpha=policy.alpha, cluster=policy.cluster) for s in values.readings() if s is not None)
        readings = status_of(hopeful, policy), status_of(grim, policy)
    seen = sight(effect, alpha=policy.alpha, churn=churn) if policy.mode == "regression" and not _proven(effect, policy) else None
    words = _words(effect, seen, policy, status=status)
    code = {"fail": "drop_proven", "undecided": "drop_not_proven"}.get(status, "no_drop_proven")
    code = code if kind == "metric" else f"{kind}_{code}"
    made = row(effect, name=name, metric=policy.primary, status=status, words=words, kind=kind, seen=seen, limit=policy.min_drop)
    notes = (Reason("cluster_fallback", effect.note),) if effect.note else ()
    detail = {"gate": name, "broke": effect.broke, "fixed": effect.fixed, "cases": effect.cases, "p": effect.p}
    return Check(readings, Reason(code, f"{name}: {words}", {**detail, "delta": effect.delta}), made, notes)


def status_of(effect: Effect, policy: Policy, *, p: float | None = None, min_drop: float | None = None) -> Status:
    """Pass, fail or undecided by the policy's mode. `p` where it was adjusted, `min_drop` where a slice has its own."""
    margin = policy.min_drop if min_drop is None else min_drop
    if policy.mode == "non_inferiority":
        low, high = effect.interval
        return "pass" if low > -margin else "fail" if high < -margin else "undecided"
    drop = -effect.delta
    if drop <= TOLERANCE or drop < margin - TOLERANCE:
        return "pass"
    return "fail" if (effect.p if p is None else p) < policy.alpha else "undecided"


def row(  # noqa: PLR0913 - a row has as many columns
    effect: Effect,
    *,
    name: str,
    metric: str,
    status: Status,
    words: str,
    kind: RowKind = "metric",
    seen: Sight | None = None,
    limit: float | None = None,
    gated: bool = True,
    p_adjusted: float | None = None,
) -> Row:
    """The table's row for an effect."""
    return Row(
        name=name,
        kind=kind,
        status=status,
        words=words,
        metric=metric,
        baseline=Figure(effect.old, effect.old * effect.cases, effect.cases),
        head=Figure(effect.new, effect.new * effect.cases, effect.cases),
        delta=effect.delta,
        interval=effect.interval,
        method=f"{effect.p_method}, {effect.interval_method}, by {effect.cluster}",
        broke=effect.broke,
        fixed=effect.fixed,
        items=effect.items,
        p=effect.p,
        p_adjusted=p_adjusted,
        p_database=effect.p_database,
        provable=seen.drop if seen else None,
        churn=seen.churn if seen else None,
        items_to_halve=seen.items_to_halve if seen else None,
        trials_to_halve=seen.trials_to_halve if seen else None,
        limit=limit,
        gated=gated,
    )


def excluded_keys(comparison: Comparison) -> frozenset[CaseKey]:
    """The keys that waivers, trailers, a label or the quarantine take out."""
    return frozenset(exclusion.key for exclusion in comparison.excluded)


def could(seen: Sight | None) -> str:
    """What a comparison could have seen, to end a sentence about one that proved nothing; empty where it proved a drop."""
    if seen is None:
        return ""
    if seen.drop >= 1:
        return f"; no drop at all could be proven on so few items{' that change so often' if seen.churn else ''}"
    return f"; could prove a drop of {points(seen.drop)} four times in five"


def _counts(effect: Effect) -> str:
    unit = "item" if effect.items == 1 else "items"
    return f"{effect.broke} broke, {effect.fixed} fixed of {effect.items} {unit}"


def _proven(effect: Effect, policy: Policy) -> bool:
    """Whether there is a drop beyond doubt, of whatever size: then nobody asks what could have been proven."""
    return effect.delta < 0 and effect.p < policy.alpha


def _words(effect: Effect, seen: Sight | None, policy: Policy, *, status: Status) -> str:
    counts = _counts(effect)
    moved = points(abs(effect.delta), beside=policy.min_drop)
    if policy.mode == "non_inferiority":
        low, high = (signed(100 * limit) for limit in effect.interval)
        said = {
            "pass": f"no worse by {points(policy.min_drop)} or more",
            "fail": f"worse by more than {points(policy.min_drop)}",
            "undecided": f"not proven to be within {points(policy.min_drop)}",
        }[status]
        return f"{said}: {counts}, {percent(1 - 2 * policy.alpha)} interval {low} … {high} points"
    if status == "fail":
        return f"the drop of {moved} is proven: {counts}, {chance(effect.p)}"
    if status == "undecided":
        return f"a drop of {moved} that is not proven: {counts}, {chance(effect.p)}{could(seen)}"
    if _proven(effect, policy):
        return f"a proven drop of {moved}, less than min_drop {points(policy.min_drop)}: {counts}"
    return f"no drop of {points(policy.min_drop)} or more: {counts}{could(seen)}"
