"""From a file to a dataset: containers, formats, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nl2sql_gate.dataset import load
from nl2sql_gate.errors import DatasetError

ITEM = {
    "id": 1,
    "nl_prompt": "How many boats?",
    "query_type": "dql",
    "database": "harbour",
    "dialects": ["sqlite"],
    "golden_sql": {"sqlite": ["SELECT COUNT(*) FROM boat"]},
}
OTHER = {**ITEM, "id": 2}
YAML = """
- id: 1
  nl_prompt: How many boats?
  query_type: dql
  database: harbour
  dialects: [sqlite]
  golden_sql: {sqlite: ["SELECT COUNT(*) FROM boat"]}
"""


def refusal(path: Path, *, format: str = "auto", strict: bool = False) -> str:  # noqa: A002
    with pytest.raises(DatasetError) as caught:
        load(path, format=format, strict=strict)
    assert caught.value.where
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_same_items_have_the_same_digest_in_every_container(tmp_path: Path) -> None:
    files = [
        written(tmp_path, "a.json", json.dumps([ITEM])),
        written(tmp_path, "b.json", json.dumps([dict(reversed(ITEM.items()))], indent=3)),
        written(tmp_path, "c.jsonl", json.dumps(ITEM) + "\n"),
        written(tmp_path, "d.yaml", YAML),
        written(tmp_path, "e.json", json.dumps(ITEM)),
        written(tmp_path, "f.json", "[" + json.dumps(ITEM) + ", ]  // done"),
    ]
    assert len({load(path).digest for path in files}) == 1
    assert load(written(tmp_path, "g.json", json.dumps([OTHER]))).digest != load(files[0]).digest


def test_json_lines_are_recognised_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = written(tmp_path, "items.json", json.dumps(ITEM) + "\n" + json.dumps(OTHER) + "\n")
    assert [(item.id, item.place.line) for item in load(path).items] == [("1", 1), ("2", 2)]


def test_a_format_forces_the_container(tmp_path: Path) -> None:
    assert len(load(written(tmp_path, "items.txt", YAML), format="yaml").items) == 1
    assert len(load(written(tmp_path, "items.txt", json.dumps(ITEM)), format="jsonl").items) == 1
    assert len(load(written(tmp_path, "items.txt", json.dumps([ITEM])), format="evalbench-standard-format").items) == 1


def test_deviations_from_json_are_warnings_with_line_and_column(tmp_path: Path) -> None:
    path = written(tmp_path, "items.json", "[\n" + json.dumps(ITEM) + ",\n]")
    (warned,) = load(path).warnings
    assert (warned.code, warned.subject, warned.place.line) == ("trailing_comma", str(path), 3)
    assert "line 3, column 1" in warned.message
    assert "line 3, column 1" in refusal(path, strict=True)


def test_many_deviations_are_summed_up(tmp_path: Path) -> None:
    rows = ",\n".join(repr({**ITEM, "id": number}) for number in range(10))
    warnings = load(written(tmp_path, "items.json", f"[{rows}]")).warnings
    assert [warned.code for warned in warnings] == ["single_quotes"] * 21
    assert "line 10, column 137: 100 more of this kind, the last here" in warnings[-1].message


@pytest.mark.parametrize(
    "name, text, part",
    [
        ("items.json", "[]", "is empty"),
        ("items.jsonl", "\n\n", "is empty"),
        ("items.yaml", "# nothing\n", "is empty"),
        ("items.json", "", "line 1, column 1: the file is empty"),
        ("items.json", '{"items": [{"id": 1}]}', "expected a list of items (or one item), found an object with the keys items"),
        ("items.json", "3", "expected a list of items"),
        ("items.json", '{"scenarios": [{"id": 1, "starting_prompt": "x"}]}', "agentic dataset"),
        ("items.json", '[{"id": 1, "starting_prompt": "x", "conversation_plan": "y"}]', "agentic dataset"),
        ("items.csv", "", "is empty"),
        ("items.csv", "a,b\n1,2\n", "no column for the question: one of question, nl_prompt"),
        ("items.csv", "a,a\n1,2\n", "names a twice"),
        ("items.csv", "a,b\n1\n", "items.csv:2: 1 cells where the header has 2"),
        ("items.parquet", b"PAR1", "is not Parquet"),
        ("items.json", b"\xff\xfe[\x00]\x00", "it is UTF-16"),
        ("items.json", b'[{"id": "\xe9"}]', "byte 0xe9 at offset 9 (line 1) is not UTF-8"),
    ],
)
def test_files_that_are_no_dataset_say_what_they_are(tmp_path: Path, name: str, text: str | bytes, part: str) -> None:
    assert part in refusal(written(tmp_path, name, text))


def test_a_wrapped_list_says_which_key_to_unwrap(tmp_path: Path) -> None:
    assert "Keep only the list under 'items'" in refusal(written(tmp_path, "items.json", json.dumps({"items": [ITEM]})))


def test_an_item_of_another_format_in_the_middle_is_one_error(tmp_path: Path) -> None:
    bird = {"question_id": 2, "db_id": "harbour", "question": "How many docks?", "SQL": "SELECT 1", "evidence": ""}
    message = refusal(written(tmp_path, "items.json", json.dumps([ITEM, bird])))
    assert "has 1 error" in message
    assert "item number 2: looks like an item of BIRD (2)" in message


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    written(tmp_path, "items.json", "[]")
    assert "items.jsn: no such file; beside it: items.json" in refusal(tmp_path / "items.jsn")


def test_a_folder_is_no_dataset(tmp_path: Path) -> None:
    assert "it is a folder" in refusal(tmp_path)


def test_a_path_with_a_nul_is_an_error_and_no_crash() -> None:
    assert "cannot be read" in refusal(Path("a\x00b"))


@pytest.mark.parametrize("name, part", [("birdd", "Did you mean format: bird?"), ("xml", "known: auto, evalbench")])
def test_an_unknown_format_lists_the_known_ones(tmp_path: Path, name: str, part: str) -> None:
    assert part in refusal(written(tmp_path, "items.json", "[]"), format=name)


def test_a_known_format_that_is_not_read_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, "items.json", "[]")
    assert "is an agentic dataset, which cannot be used as a dataset" in refusal(path, format="gemini-cli-format")


def test_ten_thousand_items_load_without_parsing_their_sql(tmp_path: Path) -> None:
    path = written(tmp_path, "items.json", json.dumps([{**ITEM, "id": number} for number in range(10_000)]))
    assert len(load(path).items) == 10_000


def test_a_device_is_no_dataset() -> None:
    """The smallest input on which reading never ended."""
    with pytest.raises(DatasetError, match="cannot be read") as caught:
        load("/dev/zero")
    assert "it is a device" in str(caught.value)
