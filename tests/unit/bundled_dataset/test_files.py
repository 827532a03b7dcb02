"""The files of the bundled dataset: shape, counts, and rows that come out the same wherever they are made."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from thistledown import DATABASES, DIALECTS, FOLDER, SETUP, questions
from thistledown_servers import Bench

from nl2sql_gate.dataset import load

CLOCKS_AND_CHANCE = re.compile(r"\b(NOW|GETDATE|SYSDATE|CURRENT_\w+|RAND|RANDOM|NEWID|UUID)\b(?!SCHEMA)", re.IGNORECASE)


def test_loads_without_a_warning() -> None:
    assert load(FOLDER / "items.json").warnings == ()


def test_json_is_canonical() -> None:
    text = (FOLDER / "items.json").read_text(encoding="utf-8")
    assert json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n" == text


def test_counts_are_those_of_the_readme() -> None:
    counts = Counter(item.kind for item in questions())
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"{sum(counts.values())} items: {counts['dql']} dql, {counts['dml']} dml, {counts['ddl']} ddl" in readme
    for database in DATABASES:
        for table in sorted((SETUP / database / "data").glob("*.csv")):
            rows = len(table.read_text(encoding="utf-8").splitlines())
            assert f"| `{database}` | `{table.stem}` | {rows} |" in readme


def test_every_item_is_complete() -> None:
    for item in questions():
        assert list(DIALECTS) == item.raw["dialects"], item.id
        assert item.raw["tags"][0] == item.kind.upper(), item.id
        assert any(tag in item.raw["tags"] for tag in ("difficulty: simple", "difficulty: moderate", "difficulty: challenging"))
        for dialect in DIALECTS:
            assert item.sql("golden_sql", dialect), (item.id, dialect)
            assert bool(item.sql("eval_query", dialect)) == (item.kind != "dql"), (item.id, dialect)


def test_questions_differ() -> None:
    assert [text for text, count in Counter(item.raw["nl_prompt"].lower() for item in questions()).items() if count > 1] == []


def test_no_golden_depends_on_clock_or_chance() -> None:
    texts = [(item.id, sql) for item in questions() for dialect in DIALECTS for sql in item.sql("golden_sql", dialect)]
    assert [pair for pair in texts if CLOCKS_AND_CHANCE.search(pair[1])] == []


def test_mysql_texts_run_on_mariadb_too() -> None:
    assert [item.id for item in questions() for sql in item.sql("golden_sql", "mysql") if re.search(r"->>|LATERAL", sql)] == []


def test_every_question_has_one_reply_per_model_and_dialect() -> None:
    wanted = Counter((item.id, dialect) for item in questions() for dialect in DIALECTS)
    for model in ("model_a", "model_b"):
        lines = (FOLDER / "replies" / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
        found = Counter((reply["id"], reply["dialect"]) for reply in map(json.loads, lines))
        assert wanted == found, model


def test_rows_are_made_again_to_the_byte(root: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(root / "tools" / "make_bundled_dataset.py"), str(tmp_path)], check=True, capture_output=True
    )
    for database in DATABASES:
        made = {path.name: path.read_bytes() for path in (tmp_path / database / "data").iterdir()}
        assert {path.name: path.read_bytes() for path in (SETUP / database / "data").iterdir()} == made


def test_rows_refer_to_rows_that_exist(sqlite_databases: Bench) -> None:
    for database in DATABASES:
        assert sqlite_databases.rows(database, "PRAGMA foreign_key_check") == []


def test_hives_are_visited_only_while_they_stand(sqlite_databases: Bench) -> None:
    for table, day in (("inspections", "inspected_at"), ("harvests", "harvested_on"), ("treatments", "started_on")):
        strays = (
            f"SELECT * FROM {table} t JOIN hives h USING (hive_id) WHERE DATE({day}) < installed_on OR DATE({day}) > retired_on"
        )
        assert sqlite_databases.rows("bee_yards", strays) == [], table
