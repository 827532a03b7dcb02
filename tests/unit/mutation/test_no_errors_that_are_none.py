"""What keys, NOT NULL and a query's own conditions prove to mean the same is not made; what they do not prove is."""

from __future__ import annotations

import pytest

from nl2sql_gate.mutation import Recipe, mutate
from nl2sql_gate.records import Column, Schema, Table

SCHEMA = Schema(
    "club",
    "postgres",
    (
        Table(
            "yard",
            (
                Column("id", "int", nullable=False, primary_key=True),
                Column("name", "text", nullable=False),
                Column("code", "text", nullable=False),
                Column("closed", "date"),
            ),
            unique=(("code",),),
        ),
        Table(
            "hive",
            (
                Column("id", "int", nullable=False, primary_key=True),
                Column("yard_id", "int", nullable=False),
                Column("queen", "text"),
                Column("kg", "numeric(6, 2)"),
            ),
            foreign_keys=((("yard_id",), "yard", ("id",)),),
        ),
    ),
    "",
)

SAME = [
    ("distinct_toggle", "SELECT code FROM yard"),
    ("distinct_toggle", "SELECT h.id, y.name FROM hive AS h JOIN yard AS y ON y.id = h.yard_id"),
    ("distinct_toggle", "SELECT DISTINCT queen, COUNT(*) FROM hive GROUP BY queen"),
    ("distinct_toggle", "SELECT x.q FROM (SELECT queen AS q, COUNT(*) AS n FROM hive GROUP BY queen) AS x"),
    (
        "aggregate_distinct_toggle",
        "SELECT y.id, COUNT(h.id) FROM yard AS y LEFT JOIN hive AS h ON h.yard_id = y.id GROUP BY y.id",
    ),
    ("join_type_to_left", "SELECT h.id, y.name FROM hive AS h JOIN yard AS y ON y.id = h.yard_id"),
    ("join_type_to_left", "SELECT y.id FROM yard AS y JOIN hive AS h ON h.yard_id = y.id WHERE h.queen = 'x'"),
    ("join_type_to_left", "SELECT y.id FROM yard AS y JOIN hive AS h ON h.yard_id = y.id WHERE h.queen IS NOT NULL"),
    ("count_rows", "SELECT COUNT(h.yard_id) FROM hive AS h"),
    ("count_rows", "SELECT COUNT(queen) FROM hive WHERE queen IS NOT NULL"),
    ("nulls_order_flip", "SELECT name FROM yard ORDER BY name"),
    ("null_included", "SELECT id FROM yard WHERE name <> 'x'"),
    ("integer_division", "SELECT 1.0 * kg / id FROM hive"),
    ("rank_swap", "SELECT ROW_NUMBER() OVER (ORDER BY queen) FROM hive"),
    ("filter_to_outer", "SELECT n FROM (SELECT queen, COUNT(*) AS n FROM hive WHERE queen = 'x' GROUP BY queen) AS x"),
]

DIFFERENT = [
    ("distinct_toggle", "SELECT name FROM yard"),
    ("distinct_toggle", "SELECT y.id FROM yard AS y JOIN hive AS h ON h.yard_id = y.id"),
    ("distinct_toggle", "SELECT h.id FROM yard AS y LEFT JOIN hive AS h ON h.yard_id = y.id"),
    ("aggregate_distinct_toggle", "SELECT COUNT(h.yard_id) FROM hive AS h"),
    ("join_type_to_left", "SELECT y.id FROM yard AS y JOIN hive AS h ON h.yard_id = y.id"),
    ("join_type_to_left", "SELECT y.id FROM yard AS y JOIN hive AS h ON h.yard_id = y.id WHERE h.queen IS NULL"),
    ("join_type_to_left", "SELECT y.id FROM yard AS y JOIN hive AS h ON h.yard_id = y.id WHERE COALESCE(h.queen, 'x') = 'x'"),
    ("count_rows", "SELECT COUNT(h.id) FROM yard AS y LEFT JOIN hive AS h ON h.yard_id = y.id"),
    ("count_rows", "SELECT COUNT(queen) FROM hive"),
    ("group_by_key_drop", "SELECT name, code, COUNT(*) FROM yard GROUP BY name, code"),
    ("nulls_order_flip", "SELECT queen FROM hive ORDER BY queen"),
    ("null_included", "SELECT id FROM hive WHERE queen <> 'x'"),
    ("integer_division", "SELECT 1.0 * id / yard_id FROM hive"),
]


def made(name: str, sql: str) -> int:
    return len(mutate(sql, "postgres", schema=SCHEMA, recipe=Recipe(sites=None, operators=(name,))).mutants)


@pytest.mark.parametrize(("name", "sql"), SAME)
def test_an_error_that_changes_nothing_is_not_made(name: str, sql: str) -> None:
    assert made(name, sql) == 0


def test_a_key_that_another_fixes_is_not_dropped() -> None:
    found = mutate(
        "SELECT y.id, COUNT(*) FROM yard AS y GROUP BY y.id, y.name",
        "postgres",
        schema=SCHEMA,
        recipe=Recipe(sites=None, operators=("group_by_key_drop",)),
    )
    # The name may repeat among yards, so that dropping the id is an error; dropping the name is none.
    assert [mutant.sql for mutant in found.mutants] == ["SELECT MIN(y.id), COUNT(*) FROM yard AS y GROUP BY y.name"]


def test_a_sort_key_behind_a_unique_one_is_not_dropped() -> None:
    found = mutate(
        "SELECT name FROM yard ORDER BY code, name",
        "postgres",
        schema=SCHEMA,
        recipe=Recipe(sites=None, operators=("order_key_drop",)),
    )
    assert [mutant.sql for mutant in found.mutants] == ["SELECT name FROM yard ORDER BY name"]


@pytest.mark.parametrize(("name", "sql"), DIFFERENT)
def test_an_error_that_some_data_shows_is_made(name: str, sql: str) -> None:
    assert made(name, sql) > 0


@pytest.mark.parametrize("dialect", ["mysql", "mariadb", "sqlserver"])
def test_case_is_no_error_where_texts_compare_without_it(dialect: str) -> None:
    recipe = Recipe(sites=None, operators=("text_case", "case_fold_remove"))
    assert mutate("SELECT a FROM t WHERE LOWER(s) = 'x' AND s = 'Oslo'", dialect, recipe=recipe).mutants == ()


def test_a_like_of_sqlite_needs_no_lower() -> None:
    recipe = Recipe(sites=None, operators=("case_fold_remove",))
    assert mutate("SELECT a FROM t WHERE LOWER(s) LIKE '%x%'", "sqlite", recipe=recipe).mutants == ()
    assert mutate("SELECT a FROM t WHERE LOWER(s) LIKE '%x%'", "postgres", recipe=recipe).mutants != ()
