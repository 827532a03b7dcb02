"""Differences of provenance: what is announced, what restricts, what refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nl2sql_gate.compare import pair
from nl2sql_gate.fingerprint import differences, replaced_products
from nl2sql_gate.records import Run

METRIC = "execution_accuracy"
BASE: dict[str, Any] = {
    "dataset": {"digest": "d1"},
    "data": {"sqlite/shop": "x1"},
    "engines": {"sqlite": {"dialect": "sqlite", "product": "SQLite", "version": "3.40.1", "way": "embedded"}},
    "model": {"name": "m", "params": {"temperature": 0}, "served": ["m-1"]},
    "prompt": {"digest": "p1"},
    "scorers": {METRIC: "1", "other": "1"},
    "settings": {"scoring": {"columns": "position"}, "limits": {"rows": 100}, "trials": 1},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    def put(tree: dict[str, Any], parts: list[str]) -> dict[str, Any]:
        return {**tree, parts[0]: put(tree[parts[0]], parts[1:]) if parts[1:] else value}

    return put(BASE, path.split("/"))


@pytest.mark.parametrize(
    "path, value, severity, words",
    [
        ("scorers/other", "2", "refuse", "not compared"),
        ("settings/scoring/columns", "superset", "refuse", "not compared"),
        ("engines/sqlite/product", "libSQL", "restrict", "not paired"),
        ("engines/sqlite/version", "3.50.0", "announce", "3.40.1 → 3.50.0"),
        ("dataset/digest", "d2", "restrict", "d1 → d2"),
        ("data/sqlite~shop", "x2", "restrict", "x1"),
        ("prompt/digest", "p2", "announce", "p1 → p2"),
        ("model/served", ["m-2"], "announce", "serves another model"),
        ("model/params/temperature", 1, "announce", "0 → 1"),
        ("settings/limits/rows", 10, "announce", "part of the task"),
        ("settings/trials", 3, "restrict", "only trials"),
    ],
)
def test_each_difference_has_its_severity(path: str, value: Any, severity: str, words: str) -> None:
    new = {**BASE, "data": {"sqlite/shop": value}} if path.startswith("data/") else changed(path, value)
    found = differences(BASE, new)
    assert [severity] == [difference.severity for difference in found]
    assert words in found[0].message


def test_equal_fingerprints_differ_in_nothing() -> None:
    assert differences(BASE, dict(BASE)) == ()


def test_the_gravest_comes_first() -> None:
    new = {**changed("scorers/other", "2"), "prompt": {"digest": "p2"}, "dataset": {"digest": "d2"}}
    assert [difference.severity for difference in differences(BASE, new)] == ["refuse", "restrict", "announce"]


def test_a_baseline_without_a_fingerprint_says_so() -> None:
    assert "does not say" in differences({}, BASE)[0].message
    assert differences({}, {}) == ()


def test_a_part_that_one_side_lacks_is_announced() -> None:
    without = {name: part for name, part in BASE.items() if name != "scorers"}
    assert {"announce"} == {difference.severity for difference in differences(without, BASE)}
    assert "not stated" in differences(without, BASE)[0].message


def test_only_the_metric_of_the_changed_scorer_is_refused(run_of: Callable[..., Run]) -> None:
    new = changed("scorers/other", "2")
    comparison = pair(run_of({"a": 1}, fingerprint=new), run_of({"a": 1}, fingerprint=BASE))
    assert comparison.by(METRIC).incomparable is None


def test_cases_on_another_product_are_not_paired(run_of: Callable[..., Run]) -> None:
    new = changed("engines/sqlite/product", "libSQL")
    assert frozenset({"sqlite"}) == replaced_products(BASE, new)
    cases = {("a", "sqlite"): 1, ("a", "postgres"): 1}
    comparison = pair(run_of(cases, fingerprint=new), run_of(cases, fingerprint=BASE))
    assert [both.key.dialect for both in comparison.pairs] == ["postgres"]
    assert comparison.paired_share == 0.5
