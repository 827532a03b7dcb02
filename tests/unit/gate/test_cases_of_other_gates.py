"""The cases of kind `gate` of the collected bug reports, each under the interface's words for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from nl2sql_gate.compare import pair
from nl2sql_gate.judgement import Comparison, Verdict
from nl2sql_gate.records import Run
from nl2sql_gate.settings import Policy
from nl2sql_gate.verdict import decide, exit_code

METRIC = "execution_accuracy"
WORDS = {"generation_error": "unscored", "predicted_error": "sql_error"}
SETTINGS = {"min_ex": ("floors", METRIC), "max_drop": ("min_drop", ""), "max_drp": ("min_drp", "")}
SAID = {"min_ex": METRIC, "max_drop": "min_drop", "max_drp": "min_drp"}


def gate_cases(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "cases" / "public.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == "gate"]


def policy_of(given: dict[str, Any]) -> Policy:
    settings: dict[str, Any] = {}
    for name, value in given.get("thresholds", {}).items():
        if name in SETTINGS:
            key, inner = SETTINGS[name]
            settings[key] = {inner: value} if inner else value
    strict = {"max_regressed_cases", "min_case_pass_rate"} & given.get("thresholds", {}).keys()
    if strict:
        current = given["current"]
        settings["required"] = {"ids": list(current.get("cases", current.get("repeats")))}
    return Policy(**settings)


def run_from(side: dict[str, Any], run_of: Callable[..., Run]) -> Run:
    if "repeats" in side:
        return run_of({(name, "sqlite", "shop", i): v for name, values in side["repeats"].items() for i, v in enumerate(values)})
    return run_of({name: WORDS.get(value, value) for name, value in side["cases"].items()})


def test_every_gate_case_has_its_outcome(shared_data: Path, run_of: Callable[..., Run]) -> None:
    wrong = []
    cases = gate_cases(shared_data)
    for case in cases:
        wrong += [f"{case['id']}: {problem}" for problem in problems(case["given"], case["expect"], run_of)]
    assert wrong == []
    assert len(cases) == 18


def problems(given: dict[str, Any], expect: dict[str, Any], run_of: Callable[..., Run]) -> list[str]:
    if expect.get("verdict") == "config_error":
        with pytest.raises(ValidationError) as caught:
            policy_of(given)
        return [f"{name} is not named" for name in expect["mentions"] if SAID[name] not in str(caught.value)]
    policy, head = policy_of(given), run_from(given["current"], run_of)
    baseline = given.get("baseline")
    comparison = pair(head, run_from(baseline, run_of)) if baseline else None
    verdict = decide(comparison, head, policy)
    return [
        *exits(verdict, policy, expect),
        *figures(verdict, expect),
        *lists(comparison, expect),
        *said(verdict, comparison, expect),
    ]


def exits(verdict: Verdict, policy: Policy, expect: dict[str, Any]) -> list[str]:
    code = exit_code(verdict, policy)
    found = [f"exit {code}"] if (code != 0) != expect.get("exit_nonzero", code != 0) else []
    return [*found, f"exit {code}"] if code != expect.get("exit", code) else found


def figures(verdict: Verdict, expect: dict[str, Any]) -> list[str]:
    accuracy, coverage = verdict.accuracy.get(METRIC), verdict.coverage[METRIC].share
    value = None if accuracy is None else accuracy.value
    found = [f"EX {value}"] if "EX" in expect and value != expect["EX"] else []
    return [*found, f"coverage {coverage}"] if coverage != expect.get("coverage", coverage) else found


def lists(comparison: Comparison | None, expect: dict[str, Any]) -> list[str]:
    if comparison is None:
        return []
    changes = comparison.by(METRIC)
    named = {"regressed": changes.broke, "improved": changes.fixed, "vanished": comparison.removed, "new": comparison.new}
    ids = {name: [both.key.id for both in pairs] for name, pairs in named.items()}
    wrong = [f"{name} {ids[name]}" for name in named if name in expect and ids[name] != expect[name]]
    return [*wrong, "called an improvement"] if "not_reported_as" in expect and changes.fixed else wrong


def said(verdict: Verdict, comparison: Comparison | None, expect: dict[str, Any]) -> list[str]:
    text = json.dumps([verdict.to_json(), comparison.to_json() if comparison else None])
    return [f"{words!r} is not said" for words in expect.get("mentions", ()) if words not in text]
