"""Predictions of other evaluators: paired by what the file says, and what does not fit is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset.predictions import Paired, generated_in, pair_predictions, replies_text
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item, SqlField

ITEMS = tuple(
    Item(identifier, "How many?", "dql", database, ("sqlite",), SqlField({"sqlite": ("SELECT 1",)}))
    for identifier, database in (("11", "harbour"), ("7", "harbour"), ("x", "orchard"))
)
SEPARATOR = "\t----- bird -----\t"


def paired(folder: Path, name: str, content: Any, **options: Any) -> Paired:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return pair_predictions(path, ITEMS, **options)


def replies(found: Paired) -> dict[str, str]:
    return {reply.id: reply.reply for reply in found.replies}


def codes(found: Paired) -> list[str]:
    return [warned.code for warned in found.warnings]


def refusal(folder: Path, name: str, content: Any, **options: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        paired(folder, name, content, **options)
    assert caught.value.where
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


def test_birds_keys_are_positions_whatever_the_ids_are(tmp_path: Path) -> None:
    content = {"2": f"SELECT 2{SEPARATOR}orchard", "0": f"SELECT 0{SEPARATOR}harbour", "1": f"SELECT 1{SEPARATOR}harbour"}
    found = paired(tmp_path, "gpt-4_postgresql.json", content)
    assert replies(found) == {"11": "SELECT 0", "7": "SELECT 1", "x": "SELECT 2"}
    assert {reply.dialect for reply in found.replies} == {"postgres"}
    assert codes(found) == []


def test_birds_blanks_and_numbers_are_answers_without_sql(tmp_path: Path) -> None:
    found = paired(tmp_path, "p.json", {"0": 0, "1": f" {SEPARATOR}harbour", "2": f"SELECT 2{SEPARATOR}orchard"})
    assert replies(found) == {"11": "", "7": " ", "x": "SELECT 2"}


def test_positions_that_point_at_another_database_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, "p.json", {"0": f"SELECT 0{SEPARATOR}harbour", "2": f"SELECT 2{SEPARATOR}harbour"})
    assert "2 is for harbour, item x is on orchard" in message
    assert "--pairing id" in message


def test_a_map_is_paired_by_id(tmp_path: Path) -> None:
    found = paired(tmp_path, "p.json", {"x": "SELECT 2", "7": "SELECT 1", "11": "SELECT 0"})
    assert replies(found) == {"11": "SELECT 0", "7": "SELECT 1", "x": "SELECT 2"}


def test_missing_and_unknown_ids_are_named(tmp_path: Path) -> None:
    found = paired(tmp_path, "p.json", {"7": "SELECT 1", "8": "SELECT 1"})
    assert codes(found) == ["missing_predictions", "unknown_predictions"]
    assert "2 of 3 items have no prediction and will be unscored: 11, x" in found.warnings[0].message
    assert "1 predictions are for no item and are left out: 8" in found.warnings[1].message


def test_a_blank_at_the_end_of_an_id_is_said(tmp_path: Path) -> None:
    found = paired(tmp_path, "p.json", {"x ": "SELECT 2", "7": "SELECT 1", "11": "SELECT 0"})
    assert codes(found) == ["id_blank"]
    assert "'x ' begins or ends with a blank; taken for item x" in found.warnings[0].message


def test_keys_that_can_only_be_positions_are_and_it_is_said(tmp_path: Path) -> None:
    found = paired(tmp_path, "p.json", {"0": "SELECT 0", "1": "SELECT 1", "2": "SELECT 2"})
    assert replies(found) == {"11": "SELECT 0", "7": "SELECT 1", "x": "SELECT 2"}
    assert codes(found) == ["paired_by_position"]


def test_the_pairing_can_be_given(tmp_path: Path) -> None:
    assert replies(paired(tmp_path, "p.json", {"7": f"SELECT 1{SEPARATOR}harbour"}, pairing="id")) == {"7": "SELECT 1"}
    assert replies(paired(tmp_path, "p.json", {"1": "SELECT 1"}, pairing="position")) == {"7": "SELECT 1"}
    assert "known: auto, id, position" in refusal(tmp_path, "p.json", {"1": "SELECT 1"}, pairing="order")


@pytest.mark.parametrize("name", ["predicted.sql", "predicted.txt", "pred"])
def test_spiders_lines_are_positions(tmp_path: Path, name: str) -> None:
    found = paired(tmp_path, name, "SELECT 0\tharbour\n\nSELECT '\t' || 2\n")
    assert replies(found) == {"11": "SELECT 0", "7": "", "x": "SELECT '\t' || 2"}


@pytest.mark.parametrize(
    "name, content",
    [
        ("p.json", ["SELECT 0", "SELECT 1", "SELECT 2"]),
        ("p.json", [{"id": 11, "sql": "SELECT 0"}, {"id": 7, "sql": "SELECT 1"}, {"id": "x", "sql": "SELECT 2"}]),
        (
            "p.jsonl",
            '{"instance_id": "11", "pred": "SELECT 0"}\n{"instance_id": "7", "pred": "SELECT 1"}\n{"instance_id": "x", "pred": "SELECT 2"}\n',
        ),
        (
            "evals.csv",
            "id,dialects,generated_sql\n11_trial_0,['sqlite'],SELECT 0\n7_trial_0,['sqlite'],SELECT 1\nx_trial_0,['sqlite'],SELECT 2\n",
        ),
    ],
)
def test_other_forms_say_the_same(tmp_path: Path, name: str, content: Any) -> None:
    assert replies(paired(tmp_path, name, content)) == {"11": "SELECT 0", "7": "SELECT 1", "x": "SELECT 2"}


def test_evalbenchs_trials_and_dialects_are_kept(tmp_path: Path) -> None:
    text = "id,prompt_id,dialects,database,generated_sql\n"
    text += "".join(
        f"7_trial_{trial},7,['{dialect}'],harbour,SELECT {trial}\n" for dialect in ("mysql", "pg") for trial in (0, 1)
    )
    found = paired(tmp_path, "evals.csv", text.replace("prompt_id,", "").replace(",7,", ","))
    assert [(reply.dialect, reply.trial, reply.reply) for reply in found.replies] == [
        ("mysql", 1, "SELECT 0"),
        ("mysql", 2, "SELECT 1"),
        ("postgres", 1, "SELECT 0"),
        ("postgres", 2, "SELECT 1"),
    ]


def test_a_folder_of_files_is_paired_by_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "x.sql").write_text("SELECT 2")
    assert replies(pair_predictions(folder, ITEMS)) == {"x": "SELECT 2"}


@pytest.mark.parametrize(
    "name, content, part",
    [
        ("p.json", [{"sql": "SELECT 1"}], "has no an id"),
        ("p.json", [{"id": 1}], "has no SQL"),
        ("p.json", {"7": {"sql": 1}}, "7: expected SQL, found an object"),
        ("p.json", 3, "expected a map of predictions"),
        ("p.txt", "\n\n", "the file holds no prediction"),
        ("p.json", {"a": "SELECT 1", "b": "SELECT 2"}, "ids of the items: 11, 7, x"),
        ("p.jsonl", '{"id": "7", "sql": "SELECT 1"}\n{"id": "7", "sql": "SELECT 2"}\n', "a second one for item 7"),
    ],
)
def test_files_that_are_no_predictions_say_why(tmp_path: Path, name: str, content: Any, part: str) -> None:
    assert part in refusal(tmp_path, name, content)


def test_replies_are_json_lines_that_hold_what_is_known(tmp_path: Path) -> None:
    found = paired(tmp_path, "p_sqlite.json", {"7": "SELECT 'é'\n"})
    assert replies_text(found.replies) == '{"id": "7", "dialect": "sqlite", "reply": "SELECT \'é\'\\n"}\n'


def test_generated_sql_of_items_is_a_reply() -> None:
    item = Item("1", "q", "dql", "d", (), SqlField(), other={"generated_sql": {"pg": "SELECT 1"}})
    plain = Item("2", "q", "dql", "d", (), SqlField(), other={"generated_sql": "SELECT 2"})
    assert [(reply.id, reply.dialect, reply.reply) for reply in generated_in([item, plain, ITEMS[0]])] == [
        ("1", "pg", "SELECT 1"),
        ("2", "", "SELECT 2"),
    ]
