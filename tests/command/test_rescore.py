"""Stored SQL under today's dataset, databases and scorers, without asking the model."""

from __future__ import annotations

import json

from shop import ROWS, Shop, item

WRONG = "SELECT 'nobody'"
GIVEN = ("--dataset", "items.json", "--setup-directory", "setup")


def test_a_baseline_scored_by_another_version_compares_again(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    path = shop.folder / "baseline.json"
    path.write_text(
        path.read_text()
        .replace('"version": "1"', '"version": "0"')
        .replace('"execution_accuracy": "1"', '"execution_accuracy": "0"')
    )
    ran = shop.run("--baseline", "baseline.json")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "nl2sql-gate rescore" in ran.stdout
    ran = shop.gate("rescore", "baseline.json", *GIVEN, "--to", "rescored.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "rescored 6 of 6 cases by execution_accuracy: 100.0 % (6/6) → 100.0 % (6/6)" in ran.stdout
    assert shop.run("--baseline", "rescored.json").returncode == 0
    assert shop.gate("baseline", "push", "rescored.json", "--to", "baseline.json").returncode == 0
    assert shop.run("--baseline", "baseline.json").returncode == 0


def test_a_repaired_golden_and_new_data_change_the_scores_of_the_same_sql(shop: Shop) -> None:
    shop.items[1] = item("q2", "Which customers live in Oslo?", "SELECT name FROM customer WHERE city = 'Bern'")
    shop.write()
    assert shop.run().returncode == 0
    assert [case["id"] for case in shop.report()["cases"] if case["scores"]["execution_accuracy"]["value"] == 0] == ["q2"]
    stored = shop.report()
    shop.items[1] = item("q2", "Which customers live in Oslo?", "SELECT name FROM customer WHERE city = 'Oslo'")
    shop.write()
    (shop.folder / "setup/shop/data/customer.csv").write_text(ROWS["customer"] + "5,'Ed','Rome'\n")
    ran = shop.gate("rescore", "nl2sql-gate-out/run.json", *GIVEN)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "  q2 [sqlite] 0 → 1" in ran.stdout
    assert "6 items or their data changed since" in ran.stderr
    rescored = shop.report("rescored.json")
    assert [case["sql"] for case in rescored["cases"]] == [case["sql"] for case in stored["cases"]]
    assert [case["reply"] for case in rescored["cases"]] == [case["reply"] for case in stored["cases"]]
    assert rescored["provenance"]["facts"]["created"] == stored["provenance"]["facts"]["created"]
    assert rescored["provenance"]["fingerprint"]["model"] == stored["provenance"]["fingerprint"]["model"]


def test_sql_that_answers_another_question_is_skipped_and_a_case_without_sql_stays_unscored(shop: Shop) -> None:
    shop.write_replies({name: text for name, text in shop.replies.items() if name != "q1"})
    shop.run()
    shop.items[1] = item("q2", "Which customers live in Bern?", "SELECT name FROM customer WHERE city = 'Bern'")
    shop.write()
    ran = shop.gate("rescore", "nl2sql-gate-out/run.json", *GIVEN)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    outcomes = {
        case["id"]: (case["outcome"], (case["reason"] or {}).get("code")) for case in shop.report("rescored.json")["cases"]
    }
    assert outcomes["q1"] == ("unscored", "never_answered")
    assert outcomes["q2"] == ("skipped", "question_changed")


def test_a_failed_run_does_not_become_fit_for_a_baseline_by_being_scored_again(shop: Shop) -> None:
    shop.write_replies(dict.fromkeys(shop.replies, WRONG))
    assert shop.run("--set", "policy.floors={execution_accuracy: 0.5}").returncode == 1
    assert shop.gate("rescore", "nl2sql-gate-out/run.json", *GIVEN).returncode == 0
    ran = shop.gate("bless", "nl2sql-gate-out/rescored.json", "--to", "baseline.json")
    assert (ran.returncode, "its verdict is fail" in ran.stderr) == (2, True)
    assert shop.gate("baseline", "push", "nl2sql-gate-out/rescored.json", "--to", "baseline.json").returncode == 2


def test_another_dataset_has_nothing_to_score(shop: Shop) -> None:
    assert shop.run().returncode == 0
    run = shop.report()
    for case in run["cases"]:
        case["id"] = f"other-{case['id']}"
    (shop.folder / "foreign.json").write_text(json.dumps(run))
    ran = shop.gate("rescore", "foreign.json", *GIVEN)
    assert (ran.returncode, "no case in common" in ran.stderr) == (2, True)
