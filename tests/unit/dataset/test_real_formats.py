"""The real files: as many items as the source has, every field accounted for, every golden query still what it was."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset import load, read_source
from nl2sql_gate.dataset.predictions import pair_predictions
from nl2sql_gate.errors import DatasetError

QUESTIONS = "data/defog/questions"
COUNTS = {
    "instruct_advanced_mysql": 64,
    "instruct_advanced_postgres": 64,
    "instruct_advanced_sqlite": 64,
    "instruct_advanced_tsql": 64,
    "instruct_basic_mysql": 40,
    "instruct_basic_postgres": 40,
    "instruct_basic_sqlite": 40,
    "instruct_basic_tsql": 40,
    "questions_gen_mysql": 210,
    "questions_gen_postgres": 210,
    "questions_gen_sqlite": 210,
    "questions_gen_tsql": 210,
}
DIALECTS = {"mysql": "mysql", "postgres": "postgres", "sqlite": "sqlite", "tsql": "sqlserver"}


@pytest.mark.parametrize("name", COUNTS)
def test_every_row_of_a_defog_file_is_an_item(shared_data: Path, name: str) -> None:
    path = shared_data / QUESTIONS / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    items = load(path).items
    dialect = DIALECTS[name.rpartition("_")[2]]
    assert COUNTS[name] == len(rows) == len(items)
    for number, (row, item) in enumerate(zip(rows, items, strict=True)):
        assert item.id == f"defog-{number:03d}"
        assert item.question == row.pop("question")
        assert item.database == row.pop("db_name")
        assert item.evidence == row.pop("instructions", "")
        assert item.tags == (row.pop("query_category"),)
        assert item.dialects == (dialect,)
        goldens = item.golden_sql.pick(dialect)
        query = row.pop("query")
        if "{" not in query:
            assert ";".join(goldens).replace(" ", "").rstrip(";") in query.replace(" ", "").replace("\n", "") or len(goldens) > 1
        assert goldens
        row.pop("db_type", None)
        assert item.other == {key: value for key, value in row.items() if value}


def test_groups_of_the_real_file_are_taken_apart(shared_data: Path) -> None:
    items = load(shared_data / QUESTIONS / "questions_gen_postgres.csv").items
    assert all("{" not in sql for item in items for sql in item.golden_sql.pick("postgres"))
    assert sum(len(item.golden_sql.pick("postgres")) for item in items) == 465
    assert max(len(item.golden_sql.pick("postgres")) for item in items) == 15
    assert {item.columns for item in items} == {""}


def test_bird_mini_dev_is_read_whole(shared_data: Path) -> None:
    path = shared_data / "data/bird-mini-dev/mini_dev_sqlite.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    dataset = load(path, strict=True)
    assert dataset.warnings == ()
    assert len(dataset.items) == len(rows) == 500
    for row, item in zip(rows, dataset.items, strict=True):
        read: dict[str, Any] = {
            "question_id": int(item.id),
            "db_id": item.database,
            "question": item.question,
            "evidence": item.evidence,
            "SQL": item.golden_sql.pick("sqlite")[0],
            "difficulty": item.difficulty,
        }
        assert read == row


def test_spiders_dev_is_read_whole(shared_data: Path) -> None:
    path = shared_data / "data/spider/dev.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    dataset = load(path, strict=True)
    assert dataset.warnings == ()
    assert len(dataset.items) == len(rows) == 1034
    assert [(item.database, item.question, item.golden_sql.pick("sqlite")) for item in dataset.items] == [
        (row["db_id"], row["question"], (row["query"],)) for row in rows
    ]


def test_every_predictions_file_of_bird_pairs_with_every_item(shared_data: Path) -> None:
    folder = shared_data / "data/bird-mini-dev"
    items = load(folder / "mini_dev_sqlite.json").items
    for path in sorted((folder / "predictions").iterdir()):
        raw = json.loads(path.read_text(encoding="utf-8"))
        found = pair_predictions(path, items)
        assert found.warnings == ()
        assert [reply.id for reply in found.replies] == [item.id for item in items]
        assert {reply.dialect for reply in found.replies} == {
            {"postgresql": "postgres"}.get(path.stem.rpartition("_")[2], path.stem.rpartition("_")[2])
        }
        assert [reply.reply for reply in found.replies] == [raw[str(at)].split("\t----- bird -----\t")[0] for at in range(500)]


def test_predictions_for_other_questions_are_refused(shared_data: Path) -> None:
    folder = shared_data / "data/bird-mini-dev"
    items = load(folder / "mini_dev_sqlite.json").items
    with pytest.raises(DatasetError, match="are for other databases than their items"):
        pair_predictions(folder / "predictions/gpt-4_sqlite.json", items[::-1])


@pytest.mark.parametrize("dialect", ["sqlite", "mysql", "duckdb", "sqlserver"])
def test_defogs_databases_are_translated_with_all_rows(shared_data: Path, dialect: str) -> None:
    root = shared_data / "data/defog/schemas"
    counts = {}
    for path in sorted(root.glob("*.sql")):
        source = read_source(root, path.stem, dialect)
        assert source.transpiled_from == "postgres"
        assert [warned.code for warned in source.warnings] == ["transpiled"]
        counts[path.stem] = (len(source.tables), sum(len(table.rows) for table in source.tables))
    assert counts == {
        "academic": (15, 70),
        "advising": (14, 73),
        "atis": (24, 215),
        "broker": (4, 149),
        "car_dealership": (7, 132),
        "derm_treatment": (8, 111),
        "ewallet": (9, 155),
        "geography": (7, 74),
        "restaurants": (3, 27),
        "scholar": (12, 78),
        "yelp": (7, 82),
    }


def test_birds_databases_are_files_for_sqlite(shared_data: Path) -> None:
    root = shared_data / "data/bird-mini-dev/databases"
    source = read_source(root, "superhero", "sqlite")
    assert source.sqlite_file == str(root / "superhero/superhero.sqlite")


def test_birds_dumps_are_scripts_with_rows(shared_data: Path) -> None:
    root = shared_data / "data/bird-mini-dev/postgres"
    rows = 0
    for path in root.glob("*.sql"):
        source = read_source(root, path.stem, "postgres")
        rows += sum(statement.data.count("\n") for statement in source.setup)
    assert rows == 57460
