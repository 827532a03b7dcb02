"""Pairing two runs: what is compared, what is not, and that each is named."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from nl2sql_gate.compare import confirm, pair, to_ask_again
from nl2sql_gate.errors import BaselineError, DatasetError
from nl2sql_gate.records import CaseKey, CaseResult, Run, Score

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]


def ids(pairs: tuple) -> list[str]:
    return [both.key.id for both in pairs]


def test_every_pair_is_in_one_list_in_the_heads_order(run_of: RunOf) -> None:
    head = run_of({"e": 1, "d": 0, "c": 0, "b": 1, "a": "unscored", "f": None, "g": 0.5})
    base = run_of({"a": 1, "b": 0, "c": 1, "d": 0, "e": 1, "f": 1, "g": 0.9})
    changes = pair(head, base).by(METRIC)
    found = [ids(getattr(changes, name)) for name in ("broke", "fixed", "passing", "failing", "unmeasured")]
    assert found == [["c"], ["b"], ["e"], ["d", "g"], ["a", "f"]]


def test_model_failures_are_zero_and_golden_errors_are_nobodys(run_of: RunOf) -> None:
    head = run_of({"a": "sql_error", "b": "no_sql", "c": "timeout", "d": "golden_error", "e": "skipped"})
    comparison = pair(head, run_of(dict.fromkeys("abcde", 1)))
    assert ids(comparison.by(METRIC).broke) == ["a", "b", "c"]
    assert ids(comparison.golden_errors) == ["d"]
    assert ids(comparison.skipped) == ["e"]
    assert comparison.paired_share == 0.6


def test_a_changed_item_is_listed_and_not_paired(run_of: RunOf) -> None:
    head = run_of({"a": 0, "b": 1}, facts={"a": {"digest": "new"}})
    comparison = pair(head, run_of({"a": 1, "b": 1}))
    assert ids(comparison.changed) == ["a"]
    assert ids(comparison.pairs) == ["b"]
    assert comparison.paired_share == 0.5


def test_new_and_removed_items_are_named(run_of: RunOf) -> None:
    comparison = pair(run_of({"a": 1, "n": 0}), run_of({"a": 1, "r": 0}))
    assert (ids(comparison.new), ids(comparison.removed)) == (["n"], ["r"])
    assert comparison.new[0].old is None
    assert comparison.removed[0].new is None


def test_fewer_trials_delete_nothing(run_of: RunOf) -> None:
    base = run_of({(name, "sqlite", "shop", trial): 1 for name in "ab" for trial in (1, 2, 3)})
    comparison = pair(run_of({"a": 1, "b": 1}), base)
    assert comparison.paired_share == 1.0
    assert comparison.lone_trials == 4
    assert not comparison.removed


def test_dialects_are_cases_of_their_own(run_of: RunOf) -> None:
    base = run_of({("a", "sqlite"): 1, ("a", "postgres"): 1})
    comparison = pair(run_of({("a", "sqlite"): 1, ("a", "postgres"): 0}), base)
    assert [both.key.dialect for both in comparison.by(METRIC).broke] == ["postgres"]


@pytest.mark.parametrize("twice, error", [("head", DatasetError), ("baseline", BaselineError)])
def test_two_cases_of_one_key_are_refused(twice: str, error: type[Exception], run_of: RunOf) -> None:
    case = CaseResult(CaseKey("a", "sqlite", "shop", 1), "answered", "d")
    double, single = Run((case, case), (METRIC,), {}), run_of({"a": 1})
    with pytest.raises(error, match="two cases of one key"):
        pair(double if twice == "head" else single, double if twice == "baseline" else single)


def test_nothing_in_common_is_incomparable(run_of: RunOf) -> None:
    why = pair(run_of({"a": 1}), run_of({"b": 1})).incomparable
    assert why is not None
    assert why.code == "nothing_paired"
    assert "no case in common" in why.message


def test_an_empty_baseline_and_an_empty_run_are_incomparable(run_of: RunOf) -> None:
    reasons = [pair(run_of({"a": 1}), run_of({})).incomparable, pair(run_of({}), run_of({"a": 1})).incomparable]
    assert [reason.code for reason in reasons if reason] == ["baseline_empty", "nothing_run"]


def test_runs_without_a_common_metric_are_incomparable(run_of: RunOf) -> None:
    why = pair(run_of({"a": 1}), run_of({"a": 1}, metrics=("other",))).incomparable
    assert why is not None
    assert why.code == "no_common_metric"
    assert pair(run_of({"a": 1}), run_of({"a": 1})).by("other").incomparable is not None


def test_scorers_of_two_versions_never_compare(run_of: RunOf) -> None:
    prints = [{"scorers": {METRIC: version}} for version in ("1", "2")]
    comparison = pair(run_of({"a": 1}, fingerprint=prints[1]), run_of({"a": 1}, fingerprint=prints[0]))
    why = comparison.by(METRIC).incomparable
    assert why is not None
    assert "rescore" in why.detail["next_step"]
    assert comparison.differences[0].severity == "refuse"


def test_versions_in_the_scores_count_where_the_fingerprint_is_silent(run_of: RunOf) -> None:
    newer = CaseResult(CaseKey("a", "sqlite", "shop", 1), "answered", "d", scores={METRIC: Score(1.0, version="2")})
    comparison = pair(Run((newer,), (METRIC,), {}), run_of({"a": 1}))
    assert comparison.by(METRIC).incomparable is not None


def test_partial_runs_are_announced(run_of: RunOf) -> None:
    comparison = pair(run_of({"a": 1}), run_of({"a": 1}, complete=False))
    assert [(d.subject, d.severity) for d in comparison.differences] == [("baseline.complete", "announce")]


def test_json_is_plain_sorted_and_the_same_twice(run_of: RunOf) -> None:
    runs = run_of({"a": 0, "b": "unscored", "c": 1}), run_of({"a": 1, "b": 1, "d": 1})
    texts = [json.dumps(pair(*runs).to_json()) for _ in range(2)]
    assert texts[0] == texts[1]
    assert json.dumps(pair(*runs).to_json(), sort_keys=True) == texts[0]


def test_confirmation_uses_fresh_answers_alone(run_of: RunOf) -> None:
    first = pair(run_of({"a": 0, "b": 1, "c": 1, "d": 0}), run_of({"a": 1, "b": 0, "c": 1, "d": 1}))
    assert [key.id for key in to_ask_again(first, METRIC)] == ["a", "b", "d"]
    again = pair(run_of({"a": 0, "b": 1}), run_of({"a": 1, "b": 1}))
    confirmed = confirm(first, again, METRIC).by(METRIC)
    assert tuple(ids(pairs) for pairs in (confirmed.broke, confirmed.fixed, confirmed.passing, confirmed.unmeasured)) == (
        ["a"],
        [],
        ["b", "c"],
        ["d"],
    )
