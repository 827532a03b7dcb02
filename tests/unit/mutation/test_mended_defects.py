"""What SQLMorph's own operators got wrong, each with the SQL that shows it."""

from __future__ import annotations

import pytest

from nl2sql_gate.mutation import Recipe, mutate


def mutants(sql: str, name: str, dialect: str = "sqlite") -> list[str]:
    return [mutant.sql for mutant in mutate(sql, dialect, recipe=Recipe(sites=None, operators=(name,))).mutants]


def test_what_is_left_of_an_or_stays_an_or() -> None:
    found = mutants("SELECT a FROM t WHERE p = 1 OR q = 2 OR r = 3", "where_predicate_delete")
    assert "SELECT a FROM t WHERE q = 2 OR r = 3" in found
    assert not any(" AND " in sql for sql in found)


def test_a_condition_of_one_branch_is_deleted_in_that_branch() -> None:
    found = mutants("SELECT a FROM t WHERE a = 1 AND b = 2 UNION SELECT a FROM u WHERE c = 3", "where_predicate_delete")
    assert found == [
        "SELECT a FROM t WHERE b = 2 UNION SELECT a FROM u WHERE c = 3",
        "SELECT a FROM t WHERE a = 1 UNION SELECT a FROM u WHERE c = 3",
    ]


def test_strengthen_gives_fewer_rows_and_weaken_more() -> None:
    assert mutants("SELECT a FROM t WHERE x >= 5", "where_strengthen") == ["SELECT a FROM t WHERE x > 5"]
    assert mutants("SELECT a FROM t WHERE x < 5", "where_weaken") == ["SELECT a FROM t WHERE x <= 5"]


def test_no_join_becomes_left_left() -> None:
    assert mutants("SELECT a FROM t LEFT JOIN u ON u.x = t.x", "join_type_to_left") == []


def test_a_comma_join_becomes_no_left_join_without_a_condition() -> None:
    assert mutants("SELECT a FROM t, u WHERE u.x = t.x", "join_type_to_left") == []


def test_count_of_all_rows_never_becomes_a_sum_of_a_star() -> None:
    assert not any("SUM(*)" in sql for sql in mutants("SELECT COUNT(*), AVG(a) FROM t", "aggregation_swap"))


def test_a_column_that_is_selected_twice_can_be_lost_at_its_second_place() -> None:
    assert mutants("SELECT a, b, a FROM t", "projection_drop") == [
        "SELECT b, a FROM t",
        "SELECT a, a FROM t",
        "SELECT a, b FROM t",
    ]


def test_a_column_is_lost_from_all_branches_of_a_set_operation() -> None:
    found = mutants("SELECT a, b FROM t UNION SELECT c, d FROM u", "projection_drop")
    assert found == ["SELECT b FROM t UNION SELECT d FROM u", "SELECT a FROM t UNION SELECT c FROM u"]


def test_a_star_names_its_table_and_is_not_added_to_a_star() -> None:
    assert mutants("SELECT x.a FROM t AS x", "add_star_wildcard") == ["SELECT x.a, x.* FROM t AS x"]
    assert mutants("SELECT x.* FROM t AS x", "add_star_wildcard") == []


@pytest.mark.parametrize("name", ["where_condition_flip", "where_predicate_delete", "where_remove", "where_weaken"])
def test_an_operator_of_the_outer_query_leaves_subqueries_alone(name: str) -> None:
    inner = "SELECT y FROM u WHERE z < 2 AND v = 1"
    found = mutants(f"SELECT a FROM t WHERE a > 1 AND x IN ({inner})", name)
    assert all(inner in sql or " IN " not in sql for sql in found)


def test_a_join_without_its_condition_is_a_cross_join_in_every_dialect() -> None:
    found = mutants("SELECT a FROM t INNER JOIN u ON u.x = t.x", "join_break", "postgres")
    assert found == ["SELECT a FROM t CROSS JOIN u"]


def test_distinct_is_added_too() -> None:
    assert mutants("SELECT a FROM t", "distinct_toggle") == ["SELECT DISTINCT a FROM t"]


def test_a_limit_is_found_as_top_and_as_fetch() -> None:
    assert mutants("SELECT TOP 5 a FROM t ORDER BY a", "limit_decrease", "sqlserver") == ["SELECT TOP 2 a FROM t ORDER BY a"]
    fetched = "SELECT a FROM t ORDER BY a OFFSET 0 ROWS FETCH NEXT {} ROWS ONLY"
    assert [fetched.format(2)] == mutants(fetched.format(5), "limit_decrease", "sqlserver")
