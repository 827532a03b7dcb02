"""The commands import, export and fmt as they are called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from nl2sql_gate.commands import export, fmt, import_
from nl2sql_gate.dataset import load
from nl2sql_gate.errors import GateError, SettingsError

BIRD = [
    {
        "question_id": number,
        "db_id": "harbour",
        "question": "q",
        "evidence": "",
        "SQL": f"SELECT {number}",
        "difficulty": "simple",
    }
    for number in (5, 6)
]


def call(command: click.Command, *arguments: str | Path) -> Any:
    return command.main([str(argument) for argument in arguments], standalone_mode=False)


@pytest.fixture
def bird(tmp_path: Path) -> Path:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(BIRD))
    return path


def test_import_writes_items_and_replies(bird: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    predictions = tmp_path / "gpt_sqlite.json"
    predictions.write_text(json.dumps({"0": "SELECT 5\t----- bird -----\tharbour"}))
    items, replies = tmp_path / "items.json", tmp_path / "replies.jsonl"
    assert call(import_.command, bird, "--to", items, "--predictions", predictions, "--replies-to", replies) == 0
    assert [item.id for item in load(items, strict=True).items] == ["5", "6"]
    assert replies.read_text() == '{"id": "5", "dialect": "sqlite", "reply": "SELECT 5"}\n'
    said = capsys.readouterr().out
    assert f"read      {bird}: 2 items, 1 databases" in said
    assert "1 of 2 items have no prediction and will be unscored: 6" in said


def test_import_overwrites_nothing_unless_forced(bird: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is there already"):
        call(import_.command, bird, "--to", bird)
    assert call(import_.command, bird, "--to", bird, "--force") == 0


@pytest.mark.parametrize(
    "arguments, part",
    [
        ([], "there is nothing to convert"),
        (["x.json"], "SOURCE needs --to FILE"),
        (["x.json", "--to", "y", "--predictions", "z"], "--predictions needs --replies-to FILE"),
        (["--run-config", "x"], "--run-config and --settings-to go together"),
        (["--run-config", "x", "--settings-to", "y", "--to", "z"], "need SOURCE, the dataset"),
    ],
)
def test_an_incomplete_import_says_what_is_missing(arguments: list[str], part: str) -> None:
    with pytest.raises(GateError) as caught:
        call(import_.command, *arguments)
    assert part in str(caught.value)


def test_a_mapping_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SettingsError, match="is not KEY=COLUMN"):
        call(import_.command, tmp_path / "q.csv", "--to", tmp_path / "i.json", "--map", "question")


def test_a_run_config_becomes_a_settings_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.yaml").write_text("dataset_config: items.json\nnum_trials: 2\norchestrator: oneshot\n")
    (tmp_path / "items.json").write_text("[]")
    assert call(import_.command, "--run-config", tmp_path / "run.yaml", "--settings-to", tmp_path / "nl2sql-gate.yml") == 0
    text = (tmp_path / "nl2sql-gate.yml").read_text()
    assert text.splitlines()[1:] == ["version: 1", "dataset: items.json", "trials: 2"]
    assert "orchestrator: there is one way to run here" in capsys.readouterr().out


def test_export_and_import_are_inverse(bird: Path, tmp_path: Path) -> None:
    call(import_.command, bird, "--to", tmp_path / "items.json")
    call(export.command, tmp_path / "items.json", "--form", "bird", "--to", tmp_path / "back.json")
    assert json.loads((tmp_path / "back.json").read_text()) == BIRD


def test_fmt_writes_in_place_and_check_only_tells(bird: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = bird.read_text()
    assert call(fmt.command, "--check", bird) == 1
    assert bird.read_text() == before
    assert call(fmt.command, bird) == 0
    assert call(fmt.command, "--check", bird) == 0
    assert json.loads(bird.read_text()) == BIRD
    assert capsys.readouterr().out.splitlines() == [
        f"would change  {bird}",
        "0 of 1 files are canonical",
        f"written  {bird}",
        "0 of 1 files are canonical already",
        "1 of 1 files are canonical",
    ]


def test_fmt_keeps_comments_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    path.write_text('[{"id": 1}] // why\n')
    with pytest.raises(SettingsError, match="holds comments"):
        call(fmt.command, path)
    assert call(fmt.command, "--drop-comments", path) == 0
    assert path.read_text() == '[\n  {\n    "id": 1\n  }\n]\n'


def test_a_broken_file_stops_fmt_before_any_is_written(bird: Path, tmp_path: Path) -> None:
    before = bird.read_text()
    (tmp_path / "broken.json").write_text("[{")
    with pytest.raises(GateError):
        call(fmt.command, bird, tmp_path / "broken.json")
    assert bird.read_text() == before


def test_names_in_a_file_cannot_forge_lines_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {**BIRD[0], "question_id": "a", "db_id": "harbour"}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([row, {**row, "SQL": "DELETE FROM x", "question": "\n::error::x"}]))
    call(import_.command, path, "--to", tmp_path / "items.json")
    assert not any(line.startswith("::") for line in capsys.readouterr().out.splitlines())
