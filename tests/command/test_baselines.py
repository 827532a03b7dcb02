"""What may become a baseline, where, and what is told of it afterwards."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from shop import Shop

WRONG = "SELECT 'nobody'"


def on_push(shop: Shop, branch: str) -> None:
    """The environment of a workflow run for a push to `branch`; the default branch is `main`."""
    (shop.folder / "event.json").write_text(json.dumps({"repository": {"default_branch": "main"}}))
    shop.environment |= {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(shop.folder / "event.json"),
        "GITHUB_REF": f"refs/heads/{branch}",
    }


def settle(shop: Shop, on_missing: str = "bless") -> None:
    (shop.folder / "nl2sql-gate.yml").write_text(f"baseline: file:baseline.json\npolicy: {{on_missing_baseline: {on_missing}}}\n")


def test_the_first_run_on_the_default_branch_makes_the_baseline(shop: Shop) -> None:
    settle(shop)
    on_push(shop, "main")
    ran = shop.run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "made the first baseline" in ran.stdout
    assert shop.run().returncode == 0
    assert "PASS" in shop.run().stdout


@pytest.mark.parametrize("branch", ["change", ""])
def test_no_other_place_makes_the_first_baseline(shop: Shop, branch: str) -> None:
    settle(shop)
    if branch:
        on_push(shop, branch)
    ran = shop.run()
    assert (ran.returncode, (shop.folder / "baseline.json").exists()) == (0, False)
    assert "not made the baseline" in ran.stdout


def test_a_first_run_that_fails_is_not_made_the_baseline(shop: Shop) -> None:
    settle(shop)
    on_push(shop, "main")
    shop.write_replies(dict.fromkeys(shop.replies, WRONG))
    ran = shop.run("--set", "policy.floors={execution_accuracy: 0.5}")
    assert (ran.returncode, (shop.folder / "baseline.json").exists()) == (1, False)
    assert "not made the baseline: this run cannot become the baseline: its verdict is fail" in ran.stdout


def test_a_workflow_of_a_change_cannot_bless_itself(shop: Shop) -> None:
    assert shop.run().returncode == 0
    on_push(shop, "change")
    ran = shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json")
    assert (ran.returncode, (shop.folder / "baseline.json").exists()) == (2, False)
    assert "push on change; the default branch is main" in ran.stderr


def test_every_blessing_is_a_point_of_the_trend(shop: Shop) -> None:
    settle(shop, "warn")
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json").returncode == 0
    shop.write_replies(shop.replies | {"q2": WRONG})
    assert shop.run().returncode == 0
    ran = shop.gate("bless", "nl2sql-gate-out/run.json", "--accept-drop", "cities go away")
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in (shop.folder / "baseline.history.jsonl").read_text().splitlines()]
    assert [(line["value"], line["n"], line["accepted_drop"]) for line in lines] == [(1.0, 6, ""), (5 / 6, 6, "cities go away")]
    assert shop.run().returncode == 0
    html = (shop.folder / "nl2sql-gate-out/report.html").read_text()
    assert 'aria-label="Plot of earlier runs"' in html
    shown = shop.gate("baseline", "show").stdout
    assert "83.3 % (5/6)" in shown
    assert "cities go away" in shown
    assert shown.count("history") == 2


def test_an_accepted_drop_accepts_no_missed_floor(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies(shop.replies | dict.fromkeys(("q2", "q3", "q4", "q5"), WRONG))
    assert shop.run("--baseline", "baseline.json", "--set", "policy.floors={execution_accuracy: 0.5}").returncode == 1
    ran = shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json", "--accept-drop", "meant")
    assert (ran.returncode, "it failed by more than a drop" in ran.stderr) == (2, True)
    assert shop.run("--baseline", "baseline.json").returncode == 1
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json", "--accept-drop", "meant").returncode == 0


def test_an_old_baseline_and_another_served_model_get_a_word(shop: Shop) -> None:
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    tree = json.loads((shop.folder / "baseline.json").read_text())
    tree["provenance"]["facts"]["created"] = "2020-01-01T00:00:00+00:00"
    tree["provenance"]["fingerprint"]["model"]["served"] = ["small-model"]
    (shop.folder / "old.json").write_text(json.dumps(tree))
    said = shop.gate("compare", "nl2sql-gate-out/run.json", "old.json").stdout
    assert re.search(r"the baseline is \d{4} days old; from a run of the default branch that passes: nl2sql-gate bless", said)
    shop.write_replies(shop.replies | dict.fromkeys(("q2", "q3", "q4", "q5"), WRONG))
    assert shop.run("--baseline", "old.json").returncode == 1
    assert "serves another model than for the baseline; if that is the drop's cause" in shop.run("--baseline", "old.json").stdout


def test_a_branch_keeps_the_baseline_and_gives_it_back(shop: Shop) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=shop.folder, check=True)
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "branch:baselines").returncode == 0
    ran = shop.run("--baseline", "branch:baselines")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert shop.gate("baseline", "fetch", "branch:baselines", "--to", "copy.json").returncode == 0
    assert shop.run("--baseline", "copy.json").returncode == 0


def test_only_what_was_blessed_can_be_pushed(shop: Shop) -> None:
    assert shop.run().returncode == 0
    ran = shop.gate("baseline", "push", "nl2sql-gate-out/run.json", "--to", "baseline.json")
    assert (ran.returncode, (shop.folder / "baseline.json").exists()) == (2, False)
    assert "only what was blessed can be pushed" in ran.stderr
