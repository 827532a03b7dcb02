"""`mutate`, `sensitivity` and the generator `mutant`, as a user runs them."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shop import ROWS, SETUP, Shop, item

GIVEN = ("--dataset", "items.json", "--setup-directory", "setup")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(sql: str) -> list[tuple[Any, ...]]:
    """What SQL gives in the shop, by the plainest means."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(SETUP)
    for table, text in ROWS.items():
        for line in text.splitlines():
            connection.execute(f"INSERT INTO {table} VALUES ({line})")
    return sorted(connection.execute(sql).fetchall(), key=repr)


def test_every_kept_mutant_runs_and_differs(shop: Shop) -> None:
    ran = shop.gate("mutate", *GIVEN, "--to", "mutants.jsonl", "--sites", "all")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = lines(shop.folder / "mutants.jsonl")
    kept = [each for each in found if each["fate"] == "killed"]
    assert {each["id"] for each in kept} == {"q1", "q2", "q3", "q4", "q5", "q6"}
    ordered = {"order_remove", "order_direction_flip", "order_key_swap"}
    assert [each for each in kept if not ordered & set(each["operators"]) and rows(each["sql"]) == rows(each["golden_sql"])] == []
    counts = Counter(each["fate"] for each in found)
    assert f"{counts['killed']} killed, {counts['survived']} survived" in ran.stdout
    assert f"({counts['killed']}/{counts['killed'] + counts['survived']} killed)" in ran.stdout


def test_survivors_are_named_with_what_their_data_lacks(shop: Shop) -> None:
    ran = shop.gate("mutate", *GIVEN, "--only", "q6")
    assert "weak      q6:" in ran.stdout
    assert "            distinct_toggle: with DISTINCT (needs two rows that are equal in the selected columns)" in ran.stdout


