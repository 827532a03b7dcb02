"""The parts of a run in a matrix, joined by a last job that tells the pull request once."""

from __future__ import annotations

from action_step import Step


def test_shards_are_joined_judged_and_told_once(blessed: Step) -> None:
    for number in (1, 2):
        code, log = blessed.run(shard=f"{number}/2", out=f"shards/{number}", comment="off", baseline="baseline.json")
        assert code == 0, log
    assert blessed.github.requests == []
    code, log = blessed.run(
        mode="merge", baseline="baseline.json", set="policy.required.ids=[q1]", dataset="", setup_directory="", replies=""
    )
    assert code == 1, log
    assert len(blessed.github.own()) == 1
    assert blessed.output["cases"] == "6"
    assert "### 🔴" in blessed.summary
