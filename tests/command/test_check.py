"""The audit through the real command: what is wrong is found by id, item and dialect."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shop import Shop, item

pytestmark = pytest.mark.server


def audit(shop: Shop, *arguments: str) -> tuple[int, dict[tuple[str, str], str]]:
    ran = shop.gate("check", "--dataset", "items.json", "--setup-directory", "setup", "--output-format", "json", *arguments)
    assert ran.returncode in {0, 1}, ran.stderr
    found = json.loads(ran.stdout)["findings"]
    return ran.returncode, {(finding["id"], finding["item"]): finding["message"] for finding in found}


def with_items(shop: Shop, **goldens: str) -> Shop:
    shop.items = [item(name.replace("_", "-"), f"Question {name}?", sql) for name, sql in goldens.items()]
    shop.write()
    return shop


def test_a_clean_dataset_ends_0(shop: Shop) -> None:
    assert audit(shop) == (0, {})


@pytest.mark.parametrize(
    ("golden", "finding"),
    [
        ("SELECT nope FROM customer", "golden-error"),
        ("SELECT name FROM customer WHERE city = 'Rome'", "golden-empty"),
        ("SELECT city FROM customer WHERE city IS NULL", "golden-all-null"),
        ("SELECT name FROM customer LIMIT 2", "limit-unordered"),
        ("SELECT id, amount FROM purchase ORDER BY amount LIMIT 2", "limit-tie"),
        ("SELECT name, city FROM customer ORDER BY city", "null-order"),
        ("SELECT (id * 5) || '' AS a FROM purchase ORDER BY a", "numeric-text"),
        ("SELECT name FROM customer WHERE id < CAST(strftime('%Y', 'now') AS INTEGER) - 2024", "golden-clock"),
        ("SELECT random()", "golden-unstable"),
        ("SELECT name, COUNT(*) FROM customer", "golden-order"),
    ],
)
def test_what_is_wrong_with_a_golden_is_found(shop: Shop, golden: str, finding: str) -> None:
    with_items(shop, good="SELECT COUNT(*) FROM customer", bad=golden)
    _, found = audit(shop)
    assert (finding, "bad") in found, found
    assert not [key for key in found if key[1] == "good"]


def test_a_golden_that_depends_on_the_physical_order_is_found(shop: Shop) -> None:
    with_items(shop, bad="SELECT group_concat(word) FROM log", good="SELECT COUNT(*) FROM log")
    with (shop.folder / "setup/shop/sqlite/setup.sql").open("a") as script:
        script.write("CREATE TABLE log (word TEXT);")
    (shop.folder / "setup/shop/data/log.csv").write_text("'one'\n'two'\n")
    assert audit(shop)[1] == {("golden-order", "bad"): "other rows when the tables are filled in reverse"}


def test_a_type_that_the_sql_contradicts_is_found(shop: Shop) -> None:
    with_items(shop, bad="SELECT COUNT(*) FROM customer")
    shop.items[0]["query_type"] = "ddl"
    shop.write()
    assert ("type-contradicts", "bad") in audit(shop)[1]


@pytest.mark.parametrize(
    ("other", "disagrees"),
    [
        ("SELECT name, city FROM customer WHERE city = 'Oslo'", False),
        ("SELECT city, name FROM customer WHERE city = 'Oslo'", False),
        ("SELECT name FROM customer WHERE id IN (1, 4)", False),
        ("SELECT city FROM customer WHERE city = 'Oslo'", True),
        ("SELECT name, city FROM customer WHERE id < 3", True),
    ],
)
def test_alternatives_agree_where_one_only_shows_more(shop: Shop, other: str, disagrees: bool) -> None:
    golden = "SELECT name FROM customer WHERE city = 'Oslo'"
    shop.items = [item("q", "Who lives in Oslo?", golden, golden_sql={"sqlite": [golden, other]})]
    shop.write()
    assert (("alternatives-disagree", "q") in audit(shop)[1]) is disagrees


def test_a_tie_that_does_not_reach_the_limit_is_none(shop: Shop) -> None:
    with_items(shop, good="SELECT id, amount FROM purchase ORDER BY amount LIMIT 3")
    assert audit(shop) == (0, {})


def test_a_finding_is_waived_with_a_reason_and_an_idle_waiver_is_an_error(shop: Shop) -> None:
    with_items(shop, empty="SELECT name FROM customer WHERE city = 'Rome'")
    waivers = shop.folder / "waivers.yml"
    waivers.write_text("- {finding: golden-empty, item: empty, reason: nobody lives there}\n")
    code, found = audit(shop, "--waive", "waivers.yml", "--fail-on", "warning")
    assert (code, found) == (0, {("golden-empty", "empty"): "0 rows"})
    waivers.write_text("- {finding: limit-tie, item: empty, reason: x}\n")
    ran = shop.gate("check", "--dataset", "items.json", "--setup-directory", "setup", "--waive", "waivers.yml")
    assert (ran.returncode, "nothing is found there any more" in ran.stderr) == (2, True)


def test_sarif_names_file_line_and_rule(shop: Shop) -> None:
    with_items(shop, bad="SELECT name FROM customer LIMIT 2")
    ran = shop.gate("check", "--dataset", "items.json", "--setup-directory", "setup", "--output-format", "sarif")
    assert ran.returncode == 1
    entry = json.loads(ran.stdout)["runs"][0]["results"][0]
    assert entry["ruleId"] == "limit-unordered"
    assert entry["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "items.json"
    assert entry["locations"][0]["physicalLocation"]["region"]["startLine"] > 0


def run_check(shared_data: Path, *arguments: str) -> set[tuple[Any, ...]]:
    ran = subprocess.run(
        [sys.executable, "-m", "nl2sql_gate", "check", "--output-format", "json", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode in {0, 1}, ran.stderr
    return {(finding["id"], finding["item"], finding["dialect"]) for finding in json.loads(ran.stdout)["findings"]}


def test_the_known_faults_of_bat_are_found(shared_data: Path) -> None:
    bat = shared_data / "data" / "evalbench-bat"
    found = run_check(
        shared_data,
        "--dataset",
        f"{bat}/prompts.json",
        "--setup-directory",
        f"{bat}/setup",
        "--dialect",
        "sqlite",
        "--dialect",
        "postgres",
    )
    assert found == {
        # The eval_query has a blank in the column's name; SQLite's table_info does not list generated columns.
        ("effect-unseen", "255", "postgres"),
        ("effect-unseen", "256", "sqlite"),
        ("limit-tie", "100", "postgres"),
        ("limit-tie", "100", "sqlite"),
        ("dialects-disagree", "100", "postgres"),
        ("golden-clock", "42", "postgres"),
        ("golden-clock", "42", "sqlite"),
        *(("golden-error", item_id, dialect) for item_id in ("200", "43", "185") for dialect in ("postgres", "sqlite")),
        ("foreign-literal", "43", "bigquery"),
    }


def test_the_known_faults_of_bird_mini_dev_are_found(shared_data: Path) -> None:
    folder = shared_data / "data" / "bird-mini-dev"
    questions = json.loads((folder / "mini_dev_sqlite.json").read_text())
    found = run_check(shared_data, "--dataset", f"{folder}/mini_dev_sqlite.json", "--setup-directory", f"{folder}/databases")
    by_finding: dict[str, set[str]] = {}
    for finding, item_id, _ in found:
        by_finding.setdefault(finding, set()).add(item_id)
    today = {str(each["question_id"]) for each in questions if re.search(r"CURRENT_|'now'", each["SQL"], re.IGNORECASE)}
    assert len(today) == 10
    # 1031 asks DATETIME() for today.
    assert by_finding.pop("golden-clock") == {*today, "1031"}
    assert by_finding == {
        "limit-tie": {"1166", "1168", "879", "906", "1002", "37", "94"},
        "limit-unordered": {"1144", "751", "349"},
        # A column beside an aggregate, taken from whichever row comes last.
        "golden-order": {"1526", "1404"},
    }


def test_the_bundled_dataset_is_clean(root: Path, shared_data: Path) -> None:
    folder = root / "datasets" / "thistledown"
    found = run_check(
        shared_data,
        "--dataset",
        f"{folder}/items.json",
        "--setup-directory",
        f"{folder}/setup",
        "--dialect",
        "sqlite",
        "--dialect",
        "postgres",
    )
    assert found == set()
