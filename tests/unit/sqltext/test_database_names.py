"""The database's name is replaced where it qualifies another name, and nowhere where it could mean something else."""

from __future__ import annotations

import time

import pytest

from nl2sql_gate.sqltext import with_database_renamed


def renamed(sql: str, name: str = "shop") -> str:
    return with_database_renamed(sql, "mysql", name=name, actual="db_7")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT name FROM shop.customer", "SELECT name FROM db_7.customer"),
        ("SELECT `shop` . `customer`.name FROM `shop`.`customer`", "SELECT `db_7` . `customer`.name FROM `db_7`.`customer`"),
        ("SELECT n FROM`shop`.a JOIN`shop`.b", "SELECT n FROM`db_7`.a JOIN`db_7`.b"),
        ("SELECT shop.order.n FROM shop.order", "SELECT db_7.order.n FROM db_7.order"),
        ("SELECT 'shop.a', \"shop.b\" FROM shop.a -- shop.a", "SELECT 'shop.a', \"shop.b\" FROM db_7.a -- shop.a"),
        ("SELECT 'é😀', a FROM shop /* here */ .a", "SELECT 'é😀', a FROM db_7 /* here */ .a"),
        ("REPLACE INTO shop.a VALUES (1); CALL shop.p(1)", "REPLACE INTO db_7.a VALUES (1); CALL db_7.p(1)"),
        ("DELETE shop.x FROM shop.a AS x", "DELETE db_7.x FROM db_7.a AS x"),
        (
            "DELIMITER //\nUPDATE shop.a SET n=1; UPDATE shop.b SET n=2//\nDELIMITER ;",
            "DELIMITER //\nUPDATE db_7.a SET n=1; UPDATE db_7.b SET n=2//\nDELIMITER ;",
        ),
        ("SELECT /*! (SELECT MAX(n) FROM shop.a) */", "SELECT /*! (SELECT MAX(n) FROM db_7.a) */"),
        ("SELECT {{x}} FROM shop.a", "SELECT {{x}} FROM db_7.a"),
        ("WITH a AS (SELECT 1 AS n) SELECT * FROM shop.a", "WITH a AS (SELECT 1 AS n) SELECT * FROM db_7.a"),
    ],
)
def test_a_qualifier_is_replaced(sql: str, expected: str) -> None:
    assert renamed(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM SHOP.a",
        "SELECT * FROM other.a",
        "SELECT * FROM workshop.a",
        'SELECT * FROM "shop".a',
        "SELECT @shop.a",
        "SELECT shop.id FROM orders AS shop, shop.a",
        "SELECT shop.id FROM shop.shop",
        "SELECT shop, a FROM shop.sales",
        "DROP SCHEMA shop -- shop.",
        "SELECT 1",
    ],
)
def test_what_is_in_doubt_stays(sql: str) -> None:
    assert renamed(sql) == sql


def test_odd_names_are_no_patterns() -> None:
    assert renamed("SELECT * FROM `a.b-c`.t", "a.b-c") == "SELECT * FROM `db_7`.t"
    assert renamed("SELECT * FROM `a?`.t", "a?") == "SELECT * FROM `db_7`.t"


def test_rows_of_a_dump_are_not_looked_at() -> None:
    rows = ", ".join(["('shop.com', shop)"] * 10_000)
    assert renamed(f"INSERT INTO shop.a VALUES {rows}") == f"INSERT INTO db_7.a VALUES {rows}"


def test_a_long_text_without_rows_is_let_be_at_once() -> None:
    began = time.process_time()
    long = f"SELECT * FROM shop.a WHERE n IN ({', '.join(map(str, range(1_000_000)))})"
    assert renamed(long) == long
    assert time.process_time() - began < 1.5


def test_nested_brackets_take_no_time() -> None:
    began = time.process_time()
    deep = "SELECT " + "ARRAY[" * 5000 + "]" * 5000 + " FROM shop.a"
    assert renamed(deep).endswith("db_7.a")
    assert time.process_time() - began < 1
