"""A plan says what is asked beside the head too: it is paid for."""

from __future__ import annotations

import pytest

from shop import Shop


@pytest.mark.parametrize(
    ("baseline", "confirm", "said"),
    [
        ("file:baseline.json", "false", "calls     6\n"),
        ("ref:main", "false", "calls     12: head and ref:main, 6 each\n"),
        ("ref:main", "true", "calls     12: head and ref:main, 6 each; what changed is asked once more (policy.confirm)\n"),
    ],
)
def test_the_calls_of_all_sides_are_counted(shop: Shop, baseline: str, confirm: str, said: str) -> None:
    given = ("--dataset", "items.json", "--setup-directory", "setup", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    ran = shop.gate("plan", *given, "--set", f"baseline={baseline}", "--set", f"policy.confirm={confirm}")
    assert ran.returncode == 0, ran.stderr
    assert said in ran.stdout
