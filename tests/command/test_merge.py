"""Shards of a run, joined: the same cases as the whole, and nothing that would hide a gap."""

from __future__ import annotations

import json
import re

import pytest

from shop import Shop


def shards(shop: Shop, count: int) -> list[str]:
    for index in range(1, count + 1):
        ran = shop.run("--shard", f"{index}/{count}", "--out", f"s{index}")
        assert ran.returncode == 0, ran.stderr
    return [f"s{index}/run.json" for index in range(1, count + 1)]


def test_joined_shards_are_the_whole_run(shop: Shop) -> None:
    parts = shards(shop, 3)
    ran = shop.gate("merge", *parts, "--out", "joined")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "100.0 % (6/6)" in ran.stdout
    joined = json.loads((shop.folder / "joined" / "run.json").read_text())
    assert [case["id"] for case in joined["cases"]] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert shop.gate("bless", "joined/run.json", "--to", "baseline.json").returncode == 0


def test_a_shard_alone_cannot_become_the_baseline(shop: Shop) -> None:
    parts = shards(shop, 2)
    refused = shop.gate("bless", parts[0], "--to", "baseline.json")
    assert (refused.returncode, "it is one shard" in refused.stderr) == (2, True)


def test_a_gap_an_overlap_and_a_whole_run_are_refused(shop: Shop) -> None:
    parts = shards(shop, 3)
    gap = shop.gate("merge", *parts[:2], "--out", "joined")
    assert (gap.returncode, "shard 3/3 is missing" in gap.stderr) == (2, True)
    twice = shop.gate("merge", *parts, parts[0].replace("s1", "./s1"), "--out", "joined")
    assert (twice.returncode, "shard 1/3 is given 2 times" in twice.stderr) == (2, True)
    assert shop.run().returncode == 0
    whole = shop.gate("merge", *parts, "nl2sql-gate-out/run.json", "--out", "joined")
    assert (whole.returncode, "is no shard" in whole.stderr) == (2, True)
    assert not (shop.folder / "joined").exists()


@pytest.mark.parametrize(
    ("pattern", "instead", "says"),
    [
        (r'"statement_s": ?30(\.0)?', '"statement_s": 5.0', "settings"),
        (r'"version": ?"3\.[0-9.]+"', '"version": "3.1.0"', "engines.sqlite"),
    ],
)
def test_parts_of_unlike_provenance_are_refused(shop: Shop, pattern: str, instead: str, says: str) -> None:
    parts = shards(shop, 2)
    path = shop.folder / parts[1]
    changed, count = re.subn(pattern, instead, path.read_text())
    assert count
    path.write_text(changed)
    refused = shop.gate("merge", *parts, "--out", "joined")
    assert (refused.returncode, says in refused.stderr) == (2, True), refused.stderr


def test_a_shard_that_is_no_shard_is_a_usage_error(shop: Shop) -> None:
    for text in ("0/3", "4/3", "a/b", "3"):
        ran = shop.run("--shard", text)
        assert (ran.returncode, "--shard" in ran.stderr) == (2, True)