def test_the_same_seed_gives_the_same_file_and_another_seed_another(shop: Shop) -> None:
    texts = []
    for hash_seed, seed in (("0", "1"), ("1", "1"), ("0", "2")):
        shop.environment["PYTHONHASHSEED"] = hash_seed
        assert shop.gate("mutate", *GIVEN, "--seed", seed, "--to", f"{hash_seed}{seed}").returncode == 0
        texts.append((shop.folder / f"{hash_seed}{seed}").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_a_mark_takes_a_survivor_out_of_the_score(shop: Shop) -> None:
    marks = shop.folder / "equivalents.jsonl"
    marks.write_text(
        json.dumps({"id": "q6", "sql": "SELECT DISTINCT name FROM customer  ORDER BY name;", "reason": "names are unique"})
        + "\n"
        + json.dumps({"id": "q6", "sql": "SELECT 1", "reason": "gone"})
        + "\n"
        + json.dumps({"id": "q6", "sql": "SELECT name FROM customer", "reason": "the order is that of the table"})
        + "\n"
    )
    ran = shop.gate("mutate", *GIVEN, "--only", "q6", "--equivalents", "equivalents.jsonl", "--to", "m.jsonl")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    fates = {tuple(each["operators"]): each for each in lines(shop.folder / "m.jsonl")}
    assert fates["distinct_toggle",]["fate"] == "equivalent"
    assert fates["distinct_toggle",]["reason"] == "names are unique"
    assert "idle      line 2: no mutant of q6 is marked by it any more: SELECT 1" in ran.stdout
    assert "distinct_toggle" not in ran.stdout


def test_a_mark_that_the_data_contradicts_is_said(shop: Shop) -> None:
    mark = {"id": "q2", "dialect": "sqlite", "sql": "SELECT name FROM customer", "reason": "all live in Oslo"}
    (shop.folder / "equivalents.jsonl").write_text(json.dumps(mark) + "\n")
    ran = shop.gate("mutate", *GIVEN, "--only", "q2", "--equivalents", "equivalents.jsonl")
    assert "wrong     q2: marked as equivalent (all live in Oslo), and its result differs" in ran.stdout


@pytest.mark.parametrize("line", ["{", '{"id": "q2", "sql": "SELECT 1"}', '{"id": "q2", "sql": "x", "reason": "y", "why": 1}'])
def test_a_mark_that_is_none_stops_the_command(shop: Shop, line: str) -> None:
    (shop.folder / "equivalents.jsonl").write_text(line)
    ran = shop.gate("mutate", *GIVEN, "--equivalents", "equivalents.jsonl")
    assert ran.returncode == 2
    assert "equivalents.jsonl:1" in ran.stderr


def test_a_score_below_the_limit_fails(shop: Shop) -> None:
    assert shop.gate("mutate", *GIVEN, "--only", "q6", "--min-score", "0.3").returncode == 0
    ran = shop.gate("mutate", *GIVEN, "--only", "q6", "--min-score", "0.99")
    assert ran.returncode == 1
    assert "too low   sqlite:" in ran.stderr


def test_a_golden_that_fails_is_left_out_and_named(shop: Shop) -> None:
    shop.items.append(item("q7", "?", "SELECT nothing FROM customer"))
    shop.write()
    ran = shop.gate("mutate", *GIVEN)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "left out  q7: golden SQL fails" in ran.stdout


def test_an_alternative_is_no_error(shop: Shop) -> None:
    shop.items = [item("q1", "?", "SELECT name, city FROM customer WHERE city = 'Oslo'")]
    shop.items[0]["golden_sql"]["sqlite"].append("select name from customer where city = 'Oslo'")
    shop.write()
    shop.gate("mutate", *GIVEN, "--operator", "projection_drop", "--sites", "all", "--to", "m.jsonl")
    fates = {each["sql"]: each["fate"] for each in lines(shop.folder / "m.jsonl")}
    assert fates["SELECT name FROM customer WHERE city = 'Oslo'"] == "equivalent"
    assert fates["SELECT city FROM customer WHERE city = 'Oslo'"] == "killed"


def test_a_write_is_judged_by_what_it_leaves(shop: Shop) -> None:
    shop.items = [
        {**item("w1", "?", "UPDATE purchase SET paid = 1 WHERE amount < 10"), "query_type": "dml"},
        {**item("w2", "?", "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT NOT NULL)"), "query_type": "ddl"},
    ]
    shop.write()
    ran = shop.gate("mutate", *GIVEN, "--to", "m.jsonl")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    fates = {(each["id"], each["operators"][0]): each["fate"] for each in lines(shop.folder / "m.jsonl")}
    assert fates["w1", "where_remove"] == "killed"
    assert fates["w1", "written_value"] == "killed"
    assert fates["w2", "defined_name"] == "killed"
    assert fates["w2", "column_def_drop"] == "killed"


def test_several_errors_and_errors_in_turn(shop: Shop) -> None:
    shop.gate("mutate", *GIVEN, "--only", "q4", "--depth", "2", "--most", "25", "--to", "m.jsonl")
    found = lines(shop.folder / "m.jsonl")
    assert len(found) == 25
    assert {each["depth"] for each in found} <= {1, 2}
    shop.gate("mutate", *GIVEN, "--only", "q4", "--sequence", "projection_drop,join_break", "--to", "n.jsonl")
    assert [each["operators"] for each in lines(shop.folder / "n.jsonl")] == [["projection_drop", "join_break"]]


def test_sqlmorphs_form(shop: Shop) -> None:
    shop.items[0]["id"] = 11
    shop.write()
    shop.gate("mutate", *GIVEN, "--to", "mutants_depth1.json", "--form", "sqlmorph")
    found = json.loads((shop.folder / "mutants_depth1.json").read_text())
    assert set(found[0]) == {"question_id", "db_id", "depth", "operators", "mutated_sql", "error_count", "gold_sql"}
    assert found[0]["question_id"] == 11
    assert found[0]["db_id"] == "shop"
    assert all(each["error_count"] == each["depth"] == len(each["operators"]) == 1 for each in found)


def test_without_a_database_mutants_are_only_written(shop: Shop) -> None:
    ran = shop.gate("mutate", "--dataset", "items.json", "--no-run", "--to", "m.jsonl")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "none of them run" in ran.stdout
    assert {each["fate"] for each in lines(shop.folder / "m.jsonl")} == {"unmeasured"}


def test_the_operators_are_listed(shop: Shop) -> None:
    ran = shop.gate("mutate", "--list")
    assert "* where_strengthen" in ran.stdout
    assert "  date_boundary" in ran.stdout


@pytest.mark.parametrize(
    "arguments",
    [("--operator", "no_such_error"), ("--sites", "0"), ("--sequence", "limit_remove,limit_increase"), ("--depth", "9")],
)
def test_what_cannot_be_made_is_a_usage_error(shop: Shop, arguments: tuple[str, ...]) -> None:
    assert shop.gate("mutate", *GIVEN, *arguments).returncode == 2


def test_what_each_metric_sees(shop: Shop) -> None:
    shop.environment["NL2SQL_GATE_EMBEDDING_CACHE"] = ""
    techniques = ("execution_accuracy_bird", "exact_column_and_exact_cell", "no_column_and_partial_cell")
    chosen = [argument for name in techniques for argument in ("--technique", name)]
    ran = shop.gate("sensitivity", *GIVEN, *chosen, "--to", "seen")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with (shop.folder / "seen" / "sensitivity.csv").open(newline="") as file:
        table = {(row["error"], row["technique"]): row for row in csv.DictReader(file)}
    projection = table["projection_drop", "exact_column_and_exact_cell"]
    # One of two columns is lost: all that is there is right, half of what should be there is.
    assert (float(projection["exp"]), float(projection["exr"])) == (1.0, 0.5)
    assert float(projection["ex"]) == 0.0
    assert table["all errors", "execution_accuracy_bird"]["exp"] == ""
    assert json.loads((shop.folder / "seen" / "sensitivity.json").read_text())[0]["error"] == "projection_drop"
    assert "all errors" in (shop.folder / "seen" / "sensitivity.txt").read_text()
    picture = (shop.folder / "seen" / "sensitivity.svg").read_text()
    assert picture.startswith("<svg ")
    assert picture.count("<rect") > len(table) / 2


def test_a_run_with_a_mutant_as_its_model_and_mutants_that_were_run(shop: Shop) -> None:
    shop.gate("mutate", *GIVEN, "--to", "mutants.jsonl")
    common = ("run", *GIVEN, "--generator", "mutant", "--set", "policy.min_drop=0.0")
    ran = shop.gate(*common, "--set", "model.error_rate=0", "--out", "good")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = shop.gate(
        *common, "--replies", "mutants.jsonl", "--set", "model.error_rate=1", "--baseline", "good/baseline.json", "--out", "bad"
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    cases = json.loads((shop.folder / "bad" / "run.json").read_text())["cases"]
    assert {case["scores"]["execution_accuracy"]["value"] for case in cases} == {0}
