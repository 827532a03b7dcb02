"""Runs out of plain words, for tests of comparing and deciding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from nl2sql_gate.records import CaseKey, CaseResult, Run, Score, ScoreFault

METRIC = "execution_accuracy"
RunOf = Callable[..., Run]


def _case(key: CaseKey, given: Any, facts: Mapping[str, Any]) -> CaseResult:
    if isinstance(given, str):
        zero = {METRIC: Score(0.0)} if given in {"no_sql", "sql_error", "timeout"} else {}
        return CaseResult(key, given, facts.get("digest", "d"), scores=zero, **_other(facts))
    score = ScoreFault("crashed") if given is None else Score(float(given))
    return CaseResult(key, "answered", facts.get("digest", "d"), scores={METRIC: score}, **_other(facts))


def _other(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name != "digest"}


def _run_of(cases: Mapping[Any, Any], **others: Any) -> Run:
    """A run from {id or (id, dialect, database, trial): value, outcome or None for a scorer's fault}.

    `facts` maps an id to fields of its cases; `fingerprint` and the other fields of `Run` by name.
    """
    facts = others.pop("facts", {})
    results = []
    for name, given in cases.items():
        parts = name if isinstance(name, tuple) else (name,)
        key = CaseKey(*(*parts, *("sqlite", "shop", 1)[len(parts) - 1 :]))
        results.append(_case(key, given, facts.get(key.id, {})))
    provenance = {"fingerprint": others.pop("fingerprint", {})}
    return Run(tuple(results), others.pop("metrics", (METRIC,)), provenance, **others)


@pytest.fixture(scope="session")
def run_of() -> RunOf:
    """The builder of runs."""
    return _run_of
