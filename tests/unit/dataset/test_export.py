"""What is written is read back the same; canonical JSON stays as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2sql_gate.dataset import load
from nl2sql_gate.dataset.canonical_file import canonical_file
from nl2sql_gate.dataset.export import bird_json, evalbench_json
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item, Place, SqlField

REAL = (
    "data/evalbench-bat/prompts.json",
    "data/bird-mini-dev/mini_dev_sqlite.json",
    "data/spider/dev.json",
    "data/defog/questions/questions_gen_postgres.csv",
    "data/defog/questions/instruct_advanced_tsql.csv",
)
FULL = Item(
    id="007",
    question="How many boats?\n-- a second line",
    query_type="dml",
    database="harbour",
    dialects=("postgres", "sqlite"),
    golden_sql=SqlField({"postgres": ("DELETE FROM boat", "SELECT 1"), "sqlite": ("DELETE FROM boat",)}),
    evidence="é",
    eval_query=SqlField({"postgres": ("SELECT * FROM boat",)}),
    setup_sql=SqlField(everywhere=("INSERT INTO boat VALUES (1)",)),
    cleanup_sql=SqlField({"sqlite": ("SELECT 2",)}),
    tags=("a", "difficulty: hard"),
    difficulty="hard",
    other={"evidence": "of another kind", "SQL": "not golden", "n": [1, None, {"x": 2.5}]},
    columns="superset",
    golden_mode="sequence",
    row_order="free",
    state="strict",
)


def without_places(items: tuple[Item, ...]) -> list[Item]:
    return [replace(item, place=Place(), golden_sql=_plain(item.golden_sql), other=dict(item.other)) for item in items]


def _plain(field: SqlField) -> SqlField:
    return SqlField(dict(field.by_dialect), field.everywhere)


def read_back(folder: Path, text: str, name: str = "back.json") -> list[Item]:
    (folder / name).write_text(text, encoding="utf-8")
    return without_places(load(folder / name, strict=True).items)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("form", ["evalbench", "bird"])
def test_real_files_lose_nothing(shared_data: Path, tmp_path: Path, name: str, form: str) -> None:
    items = load(shared_data / name).items
    text = evalbench_json(items) if form == "evalbench" else bird_json(items, dialect="postgres" if "bat" in name else "")
    assert read_back(tmp_path, text) == without_places(items)


def test_every_field_of_an_item_comes_back(tmp_path: Path) -> None:
    assert read_back(tmp_path, evalbench_json([FULL])) == without_places((FULL,))
    assert read_back(tmp_path, bird_json([FULL], dialect="sqlite")) == without_places((FULL,))


def test_bird_written_is_bird_where_bird_can_say_it(shared_data: Path) -> None:
    path = shared_data / "data/bird-mini-dev/mini_dev_sqlite.json"
    assert json.loads(bird_json(load(path).items)) == json.loads(path.read_text(encoding="utf-8"))


def test_birds_form_needs_one_dialect() -> None:
    with pytest.raises(DatasetError, match="1 items cannot be written") as caught:
        bird_json([FULL])
    assert "item 007: has golden SQL in postgres, sqlite" in str(caught.value)
    with pytest.raises(DatasetError) as caught:
        bird_json([FULL], dialect="mysql")
    assert "item 007: has no golden SQL in mysql" in str(caught.value)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(str.strip)
NAMES = st.text("abc_ 12", min_size=1, max_size=6).map(str.strip).filter(bool)
SQL = st.builds("SELECT {}".format, st.integers(0, 9))
FIELDS = st.one_of(
    st.builds(
        SqlField,
        st.dictionaries(st.sampled_from(["sqlite", "postgres", "mysql"]), st.lists(SQL, min_size=1, max_size=2).map(tuple)),
    ),
    st.builds(lambda sql: SqlField(everywhere=(sql,)), SQL),
)
ITEMS = st.builds(
    Item,
    id=st.one_of(NAMES, st.integers(0, 99).map(str)),
    question=TEXTS,
    query_type=st.just("dql"),
    database=NAMES,
    dialects=st.just(("sqlite", "postgres")),
    golden_sql=FIELDS,
    evidence=st.one_of(st.just(""), TEXTS),
    eval_query=FIELDS,
    setup_sql=FIELDS,
    tags=st.lists(NAMES, unique=True, max_size=2).map(tuple),
    difficulty=st.one_of(st.just(""), NAMES),
    other=st.dictionaries(st.sampled_from(["evidence", "x", "id", "SQL", "question"]), st.one_of(st.none(), TEXTS), max_size=2),
    columns=st.sampled_from(["", "any_order"]),
)


@settings(max_examples=60, deadline=None)
@given(ITEMS)
def test_any_item_comes_back(tmp_path_factory: pytest.TempPathFactory, item: Item) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert read_back(folder, evalbench_json([item])) == without_places((item,))
    if item.golden_sql.pick("sqlite"):
        assert read_back(folder, bird_json([item], dialect="sqlite")) == without_places((item,))


def test_canonical_json_is_a_fixed_point(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    path.write_text("[{'nl_prompt': 'é', 'id': 1, 'zeta': True, 'golden_sql': [], },]\n", encoding="utf-8")
    first = canonical_file(path)
    assert first.text == '[\n  {\n    "id": 1,\n    "nl_prompt": "é",\n    "golden_sql": [],\n    "zeta": true\n  }\n]\n'
    assert not first.is_canonical
    assert len(first.mended) == 8
    path.write_text(first.text, encoding="utf-8")
    again = canonical_file(path)
    assert again.is_canonical
    assert (again.text, again.mended) == (first.text, ())


@pytest.mark.parametrize(
    "name, text, canonical",
    [
        ("one.json", '{"nl_prompt": "q", "id": 1}', '{\n  "id": 1,\n  "nl_prompt": "q"\n}\n'),
        ("a.jsonl", '{"nl_prompt": "q", "id": 1}\n\n{"id": 2}', '{"id": 1, "nl_prompt": "q"}\n{"id": 2}\n'),
    ],
)
def test_other_containers_keep_their_form(tmp_path: Path, name: str, text: str, canonical: str) -> None:
    (tmp_path / name).write_text(text)
    assert canonical_file(tmp_path / name).text == canonical


def test_comments_are_lost_only_knowingly(tmp_path: Path) -> None:
    (tmp_path / "items.json").write_text('[{"id": 1} // the first\n]')
    assert canonical_file(tmp_path / "items.json").lost == ("line 1, column 12: a comment, which JSON does not have",)


def test_files_that_are_no_json_have_no_canonical_form(tmp_path: Path) -> None:
    (tmp_path / "items.yaml").write_text("- id: 1\n")
    with pytest.raises(DatasetError, match="is no JSON file"):
        canonical_file(tmp_path / "items.yaml")
