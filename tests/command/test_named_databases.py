"""Models that write the database's name before a table's are right where the product takes it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from nl2sql_gate.dialects import lookup_order, sqlglot_name

from shop import Shop

DATASET = next(path.parent for path in sorted((Path(__file__).parents[2] / "datasets").glob("*/items.json")))
ITEMS = [item for number, item in enumerate(json.loads((DATASET / "items.json").read_text())) if number % 3 == 1]


def qualified(item: dict[str, Any], dialect: str) -> str:
    """The item's golden SQL with every table under its database; as it is where a parser does not know all of it."""
    statements = next(item["golden_sql"][name] for name in lookup_order(dialect) if name in item["golden_sql"])
    if item["query_type"] == "dql":
        # The list holds alternatives.
        statements = statements[:1]
    written = []
    for text in statements:
        for tree in sqlglot.parse(text, dialect=sqlglot_name(dialect)):
            assert tree is not None
            # An alias is no table of the database's.
            made = {named.alias for named in tree.find_all(exp.CTE, exp.Table)}
            for table in tree.find_all(exp.Table):
                if table.name in made or tree.find(exp.Command):
                    continue
                table.set("db", exp.to_identifier(item["database"]))
            written.append(text if tree.find(exp.Command) else tree.sql(dialect=sqlglot_name(dialect)))
    return ";\n".join(sql.rstrip("; \n") for sql in written)


def right(case: dict[str, Any]) -> bool:
    return bool(case["outcome"] == "answered" and case["scores"]["execution_accuracy"]["value"] == 1.0)


@pytest.mark.server
@pytest.mark.parametrize("dialect", ["duckdb", "mariadb"])
def test_a_reply_that_names_the_database_scores_as_one_that_does_not(shop: Shop, dialect: str) -> None:
    replies = {item["id"]: f"```sql\n{qualified(item, dialect)}\n```" for item in ITEMS}
    named = sum(re.search(rf"\b{item['database']}\.", replies[item["id"]]) is not None for item in ITEMS)
    assert named > len(ITEMS) * 0.9
    shop.write_replies(replies)
    words = ["--dataset", str(DATASET / "items.json"), "--setup-directory", str(DATASET / "setup"), "--dialect", dialect]
    ran = shop.gate("run", *words, "--replies", "replies.jsonl", *(f"--only={item['id']}" for item in ITEMS), timeout=120)
    if ran.returncode == 3 and "there is no way to a" in ran.stderr:
        pytest.skip(ran.stderr.splitlines()[0])
    cases = shop.report()["cases"]
    wrong = [(case["id"], case["sql"], case["scores"]) for case in cases if not right(case)]
    assert Counter(case["outcome"] for case in cases) == {"answered": len(cases)}, wrong
    assert wrong == []
