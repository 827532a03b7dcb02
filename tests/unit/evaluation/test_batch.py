"""Many pairs at once: scores, workers that die, kept golden results."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.evaluation.batch import QueryPair, main, read_pairs, score_pairs
from nl2sql_gate.evaluation.workers import run_forked
from nl2sql_gate.records import Limits


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sales (city TEXT, amount REAL)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [("Oslo", 1.5), ("Bern", 2.5), ("Bern", 2.5), (None, 4)])
    connection.close()
    return str(path)


CASES = [
    ("SELECT city FROM sales", "SELECT city FROM sales", {"ex": 1, "f1": 1.0}),
    ("SELECT city FROM sales", "SELECT city FROM sales ORDER BY city DESC", {"ex": 1, "f1": 1.0}),
    ("SELECT city FROM sales ORDER BY city", "SELECT city FROM sales ORDER BY city DESC", {"ex": 0, "f1": 1.0}),
    ("SELECT city FROM sales ORDER BY amount", "SELECT city FROM sales ORDER BY amount, city DESC", {"ex": 1, "f1": 1.0}),
    ("SELECT city FROM sales", "SELECT DISTINCT city FROM sales", {"ex": 0, "exp": 1.0, "exr": 0.75}),
    ("SELECT city, amount FROM sales", "SELECT amount, city FROM sales", {"ex": 0, "f1": 1.0}),
    ("SELECT city FROM sales", "SELECT town FROM sales", {"ex": 0, "error": "no such column: town"}),
    ("SELECT city FROM sales", "DELETE FROM sales", {"ex": 0, "f1": 0.0}),
    ("SELECT town FROM sales", "SELECT city FROM sales", {"golden_error": "no such column: town"}),
    ("SELECT random()", "SELECT random()", {"ex": 0}),
]


def pairs_of(database: str) -> list[QueryPair]:
    return [QueryPair(str(i), database, golden, generated) for i, (golden, generated, _) in enumerate(CASES)]


@pytest.mark.parametrize("workers", [1, 3])
def test_pairs_are_scored_as_the_gate_scores_them(database: str, workers: int) -> None:
    scores = score_pairs(pairs_of(database), workers=workers)
    assert [score["id"] for score in scores] == [str(i) for i in range(len(CASES))]
    wrong = [
        (i, expected, score)
        for i, ((_, _, expected), score) in enumerate(zip(CASES, scores, strict=True))
        if not expected.items() <= score.items()
    ]
    assert wrong == []


def test_a_missing_file_and_a_deadline(database: str, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    pairs = [QueryPair("1", str(tmp_path / "absent"), "SELECT 1", "SELECT 1"), QueryPair("2", database, "SELECT 1", endless)]
    absent, slow = score_pairs(pairs, workers=2, limits=Limits(statement_s=0.2))
    assert "absent" in absent["fault"]
    assert (slow["ex"], slow["reason"]) == (0, "timeout")
    assert not (tmp_path / "absent").exists()


def test_a_worker_that_dies_costs_its_task_only() -> None:
    def make() -> Callable[[int], Any]:
        def task(number: int) -> int:
            if number in {3, 17}:
                os.kill(os.getpid(), signal.SIGKILL)
            return number * number

        return task

    assert run_forked(range(40), make, workers=2) == {i: i * i for i in range(40) if i not in {3, 17}}


def test_big_results_of_many_tasks_arrive() -> None:
    found = run_forked(range(5000), lambda: lambda number: "x" * 200 + str(number), workers=2)
    assert len(found) == 5000
    assert found[4999] == "x" * 200 + "4999"


def test_kept_goldens_give_the_same_scores_until_the_database_changes(database: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = score_pairs(pairs_of(database), workers=1, golden_cache=cache)
    kept = {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    # Golden texts that ran, each once: neither the failing one nor the random one.
    assert len(kept) == 4
    again = score_pairs(pairs_of(database), workers=1, golden_cache=cache)
    assert first[:-1] == again[:-1]
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO sales VALUES ('Rome', 1)")
    connection.close()
    changed = score_pairs([QueryPair("1", database, "SELECT city FROM sales", "SELECT 'x'")], workers=1, golden_cache=cache)
    assert changed[0]["golden"] == 5
    for path in kept:
        path.write_bytes(b"broken")
    assert score_pairs(pairs_of(database), workers=1, golden_cache=cache)[0]["ex"] == 1


def test_the_command_writes_a_report(database: str, tmp_path: Path) -> None:
    lines = [{"id": p.id, "db_path": p.db_path, "gold": p.golden_sql, "pred": p.generated_sql} for p in pairs_of(database)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main([str(tmp_path / "pairs.jsonl"), "--out", str(tmp_path / "scores.json"), "--workers", "1"]) == 0
    report = json.loads((tmp_path / "scores.json").read_text())
    assert (report["format"], report["pairs"], report["scored"], report["golden_errors"]) == ("nl2sql-gate/batch/v1", 10, 9, 1)
    assert report["ex"] == [1, 1, 0, 1, 0, 0, 0, 0, None, 0]


def test_a_line_that_is_no_pair_is_named(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"id": 1, "db_path": "x"}\n{"id": 2}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="jsonl:2"):
        read_pairs(tmp_path / "pairs.jsonl")
    assert main([str(tmp_path / "pairs.jsonl"), "--out", str(tmp_path / "scores.json")]) == 2
