"""The line that a report prints for a broken case: pasted as it stands, it asks exactly that case again, without a model."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from shop import Shop


@pytest.fixture
def broken(shop: Shop) -> Shop:
    """The shop after a run against an endpoint that gets two questions wrong, and is gone since."""
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    shop.write_replies({**shop.replies, "q1": "SELECT 1", "q2": "SELECT 2"})
    return shop


def run(shop: Shop, *arguments: str) -> str:
    """A run that asks the endpoint; what it prints."""
    given = (
        "--dataset",
        "items.json",
        "--setup-directory",
        "setup",
        "--model",
        "m",
        "--api-key",
        "k",
        "--baseline",
        "baseline.json",
    )
    with shop.endpoint() as address:
        return shop.gate("run", *given, "--base-url", address, *arguments).stdout


@pytest.mark.parametrize("out", ["nl2sql-gate-out", "a folder/with a name that is longer than most and goes on and on and on"])
def test_the_printed_line_asks_that_case_again_and_leaves_the_run_whole(broken: Shop, out: str) -> None:
    text = run(broken, "--out", out)
    lines = re.findall(r"^  - reproduce the first: (.*)$", text, re.MULTILINE)
    assert len(lines) == 1
    program, *words = shlex.split(lines[0])
    ran = broken.gate(*words)
    assert (program, ran.returncode) == ("nl2sql-gate", 0), ran.stderr
    assert "1 wrong" in ran.stderr
    again = (broken.folder / "nl2sql-gate-reproduced" / "run.json").read_text()
    assert [case["sql"] for case in json.loads(again)["cases"]] == ["SELECT 1"]
    whole = json.loads((broken.folder / out / "run.json").read_text())
    assert len(whole["cases"]) == 6


def test_a_part_of_a_run_is_not_proposed_as_the_baseline(broken: Shop) -> None:
    ran = broken.run("--only", "q1")
    assert "make this run the baseline" not in ran.stdout
    assert "make this run the baseline" in broken.run().stdout
