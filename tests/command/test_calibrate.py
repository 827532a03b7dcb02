"""The noise of a system, measured by asking the same build several times, and what later verdicts make of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from shop import QUESTIONS, Shop

ASK = """
import json, pathlib, sys
asked = json.load(sys.stdin)
answers = json.loads(pathlib.Path("answers.json").read_text())
print(json.dumps({"sql": answers.get(f"{asked['id']}#{asked['trial']}", answers[asked["id"]])}))
"""
SETTINGS = """
dataset: items.json
setup_directory: setup
model: {generator: command, command: [python3, ask.py], concurrency: 1, name: asker}
baseline: file:baseline.json
"""
RIGHT = {name: golden for name, (_, golden) in QUESTIONS.items()}
WRONG = "SELECT 'nobody'"
COIN = {f"q2#{trial}": WRONG for trial in (2, 4)}


@pytest.fixture
def live(shop: Shop) -> Shop:
    """The shop with a program that answers, whose answers to q2 alternate."""
    (shop.folder / "ask.py").write_text(ASK)
    (shop.folder / "nl2sql-gate.yml").write_text(SETTINGS)
    (shop.folder / "answers.json").write_text(json.dumps(RIGHT | COIN))
    return shop


def test_churn_is_stored_beside_the_baseline_and_later_verdicts_use_it(live: Shop) -> None:
    ran = live.gate("calibrate")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "churn         16.7 %, 1 items flipped: q2" in ran.stdout
    stored = json.loads((live.folder / "baseline.calibration.json").read_text())
    assert (stored["format"], stored["items"], stored["runs"]) == ("nl2sql-gate/calibration/v1", 6, 2)
    assert stored["churn"] == pytest.approx(1 / 6)
    assert live.gate("bless", "nl2sql-gate-out/run.json").returncode == 0
    ran = live.gate("run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    row = next(row for row in live.report("report.json")["verdict"]["rows"] if row["name"] == "execution_accuracy")
    assert row["churn"] == pytest.approx(1 / 6)
    assert "noise measured" in ran.stdout
    assert "churn 16.7 % of 6 items" in ran.stdout


def test_a_baseline_carries_what_was_measured_where_there_is_no_file(live: Shop) -> None:
    assert live.gate("calibrate").returncode == 0
    assert live.gate("bless", "nl2sql-gate-out/run.json").returncode == 0
    (live.folder / "baseline.calibration.json").unlink()
    assert live.gate("run").returncode == 0
    row = next(row for row in live.report("report.json")["verdict"]["rows"] if row["name"] == "execution_accuracy")
    assert row["churn"] == pytest.approx(1 / 6)
    carried = live.report("run.json")["provenance"]["calibration"]
    assert carried["churn"] == pytest.approx(1 / 6)


def test_an_item_that_is_a_coin_is_left_out_with_its_evidence_until_it_expires(live: Shop) -> None:
    ran = live.gate("calibrate", "--times", "4", "--days", "30")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    assert f"quarantined   q2 [sqlite]: passed 2 of 4, until {until}" in ran.stdout
    assert live.gate("bless", "nl2sql-gate-out/run.json").returncode == 0
    (live.folder / "answers.json").write_text(json.dumps(RIGHT | {"q2": WRONG}))
    # The baseline is the first of the four runs, so its own verdict does not count as evidence: one of the other three passed.
    assert live.gate("run").returncode == 0
    (excluded,) = live.report("report.json")["verdict"]["excluded"]
    assert (excluded["id"], excluded["kind"], excluded["evidence"], excluded["expiry"]) == (
        "q2",
        "quarantine",
        "passed 1 of 3 like runs",
        until,
    )
    path = live.folder / "baseline.calibration.json"
    path.write_text(path.read_text().replace(until, "2001-01-01"))
    ran = live.gate("run")
    assert live.report("report.json")["verdict"]["excluded"] == []
    assert "quarantine of 1 expired" in ran.stdout


def test_recorded_replies_cannot_calibrate(shop: Shop) -> None:
    ran = shop.gate("calibrate", "--dataset", "items.json", "--setup-directory", "setup", "--replies", "replies.jsonl")
    assert (ran.returncode, "recorded replies are the same each time" in ran.stderr) == (2, True)


def test_a_file_that_is_no_calibration_stops_the_run(live: Shop) -> None:
    assert live.gate("run").returncode == 0
    assert live.gate("bless", "nl2sql-gate-out/run.json").returncode == 0
    (live.folder / "baseline.calibration.json").write_text('{"format": "something else"}')
    ran = live.gate("run", "--out", "fresh")
    assert (ran.returncode, "baseline.calibration.json" in ran.stderr) == (2, True)
    assert not (live.folder / "fresh").exists()
