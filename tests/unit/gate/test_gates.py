"""Floors, required items, budgets and slices, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nl2sql_gate.compare import pair
from nl2sql_gate.gates.budgets import budgets, moved
from nl2sql_gate.gates.check import Check
from nl2sql_gate.gates.floors import floors, required
from nl2sql_gate.gates.slices import ruled, shown
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]


def sized(n: int, **each: Any) -> dict[str, dict[str, Any]]:
    return {f"q{i}": {name: of(i) for name, of in each.items()} for i in range(n)}


@pytest.mark.parametrize(
    "values, readings",
    [
        ([1] * 9 + [0], ("pass", "pass")),
        ([1] * 8 + [0] * 2, ("fail", "fail")),
        ([1] * 8 + ["unscored", 0], ("pass", "fail")),
        ([1] * 9 + ["golden_error", 0], ("pass", "pass")),
        (["unscored"] * 3, ("no_verdict", "no_verdict")),
        ([1] * 8 + ["sql_error"] * 2, ("fail", "fail")),
    ],
)
def test_a_floor_is_read_both_ways(values: list[Any], readings: tuple[str, str], run_of: RunOf) -> None:
    (check,) = floors(run_of(dict(enumerate_ids(values))), Policy(floors={METRIC: 0.9}))
    assert readings == check.readings


def enumerate_ids(values: list[Any]) -> list[tuple[str, Any]]:
    return [(f"q{i}", value) for i, value in enumerate(values)]


@pytest.mark.parametrize(
    "values, readings",
    [
        ({"a": 1, "b": 0}, ("pass", "pass")),
        ({"a": 0, "b": 1}, ("fail", "fail")),
        ({"a": "unscored", "b": 1}, ("pass", "fail")),
        ({"a": "golden_error", "b": 1}, ("pass", "fail")),
        ({("a", "sqlite"): 1, ("a", "mysql"): "skipped"}, ("pass", "pass")),
        ({("a", "sqlite"): "skipped"}, ("pass", "fail")),
        ({("a", "sqlite"): 1, ("a", "mysql"): "no_sql"}, ("fail", "fail")),
        ({("a", "sqlite", "s", 1): 1, ("a", "sqlite", "s", 2): 0}, ("fail", "fail")),
    ],
)
def test_a_required_item_passes_everywhere_or_not(values: dict[Any, Any], readings: tuple[str, str], run_of: RunOf) -> None:
    check = required(run_of(values), Policy(required={"ids": ["a"]}), excluded=())
    assert check is not None
    assert readings == check.readings


def test_required_by_tag_names_what_broke(run_of: RunOf) -> None:
    facts = {"a": {"tags": ("vip",)}, "b": {"tags": ("vip", "x")}}
    head = run_of({"a": 1, "b": 0, "c": 0}, facts=facts)
    check = required(head, Policy(required={"tags": ["vip"]}), excluded=())
    assert check is not None
    assert check.reason is not None
    assert check.reason.detail["broken"] == ["b"]
    assert "1 of 2 broken: b" in check.reason.message


def test_a_waived_required_item_is_let_through(run_of: RunOf) -> None:
    head = run_of({"a": 0})
    check = required(head, Policy(required={"ids": ["a"]}), excluded={head.cases[0].key})
    assert check is not None
    assert check.readings == ("pass", "pass")


def only(found: Any) -> Check:
    (check,) = found
    return check


@pytest.mark.parametrize(
    "limit, status",
    [(1.2, "pass"), (0.99, "undecided"), (0.5, "fail")],
)
def test_a_budget_is_held_with_its_interval(limit: float, status: str, run_of: RunOf) -> None:
    facts = sized(100, cost=lambda i: 0.005 + 0.01 * (i % 2))
    head = run_of(dict(enumerate_ids([1] * 100)), facts=facts)
    check = only(budgets(head, Policy(budgets={"cost": limit})))
    assert (status, status) == check.readings
    assert check.row is not None
    assert check.row.head is not None
    assert check.row.head.value == pytest.approx(1.0)
    assert check.row.interval is not None
    assert check.row.interval[0] < 1.0 < check.row.interval[1]


def test_a_latency_budget_is_over_a_quantile_that_was_measured(run_of: RunOf) -> None:
    head = run_of(dict(enumerate_ids([1] * 20)), facts=sized(20, latency_s=lambda i: float(i + 1)))
    rows = [check.row for check in budgets(head, Policy(budgets={"latency_p50_s": 60, "latency_p95_s": 60}))]
    assert [row.head.value for row in rows if row and row.head] == [10.0, 19.0]


def test_a_budget_that_nothing_recorded_cannot_be_kept(run_of: RunOf) -> None:
    assert only(budgets(run_of({"a": 1}), Policy(budgets={"tokens": 5}))).readings == ("no_verdict", "no_verdict")


def test_replayed_answers_cost_nothing_again(run_of: RunOf) -> None:
    head = run_of({"a": 1}, facts={"a": {"replayed": True}})
    assert only(budgets(head, Policy(budgets={"cost": 5}))).readings == ("pass", "pass")


def test_a_budget_known_for_too_few_cases_is_not_kept_but_can_be_broken(run_of: RunOf) -> None:
    facts = {f"q{i}": {"tokens_in": 100, "tokens_out": 10} for i in range(5)}
    head = run_of(dict(enumerate_ids([1] * 10)), facts=facts)
    assert only(budgets(head, Policy(budgets={"tokens": 10_000}))).readings[0] == "no_verdict"
    assert only(budgets(head, Policy(budgets={"tokens": 100}))).readings[0] == "fail"


def test_amounts_are_compared_item_by_item(run_of: RunOf) -> None:
    runs = [
        run_of(dict(enumerate_ids([1] * 30)), facts=sized(30, latency_s=lambda i, by=by: by * (1 + i % 5), tokens_in=lambda _: 7))
        for by in (1.0, 1.5)
    ]
    rows = {row.name: row for row in moved(pair(runs[1], runs[0]), Policy())}
    assert sorted(rows) == ["latency", "tokens"]
    assert rows["latency"].delta == pytest.approx(1.5)
    assert rows["tokens"].interval == pytest.approx((1.0, 1.0))


def sliced(run_of: RunOf, broken: int, *, size: int = 40) -> tuple[Run, Run]:
    facts = sized(200, tags=lambda i: ("joins",) if i < size else ())
    head = run_of(dict(enumerate_ids([0] * broken + [1] * (200 - broken))), facts=facts)
    return head, run_of(dict(enumerate_ids([1] * 200)), facts=facts)


def rules(*values: dict[str, Any], min_items: int = 30) -> Policy:
    return Policy(slices={"min_items": min_items, "rules": list(values)})


def test_a_rule_finds_the_slice_that_fell(run_of: RunOf) -> None:
    head, base = sliced(run_of, 6)
    check = only(ruled(pair(head, base), head, rules({"by": "tag", "value": "joins"})))
    assert check.readings == ("fail", "fail")
    assert check.row is not None
    assert (check.row.items, check.row.broke, check.row.gated) == (40, 6, True)


def test_rules_share_their_alpha(run_of: RunOf) -> None:
    head, base = sliced(run_of, 4)
    alone = only(ruled(pair(head, base), head, rules({"by": "tag", "value": "joins"})))
    together = ruled(pair(head, base), head, rules({"by": "tag", "value": "joins"}, {"by": "type", "value": "dql"}))
    assert [alone.readings[0], together[0].readings[0]] == ["fail", "undecided"]
    assert together[0].row is not None
    assert together[0].row.p_adjusted == pytest.approx(0.0625)


def test_small_slices_are_shown_and_never_gated(run_of: RunOf) -> None:
    head, base = sliced(run_of, 20, size=20)
    check = only(ruled(pair(head, base), head, rules({"by": "tag", "value": "joins"})))
    assert check.readings == ("pass", "pass")
    assert check.row is not None
    assert not check.row.gated
    assert [note.code for note in check.notes] == ["slice_too_small"]


def test_a_slices_own_min_drop_counts(run_of: RunOf) -> None:
    head, base = sliced(run_of, 6)
    check = only(ruled(pair(head, base), head, rules({"by": "tag", "value": "joins", "min_drop": 0.2})))
    assert check.readings == ("pass", "pass")


def test_a_slices_floor_needs_no_baseline_but_items(run_of: RunOf) -> None:
    head, _ = sliced(run_of, 6)
    rule = {"by": "tag", "value": "joins", "floor": 0.9}
    assert only(ruled(None, head, rules(rule))).readings == ("fail", "fail")
    assert only(ruled(None, head, rules(rule, min_items=41))).readings == ("pass", "pass")


def test_unmeasured_cases_of_a_slice_are_read_both_ways(run_of: RunOf) -> None:
    facts = sized(60, difficulty=lambda i: "hard" if i < 40 else "easy")
    head = run_of(dict(enumerate_ids(["unscored"] * 5 + [1] * 55)), facts=facts)
    comparison = pair(head, run_of(dict(enumerate_ids([1] * 60)), facts=facts))
    assert only(ruled(comparison, head, rules({"by": "difficulty", "value": "hard"}))).readings == ("pass", "fail")


def test_a_dialect_goes_by_any_of_its_names(run_of: RunOf) -> None:
    cases = {(f"q{i}", "postgres"): 1 for i in range(30)}
    head = run_of(cases)
    check = only(ruled(pair(head, head), head, rules({"by": "dialect", "value": "postgresql"})))
    assert check.row is not None
    assert check.row.items == 30


def test_every_slice_is_shown_with_its_adjusted_p(run_of: RunOf) -> None:
    facts = sized(80, tags=lambda i: (f"t{i % 2}",), difficulty=lambda i: "hard" if i < 40 else "easy")
    head = run_of(dict(enumerate_ids([0] * 6 + [1] * 74)), facts=facts)
    rows = {row.name: row for row in shown(pair(head, run_of(dict(enumerate_ids([1] * 80)), facts=facts)), Policy())}
    assert sorted(rows) == ["difficulty easy", "difficulty hard", "tag t0", "tag t1"]
    assert rows["difficulty hard"].p_adjusted == pytest.approx(4 * 2**-7)
    assert not any(row.gated for row in rows.values())
