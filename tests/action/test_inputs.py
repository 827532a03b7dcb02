from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.inputs import KNOWN, arguments_from_inputs, workspace_path


def test_every_input_of_the_action_is_known_and_every_known_one_is_declared(root: Path) -> None:
    declared = yaml.safe_load((root / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(declared) == set(KNOWN)


def test_inputs_become_the_flags_of_the_same_words() -> None:
    environ = {
        "INPUT_SETUP-DIRECTORY": "evals/setup",
        "INPUT_DIALECT": "sqlite, postgres\nmysql",
        "INPUT_ON_UNDECIDED": "fail",
        "PATH": "/bin",
    }
    assert arguments_from_inputs(environ) == [
        "run",
        "--setup-directory",
        "evals/setup",
        "--dialect",
        "sqlite",
        "--dialect",
        "postgres",
        "--dialect",
        "mysql",
        "--on-undecided",
        "fail",
    ]


def test_empty_inputs_are_not_given() -> None:
    assert arguments_from_inputs({"INPUT_DATASET": "", "INPUT_CONFIG": "nl2sql-gate.yml"}) == ["run"]


def test_only_and_set_take_a_line_each() -> None:
    environ = {"INPUT_ONLY": "orders-017\norders-018:mysql\n", "INPUT_SET": "policy.alpha=0.01\n"}
    assert arguments_from_inputs(environ) == [
        "run",
        "--only",
        "orders-017",
        "--only",
        "orders-018:mysql",
        "--set",
        "policy.alpha=0.01",
    ]


def test_a_misspelled_input_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(SettingsError) as caught:
        arguments_from_inputs({"INPUT_BASELIN": "x"})
    assert "did you mean 'baseline'" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/home/runner/work/shop/shop/evals/items.json", "evals/items.json"),
        ("/__w/shop/shop", "."),
        ("/home/runner/work/shop/other/items.json", "/home/runner/work/shop/other/items.json"),
        ("evals/items.json", "evals/items.json"),
    ],
)
def test_paths_of_the_runner_become_paths_of_the_workspace(given: str, expected: str) -> None:
    assert workspace_path(given) == expected
