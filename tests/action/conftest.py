"""The action on the shop, and GitHub's stand-in beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from action_step import Step
from github_standin import GitHub, described, github_at_hand
from shop import Shop

__all__ = ["described", "github_at_hand"]


@pytest.fixture(scope="session")
def right_baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline of a model that is right in all six answers."""
    shop = Shop.open(tmp_path_factory.mktemp("blessed"))
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    return shop.folder / "baseline.json"


@pytest.fixture
def step(shop: Shop, github: GitHub) -> Step:
    """The action on the shop, right in all six answers."""
    return Step(shop, github)


@pytest.fixture
def blessed(step: Step, right_baseline: Path) -> Step:
    """The same with a baseline, and a model that gets two questions wrong since."""
    shop = step.shop
    (shop.folder / "baseline.json").write_bytes(right_baseline.read_bytes())
    shop.write_replies({**shop.replies, "q1": "SELECT 1", "q2": "SELECT 'nobody'"})
    return step
