"""`row_order: free`: the rows of an item in any order, although its golden SQL has one; which rows they are counts still."""

from __future__ import annotations

import pytest

from shop import Shop, item

GOLDEN = "SELECT name FROM customer ORDER BY name"


@pytest.mark.parametrize(
    ("row_order", "reply", "value"),
    [
        ("free", "SELECT name FROM customer ORDER BY name DESC", 1.0),
        ("free", "SELECT name FROM customer", 1.0),
        ("free", "SELECT name FROM customer WHERE id > 1", 0.0),
        ("as_golden", "SELECT name FROM customer ORDER BY name DESC", 0.0),
        (None, "SELECT name FROM customer ORDER BY name DESC", 0.0),
    ],
)
def test_the_order_counts_unless_the_item_says_otherwise(shop: Shop, row_order: str | None, reply: str, value: float) -> None:
    shop.items = [item("q", "Which customers are there?", GOLDEN, **({"row_order": row_order} if row_order else {}))]
    shop.write()
    shop.write_replies({"q": reply})
    shop.run()
    (case,) = shop.report()["cases"]
    assert case["scores"]["execution_accuracy"]["value"] == value


def test_only_free_items_have_another_digest(shop: Shop) -> None:
    digests = {}
    for row_order in (None, "as_golden", "free"):
        shop.items = [item("q", "Which customers are there?", GOLDEN, **({"row_order": row_order} if row_order else {}))]
        shop.write()
        shop.run()
        digests[row_order] = shop.report()["cases"][0]["digest"]
    assert digests[None] == digests["as_golden"] != digests["free"]


def test_a_tie_at_the_limit_is_a_fault_of_a_free_item_too(shop: Shop) -> None:
    golden = "SELECT id, amount FROM purchase ORDER BY amount LIMIT 2"
    shop.items = [item("q", "Which are the two smallest purchases?", golden, row_order="free")]
    shop.write()
    ran = shop.gate("check", "--dataset", "items.json", "--setup-directory", "setup")
    assert (ran.returncode, "limit-tie" in ran.stdout) == (1, True), ran.stdout + ran.stderr
