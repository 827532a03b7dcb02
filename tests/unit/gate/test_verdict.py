"""Four verdicts, what is missing read both ways, and the exit codes of the policy's words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2sql_gate.compare import pair
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy, Required
from nl2sql_gate.verdict import Evidence, decide, exit_code, without_run

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]


def numbered(values: list[Any]) -> dict[str, Any]:
    return {f"q{index:03}": value for index, value in enumerate(values)}


def codes(verdict: Verdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


@pytest.fixture
def judged(run_of: RunOf) -> Callable[..., Verdict]:
    """The verdict on two lists of values, item by item."""

    def judge(old: list[Any], new: list[Any], policy: Policy | None = None, **facts: Any) -> Verdict:
        head = run_of(numbered(new), facts=facts)
        return decide(pair(head, run_of(numbered(old), facts=facts)), head, policy or Policy())

    return judge


Judged = Callable[..., Verdict]


def test_a_proven_drop_fails_and_names_its_figures(judged: Judged) -> None:
    verdict = judged([1] * 150 + [0] * 50, [0] * 12 + [1] * 141 + [0] * 47)
    row = verdict.rows[0]
    assert verdict.status == "fail"
    assert codes(verdict) == ["drop_proven"]
    assert (row.broke, row.fixed, row.items) == (12, 3, 200)
    assert row.delta == -0.045
    assert row.p == pytest.approx(0.0106, abs=0.0001)
    assert row.interval == pytest.approx((-0.0778, -0.0121), abs=0.001)
    assert exit_code(verdict, Policy()) == 1


def test_the_same_run_passes_and_says_what_it_could_have_seen(judged: Judged) -> None:
    verdict = judged([1] * 150 + [0] * 50, [1] * 150 + [0] * 50)
    assert verdict.status == "pass"
    assert verdict.rows[0].delta == 0
    assert verdict.rows[0].provable == pytest.approx(0.0274, abs=0.0001)
    assert (verdict.rows[0].items_to_halve, verdict.rows[0].trials_to_halve) == (402, None)
    assert "could prove a drop of 2.7 points" in verdict.rows[0].words
    assert exit_code(verdict, Policy(on_undecided="fail")) == 0


def test_three_of_thirty_broken_is_no_pass(judged: Judged) -> None:
    verdict = judged([1] * 30, [0] * 3 + [1] * 27)
    assert verdict.status == "undecided"
    assert codes(verdict) == ["drop_not_proven"]
    assert (exit_code(verdict, Policy()), exit_code(verdict, Policy(on_undecided="fail"))) == (0, 1)


def test_a_proven_drop_below_min_drop_passes(judged: Judged) -> None:
    verdict = judged([1] * 1000, [0] * 9 + [1] * 991)
    assert verdict.status == "pass"
    assert "less than min_drop" in verdict.rows[0].words


def test_a_drop_of_exactly_min_drop_counts(judged: Judged) -> None:
    assert judged([1] * 200, [0] * 4 + [1] * 196, Policy(min_drop=0.02)).status == "fail"


def test_no_drop_is_a_pass_even_where_min_drop_is_nothing(judged: Judged) -> None:
    assert judged([1, 0], [1, 0], Policy(min_drop=0)).status == "pass"


def test_non_inferiority_must_prove_that_nothing_was_lost(judged: Judged) -> None:
    policy = Policy(mode="non_inferiority", min_drop=0.05)
    assert judged([1] * 200, [1] * 200, policy).status == "pass"
    assert judged([1] * 30 + [0] * 10, [0] * 3 + [1] * 27 + [0] * 7 + [1] * 3, policy).status == "undecided"
    assert judged([1] * 200, [0] * 40 + [1] * 160, policy).status == "fail"


def test_an_endpoint_that_hangs_where_it_would_fail_never_passes(judged: Judged) -> None:
    old = [1] * 160 + [0] * 40
    hidden: list[Any] = ["unscored"] * 16 + [1] * 144 + ["unscored"] * 40
    verdict = judged(old, hidden)
    assert verdict.status == "no_verdict"
    assert exit_code(verdict, Policy()) == 3
    assert judged(old, hidden, Policy(min_coverage=0)).status == "no_verdict"


def test_what_is_missing_is_read_both_ways(judged: Judged) -> None:
    verdict = judged([1] * 100, ["unscored"] * 8 + [1] * 92)
    assert verdict.readings == ("pass", "fail")
    assert verdict.status == "no_verdict"
    assert codes(verdict)[0] == "unmeasured_decides"
    assert "8 of 100 cases have no value" in verdict.reasons[0].message


def test_missing_cases_that_cannot_matter_leave_the_verdict(judged: Judged) -> None:
    assert judged([1] * 100, ["unscored"] + [1] * 99).status == "pass"


def test_a_proven_failure_stays_whichever_way_the_unmeasured_go(judged: Judged) -> None:
    verdict = judged([1] * 100, [0] * 20 + ["unscored"] * 5 + [1] * 75)
    assert verdict.readings == ("fail", "fail")
    assert exit_code(verdict, Policy()) == 1


def test_a_proven_failure_comes_before_low_coverage(judged: Judged) -> None:
    verdict = judged([1] * 100 + [0] * 40, [0] * 60 + [1] * 40 + ["unscored"] * 40)
    assert verdict.status == "fail"
    assert codes(verdict) == ["drop_proven", "low_coverage"]
    assert exit_code(verdict, Policy()) == 1


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.booleans()), min_size=1, max_size=24),
    st.sampled_from(["regression", "non_inferiority"]),
)
def test_hiding_answers_never_turns_a_failure_into_a_pass(run_of: RunOf, cases: list[tuple[int, int, bool]], mode: str) -> None:
    policy = Policy(mode=mode, min_coverage=0, min_drop=0.1)
    base, open_, hidden = (
        run_of(numbered(values))
        for values in (
            [old for old, _, _ in cases],
            [new for _, new, _ in cases],
            ["unscored" if hide else new for _, new, hide in cases],
        )
    )
    said = [decide(pair(head, base), head, policy).status for head in (open_, hidden)]
    assert said[0] == "pass" or said[1] != "pass"


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=24), st.integers(0, 23))
def test_one_more_broken_item_never_helps(run_of: RunOf, cases: list[tuple[int, int]], at: int) -> None:
    base = run_of(numbered([old for old, _ in cases]))
    heads = [
        run_of(numbered([0 if worse and i == at % len(cases) else new for i, (_, new) in enumerate(cases)])) for worse in (0, 1)
    ]
    gravity = ["pass", "undecided", "fail"]
    before, after = (gravity.index(decide(pair(head, base), head, Policy()).status) for head in heads)
    assert before <= after


def test_a_scorers_fault_is_missing_too(judged: Judged) -> None:
    assert judged([1] * 50, [None] * 4 + [1] * 46).status == "no_verdict"


def test_what_the_baseline_did_not_measure_is_not_compared(judged: Judged) -> None:
    verdict = judged([1] * 99 + ["unscored"], [1] * 100)
    assert verdict.status == "pass"
    assert verdict.rows[0].items == 99


def test_deleting_hard_items_is_no_pass(run_of: RunOf) -> None:
    base = run_of(numbered([1] * 60 + [0] * 40))
    head = run_of(numbered([1] * 60))
    verdict = decide(pair(head, base), head, Policy())
    assert (verdict.status, codes(verdict)[0]) == ("no_verdict", "low_pairing")
    assert "40 removed" in verdict.reasons[0].message


def test_breaking_the_goldens_of_hard_items_is_no_pass(judged: Judged) -> None:
    assert codes(judged([1] * 60 + [0] * 40, [1] * 60 + ["golden_error"] * 40))[0] == "low_pairing"


def test_nothing_measured_is_never_a_pass(judged: Judged) -> None:
    policy = Policy(min_coverage=0, min_paired=0, on_no_verdict="warn")
    for outcome in ("unscored", "golden_error", "skipped", None):
        verdict = judged([1] * 10, [outcome] * 10, policy)
        assert verdict.status == "no_verdict"
        assert "0 items were measured" in json.dumps(verdict.to_json())
        assert exit_code(verdict, Policy()) == 3


@pytest.mark.parametrize("word, code", [("warn", 0), ("bless", 0), ("fail", 3)])
def test_no_baseline_by_the_policys_word(word: str, code: int, run_of: RunOf) -> None:
    policy = Policy(on_missing_baseline=word)
    verdict = decide(None, run_of(numbered([1] * 10)), policy)
    assert (verdict.status, codes(verdict)) == ("no_verdict", ["no_baseline"])
    assert code == exit_code(verdict, policy)


def test_floors_hold_without_a_baseline(run_of: RunOf) -> None:
    policy = Policy(floors={METRIC: 0.7})
    assert exit_code(decide(None, run_of(numbered([1] * 7 + [0] * 3)), policy), policy) == 0
    below = decide(None, run_of(numbered([1] * 6 + [0] * 4)), policy)
    assert (below.status, exit_code(below, policy)) == ("fail", 1)


def test_required_items_hold_without_a_baseline(run_of: RunOf) -> None:
    policy = Policy(required=Required(ids=("q000",)))
    verdict = decide(None, run_of(numbered([0] + [1] * 9)), policy)
    assert codes(verdict)[0] == "required_broken"
    assert exit_code(verdict, policy) == 1


def test_no_baseline_does_not_excuse_low_coverage(run_of: RunOf) -> None:
    verdict = decide(None, run_of(numbered([1] * 5 + ["unscored"] * 5)), Policy())
    assert exit_code(verdict, Policy()) == 3


@pytest.mark.parametrize("word, code", [("warn", 0), ("fail", 3)])
def test_no_credentials_by_the_policys_word(word: str, code: int) -> None:
    verdict = without_run("no_credentials", "no key in a fork's pull request")
    assert verdict.status == "no_verdict"
    assert code == exit_code(verdict, Policy(on_no_credentials=word))


def test_a_dead_endpoint_is_three_unless_the_policy_warns() -> None:
    verdict = without_run("endpoint_dead", "no answer")
    assert (exit_code(verdict, Policy()), exit_code(verdict, Policy(on_no_verdict="warn"))) == (3, 0)


def test_readings_that_both_exit_with_one_do(judged: Judged) -> None:
    verdict = judged([1] * 100, [0] * 3 + ["unscored"] * 5 + [1] * 92)
    assert verdict.readings == ("undecided", "fail")
    assert (exit_code(verdict, Policy()), exit_code(verdict, Policy(on_undecided="fail"))) == (3, 1)


def test_incomparable_scores_give_no_verdict_and_the_way_out(run_of: RunOf) -> None:
    head, base = (run_of(numbered([1] * 5), fingerprint={"scorers": {METRIC: version}}) for version in "21")
    verdict = decide(pair(head, base), head, Policy())
    assert (verdict.status, codes(verdict)) == ("no_verdict", ["incomparable_scores"])
    assert "rescore" in json.dumps(verdict.to_json())


def test_differences_and_gaps_are_said_beside_a_pass(run_of: RunOf) -> None:
    head = run_of(numbered([1] * 12), fingerprint={"prompt": {"digest": "b"}})
    base = run_of(numbered([1] * 10), fingerprint={"prompt": {"digest": "a"}})
    verdict = decide(pair(head, base), head, Policy())
    assert verdict.status == "pass"
    assert [note.code for note in verdict.notes] == ["difference", "partly_compared"]
    assert "10 of 12 cases were compared" in verdict.notes[1].message


def test_slow_creep_is_seen_against_the_anchor(run_of: RunOf) -> None:
    head, base = run_of(numbered([0] * 22 + [1] * 178)), run_of(numbered([0] * 21 + [1] * 179))
    anchor = run_of(numbered([1] * 200))
    verdict = decide(pair(head, base), head, Policy(), evidence=Evidence(anchor=pair(head, anchor)))
    assert (verdict.status, codes(verdict)) == ("fail", ["anchor_drop_proven"])
    assert [row.status for row in verdict.rows if row.kind == "anchor"] == ["fail"]


def test_an_anchor_that_cannot_be_compared_gives_no_verdict(run_of: RunOf) -> None:
    head = run_of(numbered([1] * 20))
    verdict = decide(pair(head, head), head, Policy(), evidence=Evidence(anchor=pair(head, run_of({"x": 1}))))
    assert (verdict.status, codes(verdict)) == ("no_verdict", ["anchor_incomparable"])


def test_calibrated_churn_replaces_the_churn_of_this_comparison(run_of: RunOf) -> None:
    head = run_of(numbered([1] * 200))
    verdict = decide(pair(head, head), head, Policy(), evidence=Evidence(churn=0.1))
    assert (verdict.rows[0].churn, verdict.rows[0].provable) == (0.1, pytest.approx(0.0712, abs=0.0001))


def test_another_look_is_shown_and_decides_nothing(run_of: RunOf) -> None:
    head, worse = run_of(numbered([1] * 50)), run_of(numbered([0] * 10 + [1] * 40))
    verdict = decide(pair(head, head), head, Policy(), evidence=Evidence(informing=pair(worse, head)))
    shown = [row for row in verdict.rows if row.kind == "confirmation"]
    assert verdict.status == "pass"
    assert [(row.broke, row.gated) for row in shown] == [(10, False)]


def test_other_metrics_are_shown_and_decide_nothing(run_of: RunOf) -> None:
    both = (METRIC, "execution_accuracy_bird")
    head = run_of(numbered(["sql_error"] * 9 + [1] * 11), metrics=both)
    base = run_of(numbered(["sql_error"] * 9 + [1] * 11), metrics=both)
    rows = decide(pair(head, base), head, Policy()).rows
    assert [(row.metric, row.gated) for row in rows] == [(METRIC, True), ("execution_accuracy_bird", False)]


def test_several_dialects_are_one_item(run_of: RunOf) -> None:
    dialects = ("sqlite", "postgres", "mysql", "duckdb")
    old = {(f"q{i}", dialect): 1 for i in range(60) for dialect in dialects}
    new = {key: 0 if key[0] in {"q1", "q2", "q3"} else 1 for key in old}
    head = run_of(new)
    verdict = decide(pair(head, run_of(old)), head, Policy())
    assert (verdict.status, verdict.rows[0].p) == ("undecided", 0.0625)
    assert (verdict.rows[0].items, verdict.rows[0].baseline.n if verdict.rows[0].baseline else 0) == (60, 240)


def test_whole_databases_are_flipped_where_there_are_five(run_of: RunOf) -> None:
    old = {(f"q{i}", "sqlite", f"db{i % 5}"): 1 for i in range(50)}
    new = {key: 0 if key[2] == "db0" else 1 for key in old}
    head = run_of(new)
    comparison = pair(head, run_of(old))
    by_item, by_database = (decide(comparison, head, Policy(cluster=word)) for word in ("item", "database"))
    assert (by_item.status, by_database.status) == ("fail", "undecided")
    assert by_item.rows[0].p_database == by_database.rows[0].p == 0.25


def test_too_few_databases_fall_back_to_items_and_say_so(judged: Judged) -> None:
    verdict = judged([1] * 50, [1] * 50, Policy(cluster="database"))
    assert [note.code for note in verdict.notes] == ["cluster_fallback"]


@pytest.mark.parametrize(
    "policy, words",
    [
        ({"required": {"ids": ["q999"]}}, "policy.required.ids: q999"),
        ({"required": {"tags": ["vip"]}}, "policy.required.tags: vip"),
        ({"slices": {"rules": [{"by": "tag", "value": "joins"}]}}, "tag joins"),
        ({"slices": {"rules": [{"by": "dialect", "value": "mysql"}]}}, "dialect mysql"),
    ],
)
def test_rules_about_nothing_are_usage_errors(policy: Mapping[str, Any], words: str, run_of: RunOf) -> None:
    with pytest.raises(SettingsError) as caught:
        decide(None, run_of(numbered([1])), Policy(**policy))
    assert words in str(caught.value)


def test_a_partial_run_cannot_vouch_for_required_items_it_left_out(run_of: RunOf) -> None:
    policy = Policy(required=Required(ids=("q001", "q009")), on_missing_baseline="warn")
    verdict = decide(None, run_of(numbered([1, 1]), complete=False), policy)
    assert verdict.readings == ("no_verdict", "fail")
    assert exit_code(verdict, policy) == 3


def test_the_verdict_is_plain_json_and_the_same_twice(judged: Judged) -> None:
    texts = [json.dumps(judged([1] * 40, [0] * 5 + ["unscored"] + [1] * 34).to_json()) for _ in range(2)]
    assert texts[0] == texts[1]
    assert json.dumps(json.loads(texts[0]), sort_keys=True) == texts[0]
