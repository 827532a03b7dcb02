"""The standard format: every key, every shape, every complaint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset import load
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Dataset

ITEM: dict[str, Any] = {
    "id": 1,
    "nl_prompt": "How many boats?",
    "query_type": "dql",
    "database": "harbour",
    "dialects": ["sqlite"],
    "golden_sql": {"sqlite": ["SELECT COUNT(*) FROM boat"]},
}


def write(folder: Path, *items: Any, name: str = "items.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(list(items), indent=1), encoding="utf-8")
    return path


def read(folder: Path, **changes: Any) -> Dataset:
    return load(write(folder, {**ITEM, **changes}))


def codes(dataset: Dataset) -> list[str]:
    return [warned.code for warned in dataset.warnings]


def refusal(folder: Path, *items: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        load(write(folder, *items))
    assert caught.value.where
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


def test_only_the_needed_keys_make_an_item_without_warnings(tmp_path: Path) -> None:
    dataset = read(tmp_path)
    assert dataset.warnings == ()
    (item,) = dataset.items
    assert (item.id, item.question, item.query_type, item.database, item.dialects) == (
        "1",
        "How many boats?",
        "dql",
        "harbour",
        ("sqlite",),
    )
    assert item.golden_sql.pick("sqlite") == ("SELECT COUNT(*) FROM boat",)
    assert item.place.line == 2


@pytest.mark.parametrize(
    "value, picked",
    [
        ({"sqlite": ["SELECT 1"]}, ("SELECT 1",)),
        ({"sqlite": "SELECT 1"}, ("SELECT 1",)),
        ({"sqlite": [None, "SELECT 1", "", "  "]}, ("SELECT 1",)),
        ({"sqlite": [None]}, ()),
        ({"sqlite": None}, ()),
        ({}, ()),
        ([], ()),
        (None, ()),
        ("", ()),
        ("SELECT 1", ("SELECT 1",)),
        (["SELECT 1", None, "SELECT 2"], ("SELECT 1", "SELECT 2")),
        ({"SQLite3": ["SELECT 1"]}, ("SELECT 1",)),
        ({"postgres": ["SELECT 1"]}, ()),
    ],
)
def test_sql_fields_are_coerced(tmp_path: Path, value: Any, picked: tuple[str, ...]) -> None:
    for key in ("golden_sql", "eval_query", "setup_sql", "cleanup_sql"):
        (item,) = read(tmp_path, **{key: value}).items
        assert getattr(item, key).pick("sqlite") == picked


@pytest.mark.parametrize("value", [3, {"sqlite": [1]}, {"sqlite": {"a": "b"}}, [["SELECT 1"]], {"sqlite": [{"q": 1}]}])
def test_sql_of_another_kind_is_an_error_with_its_field(tmp_path: Path, value: Any) -> None:
    assert "item 1: golden_sql" in refusal(tmp_path, {**ITEM, "golden_sql": value})


def test_two_spellings_of_a_dialect_merge_where_they_agree_and_are_an_error_where_not(tmp_path: Path) -> None:
    same = {"postgres": ["SELECT 1"], "PostgreSQL": ["SELECT 1"], "pg": []}
    (item,) = read(tmp_path, dialects=["postgresql", "postgres"], golden_sql=same).items
    assert item.dialects == ("postgres",)
    assert item.golden_sql.by_dialect == {"postgres": ("SELECT 1",)}
    message = refusal(tmp_path, {**ITEM, "golden_sql": {"PostgreSQL": ["SELECT 2"], "postgres": ["SELECT 1"]}})
    assert "golden_sql: 'postgres' and 'PostgreSQL' are the same dialect and hold different SQL" in message


def test_a_products_own_sql_yields_to_the_dialects(tmp_path: Path) -> None:
    dataset = read(tmp_path, dialects=["postgres"], golden_sql={"alloydb": ["SELECT 2"], "postgres": ["SELECT 1"]})
    assert dataset.items[0].golden_sql.pick("postgres") == ("SELECT 1",)
    assert codes(dataset) == ["same_dialect"]


def test_mariadb_takes_mysqls_sql(tmp_path: Path) -> None:
    dataset = read(tmp_path, dialects=["mysql", "MariaDB"], golden_sql={"mysql": ["SELECT 1"]})
    assert dataset.items[0].golden_sql.pick("mariadb") == ("SELECT 1",)
    assert dataset.warnings == ()


@pytest.mark.parametrize("spelled, query_type", [("DQL", "dql"), (" Dml ", "dml"), ("ddl", "ddl")])
def test_query_types_are_read_in_any_case(tmp_path: Path, spelled: str, query_type: str) -> None:
    golden = {"dql": "SELECT 1", "dml": "DELETE FROM boat", "ddl": "DROP TABLE boat"}[query_type]
    (item,) = read(tmp_path, query_type=spelled, golden_sql={"sqlite": [golden]}, eval_query={"sqlite": ["SELECT 1"]}).items
    assert item.query_type == query_type


@pytest.mark.parametrize("value", ["dcl", "", 3, ["dql"]])
def test_an_unknown_query_type_names_item_and_field(tmp_path: Path, value: Any) -> None:
    assert "items.json:2: item 1: query_type: " in refusal(tmp_path, {**ITEM, "query_type": value})


def test_all_errors_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    message = refusal(
        tmp_path,
        {**ITEM, "query_type": "dcl", "database": "../x"},
        {key: value for key, value in ITEM.items() if key not in {"id", "nl_prompt"}},
        "SELECT 1",
        {**ITEM, "id": 4, "nl_prompt": "  "},
        {**ITEM, "id": True},
        {**ITEM, "id": "a\nb"},
    )
    for part in (
        "has 8 errors",
        "item 1: query_type: 'dcl' is none of dql, dml, ddl",
        "item 1: database: '../x' is a path",
        "item number 2: id: is required and missing",
        "item number 2: nl_prompt: is required and missing",
        "item number 3: expected an object, found text",
        "item 4: nl_prompt: the question is empty",
        "item number 5: id: expected text or a whole number, found true or false",
        "item number 6: id: 'a\\nb' holds a line break",
    ):
        assert part in message


def test_errors_are_capped(tmp_path: Path) -> None:
    message = refusal(tmp_path, *({**ITEM, "id": number, "query_type": "x"} for number in range(70)))
    assert "has 70 errors" in message
    assert "and 20 more" in message


def test_every_duplicate_id_is_listed_and_43_is_43_as_text(tmp_path: Path) -> None:
    items = [{**ITEM, "id": one} for one in (43, "x", "43", "x ", 7, 43)]
    message = refusal(tmp_path, *items)
    assert "item 43: id: duplicate id, used by 3 items" in message
    assert "('43')" in message
    assert "item x: id: duplicate id, used by 2 items" in message
    assert "item 7" not in message


def test_an_unknown_key_is_warned_about_with_the_nearest_known_one(tmp_path: Path) -> None:
    dataset = read(tmp_path, golden_sqls={}, preprocess_sql=["SELECT 1"])
    assert codes(dataset) == ["unknown_key", "unused_key"]
    (warned, _) = dataset.warnings
    assert (warned.subject, warned.place.line) == ("1", 2)
    assert warned.message == "golden_sqls: is not a known key and is left out (did you mean 'golden_sql'?)"


def test_a_key_cannot_forge_a_line_of_the_log(tmp_path: Path) -> None:
    (warned,) = read(tmp_path, **{"x\n::error::forged": 1}).warnings
    assert warned.message.startswith("x\\n::error::forged: is not a known key")


def test_a_misspelled_required_key_is_pointed_at(tmp_path: Path) -> None:
    item = {**{key: value for key, value in ITEM.items() if key != "database"}, "databse": "harbour"}
    assert "database: is required and missing (did you mean 'databse'?)" in refusal(tmp_path, item)


def test_a_dialect_without_golden_sql_is_warned_about(tmp_path: Path) -> None:
    dataset = read(tmp_path, dialects=["sqlite", "mysql"])
    assert [warned.message for warned in dataset.warnings] == [
        "golden_sql: holds no golden SQL for mysql (only for sqlite); skipped there"
    ]
    assert dataset.items[0].golden_sql.pick("mysql") == ()


def test_golden_sql_for_a_dialect_that_is_not_listed_is_warned_about(tmp_path: Path) -> None:
    dataset = read(tmp_path, golden_sql={"sqlite": ["SELECT 1"], "duckdb": ["SELECT 1"]})
    assert codes(dataset) == ["unlisted_dialect"]


def test_an_item_without_dialects_takes_the_keys_of_its_golden_sql(tmp_path: Path) -> None:
    (item,) = read(tmp_path, dialects=None, golden_sql={"PG": ["SELECT 1"], "sqlite": [], "duckdb": "SELECT 1"}).items
    assert item.dialects == ("postgres", "duckdb")


def test_an_unknown_dialect_is_an_error_with_the_nearest_known_one(tmp_path: Path) -> None:
    message = refusal(tmp_path, {**ITEM, "id": 8, "dialects": ["oracel"], "golden_sql": {"oracel": ["SELECT 1"]}})
    assert "item 8: dialects: 'oracel' is no known dialect (did you mean 'oracle'?)" in message
    assert "item 8: golden_sql: 'oracel'" in message


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/b", "a\\b", "C:x", "..", ".", "a\x00b", "~root", " ", "x ", "a\nb", "x" * 300, 3]
)
def test_database_names_that_are_paths_are_refused(tmp_path: Path, name: Any) -> None:
    assert "item 1: database: " in refusal(tmp_path, {**ITEM, "database": name})


@pytest.mark.parametrize("name", ["db_blog", "california_schools", "Ünïcode", "a.b", "with blank", "v1-2"])
def test_plain_database_names_are_kept(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, database=name).items[0].database == name


def test_evidence_and_difficulty_come_from_where_datasets_put_them(tmp_path: Path) -> None:
    (item,) = read(tmp_path, other={"evidence": "boats float"}, tags=["JOIN", "Difficulty: simple", 3, None]).items
    assert (item.evidence, item.difficulty, item.tags) == ("boats float", "simple", ("JOIN", "Difficulty: simple", "3"))
    (item,) = read(tmp_path, evidence="e", difficulty="hard", tags="difficulty: simple").items
    assert (item.evidence, item.difficulty, item.tags) == ("e", "hard", ("difficulty: simple",))


def test_other_is_kept_and_takes_generated_sql_in(tmp_path: Path) -> None:
    dataset = read(tmp_path, other={"Comment": "LGTM", "n": None}, generated_sql="SELECT 2")
    assert dataset.items[0].other == {"Comment": "LGTM", "n": None, "generated_sql": "SELECT 2"}
    assert dataset.warnings == ()
    assert read(tmp_path, other="a note").items[0].other == {"other": "a note"}


def test_an_items_scoring_keys_are_checked(tmp_path: Path) -> None:
    (item,) = read(tmp_path, columns="any_order", golden_mode="sequence", state="strict", row_order="free").items
    assert (item.columns, item.golden_mode, item.state, item.row_order) == ("any_order", "sequence", "strict", "free")
    message = refusal(tmp_path, {**ITEM, "columns": "any-order", "golden_mode": 3, "state": ["strict"]})
    assert "columns: 'any-order' is none of position, any_order, superset (did you mean 'any_order'?)" in message
    assert "golden_mode: 3 is none of" in message
    assert "state: ['strict'] is none of" in message


@pytest.mark.parametrize(
    "declared, sql, effective",
    [
        ("ddl", "UPDATE users SET name = 'Joe'", "dml"),
        ("dql", "DELETE FROM boat", "dml"),
        ("dml", "SELECT 1", "dql"),
        ("dql", "-- note\n/* x */ (SELECT 1)", "dql"),
        ("dql", "WITH x AS (SELECT 1) SELECT * FROM x", "dql"),
        ("dml", "WITH x AS (SELECT 1) DELETE FROM boat", "dml"),
        ("dml", "CREATE TABLE t (a INT)", "ddl"),
        ("ddl", "EXEC sp_rename 'a', 'b'", "ddl"),
    ],
)
def test_an_item_runs_as_what_its_sql_is(tmp_path: Path, declared: str, sql: str, effective: str) -> None:
    dataset = read(tmp_path, query_type=declared, golden_sql={"sqlite": [sql]}, eval_query={"sqlite": ["SELECT 1"]})
    assert dataset.items[0].query_type == effective
    assert codes(dataset) == (["type_contradicted"] if declared != effective else [])


def test_a_contradicted_type_is_named_with_item_and_field(tmp_path: Path) -> None:
    (warned,) = read(tmp_path, query_type="ddl", golden_sql={"sqlite": ["UPDATE t SET a = 1"]}, eval_query="SELECT 1").warnings
    assert warned.message == "query_type: is ddl, but the golden SQL is dml in sqlite; it runs as dml"
    assert warned.subject == "1"
    assert warned.place.line == 2


def test_a_sequence_of_dml_may_prepare_with_other_statements(tmp_path: Path) -> None:
    dataset = read(
        tmp_path, query_type="dml", golden_sql=["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"], eval_query="SELECT 1"
    )
    assert dataset.items[0].query_type == "dml"
    assert dataset.warnings == ()


def test_dml_without_an_eval_query_is_warned_about(tmp_path: Path) -> None:
    dataset = read(tmp_path, query_type="dml", golden_sql={"sqlite": ["DELETE FROM boat"]}, eval_query={"sqlite": [None]})
    assert [warned.code for warned in dataset.warnings] == ["no_eval_query"]
    assert "eval_query" in dataset.warnings[0].message


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    path.write_text(json.dumps([{**ITEM, "nl_prompt": "a\ud800b"}]), encoding="ascii")
    with pytest.raises(DatasetError, match="surrogate"):
        load(path)
