"""What every scorer owes: a name, a version, rules in its docstring, a line in the documentation, a fault instead of a crash."""

from __future__ import annotations

import inspect
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

NAMES = sorted(
    tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][
        "nl2sql_gate.scorers"
    ].items()
)


@pytest.fixture(params=NAMES, ids=[name for name, _ in NAMES])
def entry(request: pytest.FixtureRequest) -> tuple[str, Any]:
    name, place = request.param
    module, _, attribute = place.partition(":")
    return name, getattr(import_module(module), attribute)


def test_a_scorer_is_called_what_its_entry_says(entry: tuple[str, Any]) -> None:
    name, scorer = entry
    assert scorer.name == name
    assert scorer.version


def test_a_scorer_states_its_rules(entry: tuple[str, Any]) -> None:
    words = (inspect.getdoc(entry[1]) or "").lower()
    assert [word for word in ("row", "column", "value", "null") if word not in words] in ([], ["null"], ["value"])


def test_a_scorer_is_documented(entry: tuple[str, Any], root: Path) -> None:
    text = (root / "docs" / "scorers.md").read_text(encoding="utf-8")
    name = entry[0]
    technique, _, measure = name.rpartition("_")
    assert f"`{name}`" in text or (f"`{technique}`" in text and measure in {"exp", "exr", "f1"})
