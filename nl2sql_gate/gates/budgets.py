"""Cost, tokens and latency: budgets with their intervals, and how they moved against the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nl2sql_gate.gates.check import TOLERANCE, Check, signed
from nl2sql_gate.judgement import Comparison, Figure, Pair, Row, Status
from nl2sql_gate.records import CaseResult, Reason, Run
from nl2sql_gate.settings import Policy
from nl2sql_gate.significance.ratios import quantile_interval, ratio, total_interval

Unit = Literal["s", "tokens", "cost"]
_Amount = Callable[[CaseResult], float | None]


def _tokens(case: CaseResult) -> float | None:
    counts = [count for count in (case.tokens_in, case.tokens_out) if count is not None]
    return float(sum(counts)) if counts else None


def _cost(case: CaseResult) -> float | None:
    return case.cost


def _latency(case: CaseResult) -> float | None:
    return case.latency_s


_AMOUNTS: dict[str, tuple[_Amount, Unit, float | None]] = {
    "cost": (_cost, "cost", None),
    "tokens": (_tokens, "tokens", None),
    "latency_p50_s": (_latency, "s", 0.5),
    "latency_p95_s": (_latency, "s", 0.95),
}
"""Budget → the amount of a case, its unit, and the quantile over cases; no quantile is the sum."""


def budgets(head: Run, policy: Policy, *, comparison: Comparison | None = None) -> Iterator[Check]:
    """A check for each budget: over it beyond the interval fails, over it within the interval is undecided."""
    for name in sorted(policy.budgets):
        yield _budget(name, head, policy, comparison=comparison)


def moved(comparison: Comparison, policy: Policy) -> Iterator[Row]:
    """A row for latency, tokens and cost where both runs recorded them: the typical ratio to the baseline, never gated."""
    for name, (amount, _, _) in _AMOUNTS.items():
        if name == "latency_p95_s":
            continue
        old, new = _by_item(comparison.pairs, amount)
        found = ratio(old, new, confidence=1 - 2 * policy.alpha)
        if found is None:
            continue
        label = name.removesuffix("_p50_s")
        baseline, head = (Figure(float(side.mean()), float(side.sum()), side.size) for side in (old, new))
        words = f"{signed(100 * (found.value - 1))} % for the typical item; shown only"
        yield Row(
            label,
            "ratio",
            "pass",
            words,
            unit="ratio",
            baseline=baseline,
            head=head,
            delta=found.value,
            interval=(found.low, found.high),
            method=f"hodges-lehmann, {found.method}",
            items=found.n,
            gated=False,
        )


def _budget(name: str, head: Run, policy: Policy, *, comparison: Comparison | None) -> Check:
    amount, unit, quantile = _AMOUNTS[name]
    limit = policy.budgets[name]  # type: ignore[index]
    asked = [case for case in head.cases if case.outcome not in {"golden_error", "skipped"}]
    found = [(case, value) for case in asked if (value := amount(case)) is not None]
    label = f"budget {name}"
    if not found:
        words = f"0 of {len(asked)} cases recorded it"
        if asked and all(case.replayed for case in asked):
            # A replayed answer was paid for in another run; a budget says nothing about it.
            return Check(("pass", "pass"), None, Row(label, "budget", "pass", f"{words}: all replayed", unit=unit, gated=False))
        row = Row(label, "budget", "no_verdict", words, unit=unit, limit=limit)
        return Check(("no_verdict", "no_verdict"), Reason("budget_unmeasured", f"{label}: {words}"), row)
    value, (low, high) = _figure(found, quantile, confidence=1 - 2 * policy.alpha)
    status: Status = "pass" if value <= limit else "fail" if low > limit else "undecided"
    short = len(found) / len(asked) < policy.min_coverage - TOLERANCE
    if short and status != "fail":
        status = "no_verdict"
    said = {"pass": "within", "fail": "over", "undecided": "over, within noise,", "no_verdict": "cannot be held against"}[status]
    words = f"{_amount(value, unit)} {said} the budget of {_amount(limit, unit)} ({len(found)}/{len(asked)} cases)"
    old, new = _by_item(comparison.pairs, amount) if comparison else (np.empty(0), np.empty(0))
    against = ratio(old, new, confidence=1 - 2 * policy.alpha)
    row = Row(
        label,
        "budget",
        status,
        words,
        unit=unit,
        head=Figure(value, value, len(found)),
        delta=against.value if against else None,
        interval=(low, high),
        method="bootstrap",
        limit=limit,
    )
    code = {"pass": "budget_kept", "fail": "budget_exceeded", "undecided": "budget_not_proven"}.get(status, "budget_unmeasured")
    return Check((status, status), Reason(code, f"{label}: {words}", {"value": value, "limit": limit}), row)


def _figure(
    found: Sequence[tuple[CaseResult, float]], quantile: float | None, *, confidence: float
) -> tuple[float, tuple[float, float]]:
    codes: dict[str, int] = {}
    items = np.array([codes.setdefault(case.key.id, len(codes)) for case, _ in found], dtype=np.int64)
    values = np.array([value for _, value in found], dtype=np.float64)
    if quantile is None:
        total = float(values.sum())
        low, high = total_interval(np.bincount(items, weights=values).astype(np.float64), confidence=confidence)
        return total, (low, high)
    # The lower of two middle values, as the interval's draws have it: one that was really measured.
    value = float(np.sort(values)[max(0, int(np.ceil(quantile * values.size)) - 1)])
    return value, quantile_interval(values, quantile, items=items, confidence=confidence)


def _by_item(pairs: Sequence[Pair], amount: _Amount) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each item's mean amount in the baseline and in the head, over cases that have both."""
    sums: dict[str, list[float]] = {}
    for both in pairs:
        old = amount(both.old) if both.old is not None else None
        new = amount(both.new) if both.new is not None else None
        if old is not None and new is not None and old > 0 and new > 0:
            entry = sums.setdefault(both.key.id, [0.0, 0.0, 0.0])
            entry[0], entry[1], entry[2] = entry[0] + old, entry[1] + new, entry[2] + 1
    table = np.array(list(sums.values()), dtype=np.float64).reshape(-1, 3)
    return table[:, 0] / table[:, 2], table[:, 1] / table[:, 2]


def _amount(value: float, unit: Unit) -> str:
    return {"s": f"{value:.2f} s", "tokens": f"{value:,.0f} tokens", "cost": f"{value:.4f}"}[unit]
