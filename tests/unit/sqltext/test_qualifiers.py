"""The database's own name is taken off the names that it qualifies, and off nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from nl2sql_gate.dialects import sqlglot_name
from nl2sql_gate.sqltext import without_database

ROOT = Path(__file__).parents[3]
SCHEMAS = {"postgres": "public", "sqlserver": "dbo"}
ITEMS = json.loads(next(ROOT.glob("datasets/*/items.json")).read_text())


@pytest.mark.parametrize(
    ("dialect", "sql", "expected"),
    [
        ("mysql", "SELECT name FROM shop.customer", "SELECT name FROM customer"),
        ("mariadb", "SELECT `shop` . `customer`.name FROM `shop`.`customer`", "SELECT `customer`.name FROM `customer`"),
        ("mysql", "SELECT shop.id FROM shop.shop", "SELECT shop.id FROM shop"),
        ("mysql", "SELECT shop.customer.* FROM shop.customer", "SELECT customer.* FROM customer"),
        ("mysql", "SELECT 'shop.a' FROM shop.a -- shop.a", "SELECT 'shop.a' FROM a -- shop.a"),
        ("mysql", "SELECT 'é', a FROM shop.a", "SELECT 'é', a FROM a"),
        ("mysql", "SELECT 1;\n\nUPDATE shop.a SET shop.a.n = 2;", "SELECT 1;\n\nUPDATE a SET a.n = 2;"),
        ("mysql", "DROP TABLE IF EXISTS shop.a", "DROP TABLE IF EXISTS a"),
        ("postgres", "SELECT Shop.public.a.n FROM Shop.public.a", "SELECT public.a.n FROM public.a"),
        ("sqlserver", "SELECT * FROM [Shop].dbo.a, shop..b", "SELECT * FROM dbo.a, b"),
        ("duckdb", "SELECT * FROM shop.main.a, SHOP.b", "SELECT * FROM main.a, b"),
    ],
)
def test_the_name_goes(dialect: str, sql: str, expected: str) -> None:
    assert without_database(sql, dialect, "shop") == expected


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("sqlite", "SELECT * FROM shop.a"),
        ("mysql", "SELECT * FROM SHOP.a"),
        ("mysql", "SELECT * FROM other.a"),
        ("mysql", "SELECT * FROM workshop.a"),
        ("postgres", 'SELECT * FROM "Shop".public.a'),
        ("postgres", "SELECT * FROM shop.a"),
        # A table of this query is called so too.
        ("mysql", "SELECT shop.id FROM orders AS shop, shop.a"),
        ("duckdb", "SELECT shop.address.city FROM people AS shop"),
        # Without the qualifier it would be the other a.
        ("mysql", "WITH a AS (SELECT 1 AS n) SELECT * FROM shop.a"),
        ("mysql", "SELECT * FROM shop.a WHERE ((("),
        ("mysql", "RENAME TABLE shop.a TO shop.b"),
    ],
)
def test_what_could_mean_something_else_stays(dialect: str, sql: str) -> None:
    assert without_database(sql, dialect, "shop") == sql


@pytest.mark.parametrize("dialect", ["mysql", "postgres", "duckdb", "sqlserver"])
def test_a_golden_that_is_qualified_throughout_comes_back_as_it_was(dialect: str) -> None:
    count = 0
    for item in ITEMS:
        for sql in item["golden_sql"].get(dialect, ()):
            qualified = qualify(sql, dialect, item["database"])
            if qualified is None:
                continue
            count += 1
            plain = without_database(qualified, dialect, item["database"])
            assert item["database"] not in plain, qualified
            assert parsed(plain, dialect) == parsed(qualify(sql, dialect, ""), dialect)
    assert count > 80


def qualify(sql: str, dialect: str, database: str) -> str | None:
    """`sql` with its tables under `database`, and under their schema where the dialect has both; `None` where it has no tables."""
    tree = parsed(sql, dialect)
    made = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if table.name not in made]
    for table in tables:
        first, *rest = [part for part in (database, SCHEMAS.get(dialect, "")) if part] or [""]
        table.set("catalog" if rest else "db", exp.to_identifier(first) if first else None)
        if rest:
            table.set("db", exp.to_identifier(rest[0]))
    return tree.sql(dialect=sqlglot_name(dialect)) if tables else None


def parsed(sql: str | None, dialect: str) -> exp.Expression:
    return sqlglot.parse_one(sql or "", dialect=sqlglot_name(dialect))
