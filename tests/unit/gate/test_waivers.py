"""Ways through: waivers that heal, trailers that name, a label that is coarse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from nl2sql_gate.compare import pair
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.judgement import Comparison
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy
from nl2sql_gate.verdict import decide
from nl2sql_gate.waivers import accept_all, accept_named, load, trailers, waive

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]
TODAY = date(2026, 3, 1)
GOOD = """
waivers:
  - {item: a, old: pass, new: fail, reason: the new tax rule, expiry: 2026-04-01, link: https://example.org/1}
  - {item: b, dialect: PostgreSQL, old: pass, new: sql_error, reason: planned, expiry: "2026-03-01"}
"""


def waived(comparison: Comparison, head: Run, text: str) -> Comparison:
    return waive(comparison, load(text, path="waivers.yml", today=TODAY), metric=METRIC, head=head)


def entry(**changed: Any) -> str:
    said = {"item": "a", "old": "pass", "new": "fail", "reason": "meant", "expiry": "2026-04-01", **changed}
    return "- {" + ", ".join(f"{key}: {value}" for key, value in said.items() if value is not None) + "}"


def test_waivers_load_with_dialects_unified() -> None:
    first, second = load(GOOD, path="waivers.yml", today=TODAY)
    assert (first.item, first.dialect, first.link) == ("a", "", "https://example.org/1")
    assert (second.dialect, second.expiry) == ("postgres", TODAY)
    assert load("", path="waivers.yml", today=TODAY) == ()


@pytest.mark.parametrize(
    "text, words",
    [
        (entry(expiry="2026-02-28"), "expired"),
        (entry(reason=None), "reason is missing"),
        (entry(expiry=None), "expiry is missing"),
        (entry(expiry="soon"), "is no date"),
        (entry(new="worse"), "none of pass"),
        (entry(dialects="mysql"), "unknown key dialects"),
        ("waivers: 3", "expected a list"),
        ("- a", "expected a mapping"),
        ("- {", "cannot be read"),
    ],
)
def test_a_bad_or_expired_waiver_is_a_usage_error(text: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(text, path="waivers.yml", today=TODAY)
    assert words in str(caught.value)
    assert "waivers.yml" in str(caught.value)


def test_a_waived_item_leaves_the_test_and_is_shown(run_of: RunOf) -> None:
    head = run_of({"a": 0, **{f"q{i}": 1 for i in range(9)}})
    comparison = waived(pair(head, run_of({"a": 1, **{f"q{i}": 1 for i in range(9)}})), head, entry())
    verdict = decide(comparison, head, Policy())
    assert verdict.status == "pass"
    assert [(e.key.id, e.kind, e.reason, e.expiry) for e in verdict.excluded] == [("a", "waiver", "meant", "2026-04-01")]
    assert [note.message for note in verdict.notes] == ["1 case left out by waiver"]
    assert verdict.rows[0].items == 9


def test_a_waiver_for_one_dialect_leaves_the_others(run_of: RunOf) -> None:
    cases = {("a", "mysql"): 0, ("a", "sqlite"): 0}
    head = run_of(cases)
    comparison = waived(pair(head, run_of(dict.fromkeys(cases, 1))), head, entry(dialect="mysql"))
    assert [exclusion.key.dialect for exclusion in comparison.excluded] == ["mysql"]


def test_all_trials_of_a_waived_item_go(run_of: RunOf) -> None:
    old = {("a", "sqlite", "s", trial): 1 for trial in (1, 2, 3)}
    head = run_of({**old, ("a", "sqlite", "s", 2): 0})
    assert len(waived(pair(head, run_of(old)), head, entry()).excluded) == 3


@pytest.mark.parametrize(
    "new, waiver",
    [(1, entry()), (0, entry(item="zz")), (0, entry(new="sql_error")), (0, entry(dialect="mysql")), (0, entry(old="fail"))],
)
def test_a_waiver_that_matches_nothing_is_an_error(new: int, waiver: str, run_of: RunOf) -> None:
    head = run_of({"a": new})
    with pytest.raises(SettingsError, match="match nothing"):
        waived(pair(head, run_of({"a": 1})), head, waiver)


def test_what_was_not_measured_or_not_run_cannot_retire_a_waiver(run_of: RunOf) -> None:
    base = run_of({"a": 1, "b": 1})
    hung, partial = run_of({"a": "unscored", "b": 1}), run_of({"b": 1}, complete=False)
    assert [waived(pair(head, base), head, entry()).excluded for head in (hung, partial)] == [(), ()]


def test_trailers_name_items_and_reasons() -> None:
    message = "Rework the join\n\nNl2sql-Gate-Accept: orders-017:mysql a (new tax rule)\r\nnl2sql-gate-accept: x y, z\nOther: q\n"
    assert trailers([message, "none"]) == (
        ("orders-017:mysql", "new tax rule"),
        ("a", "new tax rule"),
        ("x y", ""),
        ("z", ""),
    )


def test_a_trailer_accepts_what_broke_and_says_what_did_not(run_of: RunOf) -> None:
    cases = {("a", "mysql"): 0, ("a", "sqlite"): 0, ("b", "sqlite"): 1}
    head = run_of(cases)
    comparison = accept_named(pair(head, run_of(dict.fromkeys(cases, 1))), [("a:MySQL", "why"), ("b", "")], metric=METRIC)
    assert [(e.key.dialect, e.kind, e.reason) for e in comparison.excluded] == [("mysql", "trailer", "why")]
    assert comparison.unused == ("b",)
    assert any(note.code == "accepted_unbroken" for note in decide(comparison, head, Policy()).notes)


def test_a_trailer_about_nothing_is_an_error(run_of: RunOf) -> None:
    head = run_of({"a": 0})
    with pytest.raises(SettingsError, match="Nl2sql-Gate-Accept names 1 item"):
        accept_named(pair(head, run_of({"a": 1})), [("orders-17", "")], metric=METRIC)


def test_a_label_accepts_all_that_broke_but_not_the_floor(run_of: RunOf) -> None:
    head = run_of({f"q{i}": int(i > 19) for i in range(40)})
    comparison = accept_all(pair(head, run_of({f"q{i}": 1 for i in range(40)})), "nl2sql-accept", metric=METRIC)
    assert len(comparison.excluded) == 20
    assert decide(comparison, head, Policy()).status == "pass"
    assert decide(comparison, head, Policy(floors={METRIC: 0.9})).status == "fail"
