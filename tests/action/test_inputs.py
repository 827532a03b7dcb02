from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from nl2sql_gate.commands.pull_request import leg_of
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.inputs import KNOWN, arguments_from_inputs, variables_from_inputs, workspace_path
from nl2sql_gate.github.outputs import declared


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


def test_every_output_that_is_declared_is_handed_on_by_the_runner_form(root: Path) -> None:
    container, runner = (
        yaml.safe_load((root / name).read_text(encoding="utf-8")) for name in ("action.yml", "runner/action.yml")
    )
    assert set(container["outputs"]) == set(runner["outputs"]) == set(declared())
    assert container["inputs"] == runner["inputs"]
    step = next(each for each in runner["runs"]["steps"] if each.get("id") == "gate")
    assert step["env"] == {f"INPUT_{name.upper()}": f"${{{{ inputs.{name} }}}}" for name in runner["inputs"]}


def test_modes_become_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shards/b/run.json", "shards/a/run.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert arguments_from_inputs({"INPUT_MODE": "bless", "INPUT_OUT": "out", "INPUT_BASELINE": "b.json"}) == [
        "bless",
        "out/run.json",
        "--to",
        "b.json",
    ]
    assert arguments_from_inputs({"INPUT_MODE": "post", "INPUT_GATE": "orders"}) == ["post", "--gate", "orders"]
    merged = arguments_from_inputs({"INPUT_MODE": "merge", "INPUT_GATE": "orders", "INPUT_SET": "policy.alpha=0.1"})
    assert merged == ["merge", "shards/a/run.json", "shards/b/run.json", "--set", "gate=orders", "--set", "policy.alpha=0.1"]
    with pytest.raises(SettingsError, match="finds no run"):
        arguments_from_inputs({"INPUT_MODE": "merge", "INPUT_RUNS": "absent/*.json"})
    with pytest.raises(SettingsError, match="no mode 'pots'"):
        arguments_from_inputs({"INPUT_MODE": "pots"})


def test_what_is_no_flag_reaches_the_command_through_the_environment() -> None:
    assert variables_from_inputs({"github_token": "t", "leg": "{}", "dataset": "x"}) == {
        "GITHUB_TOKEN": "t",
        "NL2SQL_GATE_LEG": "{}",
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", ""),
        ("null", ""),
        ('{"dialect": "pg", "python": 3.12}', "pg 3.12"),
        ('{"a": {"b": 1}}', '{"b": 1}'),
        ("mine", "mine"),
        ("a\nb", "a ⏎ b"),
    ],
)
def test_a_leg_is_named_by_its_matrix(given: str, expected: str) -> None:
    assert leg_of(given) == expected
