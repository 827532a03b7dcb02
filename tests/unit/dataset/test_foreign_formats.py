"""Formats of others, on small files of our own: what becomes of every key, and what is said about the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset import ReadOptions, load
from nl2sql_gate.dataset.formats import FORMATS
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Dataset, Item

BIRD = {
    "question_id": 7,
    "db_id": "harbour",
    "question": "How many docks?",
    "evidence": "a dock is a berth",
    "SQL": "SELECT COUNT(*) FROM dock",
    "difficulty": "simple",
}


def read(folder: Path, name: str, content: Any, **options: Any) -> Dataset:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(json.dumps(row) for row in content) if name.endswith(".jsonl") else json.dumps(content)
    path.write_text(content if isinstance(content, str) else lines, encoding="utf-8")
    return load(path, **options)


def only(dataset: Dataset) -> Item:
    (item,) = dataset.items
    return item


def said(dataset: Dataset) -> list[tuple[str, str]]:
    return [(warned.code, warned.message) for warned in dataset.warnings]


def refusal(folder: Path, name: str, content: Any, **options: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        read(folder, name, content, **options)
    assert caught.value.where
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


# ---- BIRD ----------------------------------------------------------------------------------------------------------


def test_birds_evidence_stays_apart_from_the_question(tmp_path: Path) -> None:
    item = only(read(tmp_path, "dev.json", [BIRD]))
    assert (item.id, item.question, item.evidence) == ("7", "How many docks?", "a dock is a berth")
    assert (item.database, item.query_type, item.dialects) == ("harbour", "dql", ("sqlite",))
    assert item.golden_sql.by_dialect == {"sqlite": ("SELECT COUNT(*) FROM dock",)}
    assert (item.difficulty, item.tags, item.other) == ("simple", ("simple",), {})


@pytest.mark.parametrize(
    "name, dialect",
    [
        ("mini_dev_postgresql.json", "postgres"),
        ("mini_dev_mysql.json", "mysql"),
        ("dev.json", "sqlite"),
        ("mini-dev.tsql.json", "sqlserver"),
    ],
)
def test_birds_dialect_is_in_the_files_name(tmp_path: Path, name: str, dialect: str) -> None:
    assert only(read(tmp_path, name, [BIRD])).dialects == (dialect,)


def test_a_dialect_given_wins_over_the_files_name(tmp_path: Path) -> None:
    item = only(read(tmp_path, "mini_dev_mysql.json", [BIRD], options=ReadOptions(dialect="duckdb")))
    assert item.golden_sql.by_dialect == {"duckdb": ("SELECT COUNT(*) FROM dock",)}


def test_question_id_zero_is_an_id(tmp_path: Path) -> None:
    assert only(read(tmp_path, "dev.json", [{**BIRD, "question_id": 0}])).id == "0"


def test_rows_without_ids_are_numbered_from_zero(tmp_path: Path) -> None:
    row = {key: value for key, value in BIRD.items() if key != "question_id"}
    assert [item.id for item in read(tmp_path, "dev.json", [row, row]).items] == ["0", "1"]


def test_an_id_that_comes_twice_is_numbered_and_said(tmp_path: Path) -> None:
    dataset = read(tmp_path, "dev.json", [BIRD, {**BIRD, "question": "How many boats?"}, BIRD])
    assert [item.id for item in dataset.items] == ["7", "7#2", "7#3"]
    assert said(dataset)[0] == ("id_numbered", "id: 7 is a duplicate id; this item is 7#2")


def test_keys_that_bird_does_not_have_are_kept(tmp_path: Path) -> None:
    assert only(read(tmp_path, "dev.json", [{**BIRD, "reviewed_by": "Ada"}])).other == {"reviewed_by": "Ada"}


def test_birds_form_of_2024_has_sql_per_dialect(tmp_path: Path) -> None:
    row = {key: value for key, value in BIRD.items() if key != "SQL"}
    row |= {"SQLite_query": "SELECT 1", "Postgres_query": "SELECT 2", "result_matched": True}
    item = only(read(tmp_path, "dev.json", [row]))
    assert item.golden_sql.by_dialect == {"postgres": ("SELECT 2",), "sqlite": ("SELECT 1",)}
    assert item.other == {"result_matched": True}


def test_rows_whose_results_did_not_match_are_skipped_and_said(tmp_path: Path) -> None:
    row = {key: value for key, value in BIRD.items() if key != "SQL"}
    row |= {"SQLite_query": "SELECT 1", "Postgres_query": "SELECT 2", "result_matched": False}
    dataset = read(tmp_path, "dev.json", [row])
    item = only(dataset)
    assert not item.golden_sql
    assert item.dialects == ("postgres", "sqlite")
    assert item.other == {"SQLite_query": "SELECT 1", "Postgres_query": "SELECT 2", "result_matched": False}
    assert [code for code, _ in said(dataset)] == ["skipped_item", "no_golden_sql"]


def test_evalbenchs_reading_of_bird_is_understood(tmp_path: Path) -> None:
    row = {"id": 3, "db_id": "harbour", "golden_sql": {"bigquery": "SELECT 1"}, "question": "q", "tags": ["a"]}
    item = only(read(tmp_path, "dev.json", [row]))
    assert (item.id, item.dialects, item.tags) == ("3", ("bigquery",), ("a",))


def test_questions_of_a_test_set_load_without_golden_sql(tmp_path: Path) -> None:
    row = {key: value for key, value in BIRD.items() if key != "SQL"}
    dataset = read(tmp_path, "dev.json", [row])
    assert not only(dataset).golden_sql
    assert said(dataset) == [("no_golden_sql", "SQL: holds no golden SQL for sqlite; the item is skipped")]


def test_a_row_of_another_format_among_birds_is_an_error(tmp_path: Path) -> None:
    spider = {"db_id": "harbour", "question": "q", "query": "SELECT 1"}
    assert "item number 2: looks like an item of Spider, not of BIRD" in refusal(tmp_path, "dev.json", [BIRD, spider, BIRD])


def test_messages_use_the_words_of_the_format(tmp_path: Path) -> None:
    message = refusal(tmp_path, "dev.json", [{**BIRD, "question": " ", "db_id": "../x"}])
    assert "item 7: question: the question is empty" in message
    assert "item 7: db_id: '../x' is a path" in message


def test_a_write_among_questions_runs_as_what_it_is(tmp_path: Path) -> None:
    dataset = read(tmp_path, "dev.json", [{**BIRD, "SQL": "DELETE FROM dock"}])
    assert only(dataset).query_type == "dml"
    assert said(dataset)[0][0] == "type_contradicted"


# ---- EvalBench's format of 2024 --------------------------------------------------------------------------------------


def test_the_first_example_is_golden_and_the_others_are_kept(tmp_path: Path) -> None:
    row = {
        "prompt": "How many docks?",
        "examples": ["SELECT 1", "SELECT 2"],
        "query_type": "DQL",
        "database": "harbour",
        "dialects": ["pg", "sqlite"],
        "tags": ["count"],
    }
    dataset = read(tmp_path, "old.json", [row, {**row, "examples": "SELECT 3"}])
    first, second = dataset.items
    assert (first.id, second.id) == ("1", "2")
    assert first.golden_sql.pick("postgres") == ("SELECT 1",)
    assert second.golden_sql.pick("sqlite") == ("SELECT 3",)
    assert (first.dialects, first.tags, first.other) == (("postgres", "sqlite"), ("count",), {"examples": ["SELECT 2"]})
    assert said(dataset) == [
        ("further_examples", "examples: only the first of 2 is golden SQL; the others stay under other"),
    ]


# ---- Spider ----------------------------------------------------------------------------------------------------------


def test_spiders_questions_get_ids_by_position(tmp_path: Path) -> None:
    row = {"db_id": "harbour", "question": "How many docks?", "query": "SELECT COUNT(*) FROM dock"}
    extra = {"query_toks": ["SELECT"], "question_toks": ["How"], "sql": {"select": []}, "query_toks_no_value": ["select"]}
    dataset = read(tmp_path, "dev.json", [row, {**row, **extra}])
    assert [item.id for item in dataset.items] == ["spider-0000", "spider-0001"]
    assert dataset.items[1].other == {}
    assert said(dataset) == [
        ("derived_keys", "query_toks, query_toks_no_value, question_toks, sql: left out, since query and question say the same")
    ]


def test_a_database_that_tables_json_lacks_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables.json").write_text('[{"db_id": "harbour"}]')
    dataset = read(tmp_path, "dev.json", [{"db_id": "harbor", "question": "q", "query": "SELECT 1"}])
    assert said(dataset) == [("unknown_database", "db_id: tables.json has no database harbor (did you mean 'harbour'?)")]


# ---- Spider 2 --------------------------------------------------------------------------------------------------------


def test_spider_2_takes_golden_sql_and_documents_from_beside_the_file(tmp_path: Path) -> None:
    gold = tmp_path / "evaluation_suite/gold/sql"
    gold.mkdir(parents=True)
    (gold / "local001.sql").write_text("SELECT 1")
    (gold / "local001_b.sql").write_text("SELECT 1 AS b")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/terms.md").write_text("a dock is a berth")
    rows = [
        {"instance_id": "local001", "db": "harbour", "question": "q", "external_knowledge": "terms.md"},
        {"instance_id": "sf_bq002", "db_id": "HARBOUR", "instruction": "q", "external_knowledge": None},
        {"instance_id": "bq003", "db": "p.d", "question": "q", "external_knowledge": "lost.md"},
    ]
    dataset = read(tmp_path, "spider2-lite.jsonl", rows)
    assert [item.dialects for item in dataset.items] == [("sqlite",), ("snowflake",), ("bigquery",)]
    assert dataset.items[0].golden_sql.pick("sqlite") == ("SELECT 1", "SELECT 1 AS b")
    assert dataset.items[0].evidence == "a dock is a berth"
    assert [code for code, _ in said(dataset)] == ["no_golden_sql", "missing_knowledge", "no_golden_sql"]
    before = dataset.digest
    (gold / "local001.sql").write_text("SELECT 2")
    assert load(tmp_path / "spider2-lite.jsonl").digest != before


def test_an_id_that_is_a_path_reads_no_golden_sql(tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text("SELECT secret")
    (tmp_path / "data/gold/sql").mkdir(parents=True)
    row = {"instance_id": "../../../x", "db": "harbour", "question": "q"}
    assert not only(read(tmp_path, "data/spider2-lite.jsonl", [row])).golden_sql


# ---- BIRD-Interact ---------------------------------------------------------------------------------------------------

INTERACT = {
    "instance_id": "h_1",
    "selected_database": "harbour",
    "query": "How many berths are free?",
    "amb_user_query": "How many are free?",
    "category": "Query",
    "sol_sql": ["SELECT COUNT(*) FROM dock"],
    "preprocess_sql": ["CREATE TEMP TABLE t (a int)"],
    "clean_up_sqls": ["DROP TABLE t"],
    "test_cases": ["def test(): pass"],
    "external_knowledge": [4, 9],
    "difficulty_tier": "Easy",
    "follow_up": {"query": "and taken?"},
}


def test_the_clear_question_is_asked_and_the_conversation_is_not(tmp_path: Path) -> None:
    (tmp_path / "harbour").mkdir()
    (tmp_path / "harbour/harbour_kb.jsonl").write_text(
        '{"id": 4, "knowledge": "Berth", "description": "a place", "definition": "one dock"}\n'
    )
    dataset = read(tmp_path, "bird_interact_data.jsonl", [INTERACT])
    item = only(dataset)
    assert (item.id, item.question, item.query_type) == ("h_1", "How many berths are free?", "dql")
    assert (item.database, item.dialects, item.difficulty) == ("harbour", ("postgres",), "Easy")
    assert item.setup_sql.pick("postgres") == ("CREATE TEMP TABLE t (a int)",)
    assert item.cleanup_sql.pick("postgres") == ("DROP TABLE t",)
    assert item.evidence == "Berth: a place: one dock"
    kept = {"amb_user_query", "category", "test_cases", "external_knowledge", "follow_up"}
    assert item.other == {key: INTERACT[key] for key in kept}
    assert said(dataset) == [
        ("single_turn", "amb_user_query, follow_up: the conversation is not held, only the question asked"),
        ("unused_key", "test_cases: not run; results are compared by the metrics of this run, and the values stay under other"),
        ("missing_knowledge", "external_knowledge: 9 not found in harbour/harbour_kb.jsonl beside the file; not in the evidence"),
    ]


@pytest.mark.parametrize(
    "sql, kind",
    [("CREATE TABLE t (a int)", "ddl"), ("UPDATE dock SET a = 1", "dml"), ("SELECT 1", "dql"), ("CALL f()", "ddl")],
)
def test_management_is_what_its_sql_is(tmp_path: Path, sql: str, kind: str) -> None:
    row = {**INTERACT, "category": "Management", "sol_sql": [sql]}
    assert only(read(tmp_path, "interact.jsonl", [row])).query_type == kind


def test_a_question_without_golden_sql_is_skipped_and_without_a_clear_form_is_said(tmp_path: Path) -> None:
    dataset = read(tmp_path, "interact.jsonl", [{**INTERACT, "sol_sql": [], "query": None, "external_knowledge": []}])
    assert only(dataset).question == "How many are free?"
    assert [code for code, _ in said(dataset)][-2:] == ["ambiguous_question", "no_golden_sql"]


def test_a_database_that_is_a_path_reads_no_knowledge(tmp_path: Path) -> None:
    message = refusal(tmp_path, "data/interact.jsonl", [{**INTERACT, "selected_database": "../../etc"}])
    assert "selected_database: '../../etc' is a path" in message


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_is_read_by_the_usual_names_of_its_columns(tmp_path: Path) -> None:
    text = 'Question,SQL,DB,Dialect,Tags,note\nHow many?,"SELECT 1",harbour,"sqlite, pg","a, b",x\nAnd now?,SELECT 2,harbour,,,\n'
    dataset = read(tmp_path, "questions.csv", text)
    first, second = dataset.items
    assert (first.id, first.question, first.database) == ("item-000", "How many?", "harbour")
    assert (first.dialects, first.tags, first.other) == (("sqlite", "postgres"), ("a", "b"), {"note": "x"})
    assert first.golden_sql.everywhere == ("SELECT 1",)
    assert (second.dialects, second.other, second.place.line) == ((), {}, 3)


def test_columns_are_mapped_by_hand(tmp_path: Path) -> None:
    text = 'Nr,Frage,Abfrage,Schema\n12,Wie viele?,"[""SELECT 1"", ""SELECT 1.0""]",hafen\n'
    columns = {"id": "Nr", "question": "Frage", "golden_sql": "Abfrage", "database": "Schema"}
    item = only(read(tmp_path, "fragen.csv", text, options=ReadOptions(dialect="sqlite", columns=columns)))
    assert (item.id, item.golden_sql.everywhere, item.dialects) == ("12", ("SELECT 1", "SELECT 1.0"), ("sqlite",))


@pytest.mark.parametrize(
    "columns, part",
    [
        ({"question": "Frag"}, "question: there is no column 'Frag' (did you mean 'Frage'?)"),
        ({"quest": "Frage"}, "quest: is no key of an item (did you mean 'question'?)"),
        ({}, "no column for the golden_sql: one of golden_sql, query, sql"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(tmp_path: Path, columns: dict[str, str], part: str) -> None:
    assert part in refusal(tmp_path, "fragen.csv", "Frage,Schema\nWie viele?,hafen\n", options=ReadOptions(columns=columns))


def test_parquet_is_read_as_csv_is(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "questions.parquet"
    duckdb.sql(
        "SELECT 7::BIGINT AS id, 'How many?' AS question, 'SELECT 1' AS sql, 'harbour' AS db, DATE '2024-01-02' AS made,"
        " 1.5::DECIMAL(4, 2) AS weight, ['a', 'b'] AS tags"
    ).write_parquet(str(path))
    item = only(load(path))
    assert (item.id, item.question, item.tags) == ("7", "How many?", ("a", "b"))
    assert item.other == {"made": "2024-01-02", "weight": "1.50"}
    with pytest.raises(DatasetError, match="does not exist"):
        load(tmp_path / "lost.parquet")


def test_a_cell_that_goes_on_after_its_quotes_is_said_and_strictly_refused(tmp_path: Path) -> None:
    text = 'question,sql,db\n"Which ""ones""?" All of,SELECT 1,harbour\n'
    dataset = read(tmp_path, "q.csv", text)
    assert only(dataset).question == 'Which "ones"? All of'
    assert said(dataset) == [
        ("csv_quote", "not strict CSV: line 2: after the double quotes of cell 1 comes ' All of,SE' instead of a comma")
    ]
    assert "instead of a comma" in refusal(tmp_path, "q.csv", text, strict=True)


def test_every_format_has_a_reader_or_says_why_not() -> None:
    assert [known.name for known in FORMATS if known.read_items is None] == ["agentic"]
    assert all(known.why_not for known in FORMATS if known.read_items is None)
