"""Real files: EvalBench's own dataset, the page's example, the cases from public bug reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset import effective_dialects, load, read_source
from nl2sql_gate.errors import DatasetError


def test_bat_loads_without_a_warning(shared_data: Path) -> None:
    dataset = load(shared_data / "data/evalbench-bat/prompts.json", strict=True)
    assert len(dataset.items) == 23
    assert dataset.warnings == ()
    assert [sum(item.query_type == kind for item in dataset.items) for kind in ("dql", "dml", "ddl")] == [16, 3, 4]
    assert {item.database for item in dataset.items} == {"db_blog"}
    assert {effective_dialects(item, ["sqlite", "postgres"]) for item in dataset.items} == {("postgres", "sqlite")}
    assert all(not item.eval_query for item in dataset.items if item.query_type == "dql")
    lines = (shared_data / "data/evalbench-bat/prompts.json").read_text(encoding="utf-8").split("\n")
    assert all(lines[item.place.line - 1].strip() == "{" for item in dataset.items)


@pytest.mark.parametrize(
    "dialect, statements", [("sqlite", 20), ("postgres", 71), ("mysql", 20), ("mariadb", 20), ("sqlserver", 1)]
)
def test_bats_databases_are_read(shared_data: Path, dialect: str, statements: int) -> None:
    source = read_source(shared_data / "data/evalbench-bat/setup", "db_blog", dialect)
    assert len(source.setup) == statements
    assert len(source.tables) == 19
    assert all(table.columns == () for table in source.tables)
    users = next(table for table in source.tables if table.table == "tbl_users")
    assert users.rows[0][:6] == (1, "John", "Doe", "john.doe", "hashed_password", '{"twitter": "https://twitter.com/johndoe"}')
    messages = next(table for table in source.tables if table.table == "tbl_private_messages")
    assert messages.rows[2][4] == "Let's discuss our project tomorrow."
    assert messages.rows[0][6] is True
    assert messages.rows[0][11] is None
    names = [table.table for table in source.tables]
    assert dialect == "postgres" or names.index("tbl_posts") < names.index("tbl_comments")


def test_bats_sources_differ_by_dialect_and_not_by_place(shared_data: Path, tmp_path: Path) -> None:
    setup = shared_data / "data/evalbench-bat/setup"
    digests = {dialect: read_source(setup, "db_blog", dialect).digest for dialect in ("sqlite", "postgres", "mysql", "mariadb")}
    assert len(set(digests.values())) == 4
    for path in setup.rglob("*"):
        if path.is_file():
            copy = tmp_path / "elsewhere" / path.relative_to(setup)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    assert read_source(tmp_path / "elsewhere", "db_blog", "sqlite").digest == digests["sqlite"]


def test_the_pages_example_loads_exactly_as_printed(shared_data: Path, tmp_path: Path) -> None:
    page = (shared_data / "seeds/002_c75f95de8e873bb6.txt").read_text(encoding="utf-8")
    start = page.index('{\n  "id": 43')
    path = tmp_path / "items.json"
    path.write_text(page[start : page.index("\n}\n", start) + 3], encoding="utf-8")
    dataset = load(path)
    (item,) = dataset.items
    assert (item.id, item.query_type, item.difficulty) == ("43", "dml", "simple")
    assert item.dialects == ("postgres", "mysql", "sqlserver", "sqlite")
    assert item.other == {"author": "Gemini", "include-in-monthly-eval-report": True}
    assert [(warned.code, warned.place.line) for warned in dataset.warnings] == [
        ("trailing_comma", 44),
        ("python_literal", 47),
        ("type_contradicted", 1),
    ]
    with pytest.raises(DatasetError) as caught:
        load(path, strict=True)
    assert "line 44, column 3" in str(caught.value)
    assert "line 47, column 39" in str(caught.value)


def test_cases_from_bug_reports(shared_data: Path, tmp_path: Path) -> None:
    lines = (shared_data / "cases/public.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "dataset"]
    assert len(cases) == 27
    failures = [failure for case in cases for failure in _failures(case, tmp_path)]
    assert failures == []


def _failures(case: dict[str, Any], folder: Path) -> list[str]:
    """What of the case's expectation about loading does not hold. Pairing with predictions is tested with the replay generator."""
    expect = case["expect"]
    path = folder / f"{case['id']}.json"
    path.write_bytes(bytes.fromhex(case["dataset"].get("bytes_prefix_hex", "")) + case["dataset"]["text"].encode())
    (folder / "setup").mkdir(exist_ok=True)
    before = set(folder.rglob("*"))
    said, items = "", ()
    try:
        dataset = load(path, strict=case.get("strict", False))
        said, items = " ".join(f"item {warned.subject}: {warned.message}" for warned in dataset.warnings), dataset.items
        if case["id"].startswith("ds-no-db"):
            from nl2sql_gate.dataset import read_sources

            read_sources(folder / "setup", items, ["sqlite"])
        loads = True
    except DatasetError as error:
        said, loads = str(error), False
    wrong = [f"{case['id']}: created {path}" for path in set(folder.rglob("*")) - before]
    if expect.get("loads", loads) != loads:
        wrong.append(f"{case['id']}: loads is {loads}: {said}")
    if "items" in expect and expect["items"] != len(items):
        wrong.append(f"{case['id']}: {len(items)} items")
    if "query_type" in expect and [item.query_type for item in items] != [expect["query_type"]]:
        wrong.append(f"{case['id']}: {items}")
    mentions = [*expect.get("error_mentions", []), *expect.get("warning_mentions", []), *expect.get("report_mentions", [])]
    if "predictions" not in case["dataset"]:
        mentions += expect.get("error_or_warning_mentions", [])
    wrong += [f"{case['id']}: {part!r} is not in: {said}" for part in mentions if part.lower() not in said.lower()]
    if "loads_or_error_mentions" in expect and not (items and items[0].dialects == ("postgres",)):
        wrong.append(f"{case['id']}: {items}")
    for dialect, count in expect.get("runs_on", {}).items():
        running = [item for item in items if effective_dialects(item, [dialect]) and item.golden_sql.pick(dialect)]
        if len(running) != count:
            wrong.append(f"{case['id']}: {len(running)} items run on {dialect}")
    return wrong
