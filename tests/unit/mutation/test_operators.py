"""Every error operator on a query of its own: all its sites, as SQL."""

from __future__ import annotations

import pytest

from nl2sql_gate.mutation import OPERATORS, Recipe, mutate
from nl2sql_gate.records import Column, Schema, Table

SCHEMA = Schema(
    "shop",
    "postgres",
    (
        Table(
            "t",
            (
                Column("id", "integer", nullable=False, primary_key=True),
                Column("a", "integer"),
                Column("b", "integer", nullable=False),
                Column("s", "varchar(20)"),
                Column("z", "varchar(20)", nullable=False),
                Column("d", "date"),
            ),
        ),
        Table(
            "u", (Column("id", "integer", nullable=False, primary_key=True), Column("t_id", "integer"), Column("w", "integer"))
        ),
    ),
    "",
)

CASES: list[tuple[str, str, list[str]]] = [
    ("projection_drop", "SELECT a, b, a FROM t", ["SELECT b, a FROM t", "SELECT a, a FROM t", "SELECT a, b FROM t"]),
    ("projection_drop", "SELECT a FROM t", []),
    ("projection_drop", "SELECT * FROM u", ["SELECT t_id, w FROM u", "SELECT id, w FROM u", "SELECT id, t_id FROM u"]),
    ("projection_drop", "SELECT a, b FROM t ORDER BY 2", ["SELECT b FROM t ORDER BY 1"]),
    ("projection_drop", "SELECT a AS x, b FROM t ORDER BY x", ["SELECT b FROM t ORDER BY a", "SELECT a AS x FROM t ORDER BY x"]),
    ("add_star_wildcard", "SELECT y.a FROM t AS y JOIN u ON u.t_id = y.id", [
        "SELECT y.a, y.* FROM t AS y JOIN u ON u.t_id = y.id", "SELECT y.a, u.* FROM t AS y JOIN u ON u.t_id = y.id"]),
    ("add_star_wildcard", "SELECT y.* FROM t AS y", []),
    ("distinct_toggle", "SELECT DISTINCT a FROM t", ["SELECT a FROM t"]),
    ("distinct_toggle", "SELECT a FROM t", ["SELECT DISTINCT a FROM t"]),
    ("distinct_toggle", "SELECT COUNT(*) FROM t", []),
    ("distinct_toggle", "SELECT * FROM t", []),
    ("distinct_toggle", "SELECT * FROM unknown", ["SELECT DISTINCT * FROM unknown"]),
    ("distinct_toggle", "SELECT id, a FROM t", []),
    ("where_predicate_delete", "SELECT a FROM t WHERE a = 1 OR b = 2", [
        "SELECT a FROM t WHERE b = 2", "SELECT a FROM t WHERE a = 1"]),
    ("where_condition_flip", "SELECT a FROM t WHERE a > 1 AND b = 2", [
        "SELECT a FROM t WHERE a > 1 AND b <> 2", "SELECT a FROM t WHERE a < 1 AND b = 2"]),
    ("where_strengthen", "SELECT a FROM t WHERE a >= 1 AND b < 2", ["SELECT a FROM t WHERE a > 1 AND b < 2"]),
    ("where_strengthen", "SELECT a FROM t WHERE d BETWEEN '2024-01-01' AND '2024-12-31'", [
        "SELECT a FROM t WHERE (d >= '2024-01-01' AND d < '2024-12-31')"]),
    ("where_weaken", "SELECT a FROM t WHERE a >= 1 AND b < 2", ["SELECT a FROM t WHERE a >= 1 AND b <= 2"]),
    ("where_remove", "DELETE FROM t WHERE a = 1", ["DELETE FROM t"]),
    ("having_condition_flip", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 3", [
        "SELECT a FROM t GROUP BY a HAVING COUNT(*) < 3"]),
    ("having_remove", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 3", ["SELECT a FROM t GROUP BY a"]),
    ("having_predicate_delete", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 3 AND MIN(b) = 1", [
        "SELECT a FROM t GROUP BY a HAVING MIN(b) = 1", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 3"]),
    ("having_boundary", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 3", ["SELECT a FROM t GROUP BY a HAVING COUNT(*) >= 3"]),
    ("connective_swap", "SELECT a FROM t WHERE a = 1 AND b = 2", ["SELECT a FROM t WHERE (a = 1 OR b = 2)"]),
    ("parenthesis_remove", "SELECT a FROM t WHERE (a = 1 OR b = 2) AND s = 'x'", [
        "SELECT a FROM t WHERE a = 1 OR b = 2 AND s = 'x'"]),
    ("where_column_swap", "SELECT a FROM t WHERE s = 'x'", ["SELECT a FROM t WHERE z = 'x'"]),
    ("membership_flip", "SELECT a FROM t WHERE NOT a IN (1, 2) AND s LIKE 'x%'", [
        "SELECT a FROM t WHERE NOT a IN (1, 2) AND NOT s LIKE 'x%'", "SELECT a FROM t WHERE a IN (1, 2) AND s LIKE 'x%'"]),
    ("membership_flip", "SELECT a FROM t WHERE s NOT LIKE '%x%' ESCAPE '!'", ["SELECT a FROM t WHERE s LIKE '%x%' ESCAPE '!'"]),
    ("join_break", "SELECT t.a FROM t LEFT JOIN u ON u.t_id = t.id", ["SELECT t.a FROM t CROSS JOIN u"]),
    ("join_break", "SELECT t.a FROM t JOIN u USING (id)", ["SELECT t.a FROM t CROSS JOIN u"]),
    ("join_type_to_left", "SELECT t.a FROM t JOIN u ON u.t_id = t.id", ["SELECT t.a FROM t LEFT JOIN u ON u.t_id = t.id"]),
    ("join_type_to_left", "SELECT t.a FROM t LEFT JOIN u ON u.t_id = t.id", []),
    ("join_type_to_left", "SELECT t.a FROM t, u WHERE u.t_id = t.id", []),
    ("join_type_to_inner", "SELECT t.a FROM t LEFT JOIN u ON u.t_id = t.id", ["SELECT t.a FROM t JOIN u ON u.t_id = t.id"]),
    ("join_key_swap", "SELECT t.z FROM t JOIN t AS x ON x.s = t.s", [
        "SELECT t.z FROM t JOIN t AS x ON x.s = t.z", "SELECT t.z FROM t JOIN t AS x ON x.z = t.s"]),
    ("join_condition_drop", "SELECT t.z FROM t JOIN u ON u.t_id = t.id AND u.w = 1", [
        "SELECT t.z FROM t JOIN u ON u.w = 1", "SELECT t.z FROM t JOIN u ON u.t_id = t.id"]),
    ("join_comparison", "SELECT t.z FROM t JOIN u ON u.t_id = t.id AND u.w > t.a", [
        "SELECT t.z FROM t JOIN u ON u.t_id = t.id AND u.w >= t.a"]),
    ("join_condition_to_where", "SELECT t.z FROM t LEFT JOIN u ON u.t_id = t.id AND u.w = 1", [
        "SELECT t.z FROM t LEFT JOIN u ON u.t_id = t.id WHERE u.w = 1"]),
    ("join_drop", "SELECT t.z FROM t JOIN u ON u.t_id = t.id", ["SELECT t.z FROM t"]),
    ("aggregation_swap", "SELECT AVG(a), MIN(b) FROM t", ["SELECT SUM(a), MIN(b) FROM t", "SELECT AVG(a), MAX(b) FROM t"]),
    ("aggregation_swap", "SELECT COUNT(b) FROM t", ["SELECT SUM(b) FROM t"]),
    ("aggregation_swap", "SELECT COUNT(s) FROM t", []),
    ("aggregate_distinct_toggle", "SELECT COUNT(a) FROM t", ["SELECT COUNT(DISTINCT a) FROM t"]),
    ("aggregate_distinct_toggle", "SELECT COUNT(DISTINCT a) FROM t", ["SELECT COUNT(a) FROM t"]),
    ("aggregate_distinct_toggle", "SELECT COUNT(id) FROM t", []),
    ("count_rows", "SELECT COUNT(a) FROM t", ["SELECT COUNT(*) FROM t"]),
    ("count_rows", "SELECT COUNT(b) FROM t", []),
    ("aggregate_column_swap", "SELECT MAX(s) FROM t", ["SELECT MAX(z) FROM t"]),
    ("aggregate_remove", "SELECT COUNT(*) FROM t", ["SELECT * FROM t"]),
    ("aggregate_remove", "SELECT MAX(a) AS x FROM t WHERE b = 1", ["SELECT a FROM t WHERE b = 1"]),
    ("aggregate_remove", "SELECT s, MAX(a) FROM t GROUP BY s", []),
    ("group_by_key_drop", "SELECT s, z, COUNT(*) FROM t GROUP BY s, z", [
        "SELECT MIN(s), z, COUNT(*) FROM t GROUP BY z", "SELECT s, MIN(z), COUNT(*) FROM t GROUP BY s"]),
    ("group_by_key_drop", "SELECT id, z, COUNT(*) FROM t GROUP BY id, z", ["SELECT MIN(id), z, COUNT(*) FROM t GROUP BY z"]),
    ("group_by_key_add", "SELECT id, COUNT(*) FROM t GROUP BY id", []),
    ("group_by_key_swap", "SELECT s, COUNT(*) FROM t GROUP BY s", ["SELECT z AS s, COUNT(*) FROM t GROUP BY z"]),
    ("group_by_remove", "SELECT s, COUNT(*) FROM t GROUP BY s", ["SELECT MIN(s), COUNT(*) FROM t"]),
    ("limit_decrease", "SELECT a FROM t LIMIT 5", ["SELECT a FROM t LIMIT 2"]),
    ("limit_decrease", "SELECT a FROM t LIMIT 1", []),
    ("limit_remove", "SELECT a FROM t LIMIT 5", ["SELECT a FROM t"]),
    ("limit_add", "SELECT a FROM t ORDER BY a", ["SELECT a FROM t ORDER BY a LIMIT 1"]),
    ("order_direction_flip", "SELECT a FROM t ORDER BY a DESC", ["SELECT a FROM t ORDER BY a"]),
    ("order_remove", "SELECT a FROM t ORDER BY a, b", ["SELECT a FROM t"]),
    ("order_key_drop", "SELECT a FROM t ORDER BY a, b", ["SELECT a FROM t ORDER BY b", "SELECT a FROM t ORDER BY a"]),
    ("order_key_drop", "SELECT a FROM t ORDER BY id, b", ["SELECT a FROM t ORDER BY b"]),
    ("order_key_swap", "SELECT a FROM t ORDER BY s", ["SELECT a FROM t ORDER BY z"]),
    ("nulls_order_flip", "SELECT a FROM t ORDER BY a, b", ["SELECT a FROM t ORDER BY a NULLS FIRST, b"]),
    ("text_case", "SELECT a FROM t WHERE s IN ('Oslo', 'paid')", [
        "SELECT a FROM t WHERE s IN ('oslo', 'paid')", "SELECT a FROM t WHERE s IN ('Oslo', 'Paid')"]),
    ("case_fold_remove", "SELECT a FROM t WHERE LOWER(s) = 'x'", ["SELECT a FROM t WHERE s = 'x'"]),
    ("in_list_drop", "SELECT a FROM t WHERE a IN (1, 2)", ["SELECT a FROM t WHERE a IN (2)", "SELECT a FROM t WHERE a IN (1)"]),
    ("like_pattern", "SELECT a FROM t WHERE s LIKE '%x%'", [
        "SELECT a FROM t WHERE s LIKE 'x%'", "SELECT a FROM t WHERE s LIKE '%x'"]),
    ("arithmetic_swap", "SELECT a - b FROM t", ["SELECT a + b FROM t"]),
    ("operand_swap", "SELECT a - (b + 1) FROM t", ["SELECT (b + 1) - a FROM t"]),
    ("boolean_flip", "SELECT a FROM t WHERE x = TRUE", ["SELECT a FROM t WHERE x = FALSE"]),
    ("case_branch_drop", "SELECT CASE WHEN a = 1 THEN 'x' WHEN a = 2 THEN 'y' END FROM t", [
        "SELECT CASE WHEN a = 2 THEN 'y' END FROM t", "SELECT CASE WHEN a = 1 THEN 'x' END FROM t"]),
    ("case_default_drop", "SELECT CASE WHEN a = 1 THEN 'x' ELSE 'y' END FROM t", ["SELECT CASE WHEN a = 1 THEN 'x' END FROM t"]),
    ("case_default_drop", "SELECT SUM(CASE WHEN a = 1 THEN 1 ELSE 0 END) FROM t", []),
    ("case_condition", "SELECT CASE WHEN a < 1 THEN 'x' END FROM t", ["SELECT CASE WHEN a <= 1 THEN 'x' END FROM t"]),
    ("null_check_flip", "SELECT a FROM t WHERE a IS NULL", ["SELECT a FROM t WHERE NOT a IS NULL"]),
    ("null_compare", "SELECT a FROM t WHERE a IS NOT NULL", ["SELECT a FROM t WHERE a <> NULL"]),
    ("coalesce_remove", "SELECT COALESCE(a, 0) FROM t", ["SELECT a FROM t"]),
    ("nullif_remove", "SELECT b / NULLIF(a, 0) FROM t", ["SELECT b / a FROM t"]),
    ("null_included", "SELECT a FROM t WHERE a <> 1 AND b <> 1", ["SELECT a FROM t WHERE (a <> 1 OR a IS NULL) AND b <> 1"]),
    ("round_remove", "SELECT ROUND(a, 2) FROM t", ["SELECT a FROM t"]),
    ("round_digits", "SELECT ROUND(a) FROM t", ["SELECT ROUND(a, 1) FROM t"]),
    ("integer_division", "SELECT 1.0 * a / b FROM t", ["SELECT a / b FROM t"]),
    ("integer_division", "SELECT CAST(a AS DOUBLE PRECISION) / b FROM t", ["SELECT a / b FROM t"]),
    ("date_part_swap", "SELECT EXTRACT(YEAR FROM d) FROM t", ["SELECT EXTRACT(MONTH FROM d) FROM t"]),
    ("date_part_swap", "SELECT TO_CHAR(d, 'YYYY-MM') FROM t", ["SELECT TO_CHAR(d, 'YYYY-DD') FROM t"]),
    ("substring_offset", "SELECT SUBSTRING(s FROM 1 FOR 3) FROM t", [
        "SELECT SUBSTRING(s FROM 2 FOR 3) FROM t", "SELECT SUBSTRING(s FROM 1 FOR 2) FROM t"]),
    ("function_drop", "SELECT ABS(a) FROM t", ["SELECT a FROM t"]),
    ("dialect_function", "SELECT LENGTH(s) FROM t", ["SELECT OCTET_LENGTH(s) FROM t"]),
    ("dialect_function", "SELECT s || z FROM t", ["SELECT CONCAT(s, z) FROM t"]),
    ("nested_predicate_delete", "SELECT a FROM t WHERE a IN (SELECT w FROM u WHERE w > 1 AND id < 5)", [
        "SELECT a FROM t WHERE a IN (SELECT w FROM u WHERE id < 5)", "SELECT a FROM t WHERE a IN (SELECT w FROM u WHERE w > 1)"]),
    ("nested_condition_flip", "WITH x AS (SELECT w FROM u WHERE w > 1) SELECT w FROM x", [
        "WITH x AS (SELECT w FROM u WHERE w < 1) SELECT w FROM x"]),
    ("nested_boundary", "WITH x AS (SELECT w FROM u WHERE w > 1) SELECT w FROM x", [
        "WITH x AS (SELECT w FROM u WHERE w >= 1) SELECT w FROM x"]),
    ("nested_filter_remove", "WITH x AS (SELECT w FROM u WHERE w > 1) SELECT w FROM x", [
        "WITH x AS (SELECT w FROM u) SELECT w FROM x"]),
    ("correlation_remove", "SELECT a FROM t WHERE EXISTS(SELECT 1 FROM u WHERE u.t_id = t.id AND u.w = 1)", [
        "SELECT a FROM t WHERE EXISTS(SELECT 1 FROM u WHERE u.w = 1)"]),
    ("filter_to_outer", "SELECT w FROM (SELECT w, t_id FROM u WHERE t_id = 1 LIMIT 3) AS x", [
        "SELECT w FROM (SELECT w, t_id FROM u LIMIT 3) AS x WHERE t_id = 1"]),
    ("union_all_toggle", "SELECT a FROM t UNION SELECT w FROM u", ["SELECT a FROM t UNION ALL SELECT w FROM u"]),
    ("set_operation_swap", "SELECT a FROM t EXCEPT SELECT w FROM u", ["SELECT a FROM t INTERSECT SELECT w FROM u"]),
    ("set_branch_drop", "SELECT a FROM t UNION SELECT w FROM u ORDER BY 1", [
        "SELECT a FROM t ORDER BY 1", "SELECT w FROM u ORDER BY 1"]),
    ("window_partition_drop", "SELECT SUM(a) OVER (PARTITION BY s ORDER BY id) FROM t", ["SELECT SUM(a) OVER (ORDER BY id) FROM t"]),
    ("window_order_flip", "SELECT SUM(a) OVER (PARTITION BY s ORDER BY id) FROM t", [
        "SELECT SUM(a) OVER (PARTITION BY s ORDER BY id DESC) FROM t"]),
    ("rank_swap", "SELECT RANK() OVER (ORDER BY a) FROM t", ["SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t"]),
    ("neighbour_swap", "SELECT LAG(a) OVER (ORDER BY id) FROM t", ["SELECT LEAD(a) OVER (ORDER BY id) FROM t"]),
    ("window_frame", "SELECT SUM(a) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t", [
        "SELECT SUM(a) OVER (ORDER BY id) FROM t",
        "SELECT SUM(a) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t"]),
    ("written_value", "UPDATE t SET s = 'x', a = DEFAULT WHERE b = 2", ["UPDATE t SET s = 'X', a = DEFAULT WHERE b = 2"]),
    ("assignment_drop", "UPDATE t SET s = 'x', a = 1", ["UPDATE t SET a = 1", "UPDATE t SET s = 'x'"]),
    ("assignment_column_swap", "UPDATE t SET s = 'x'", ["UPDATE t SET z = 'x'"]),
    ("inserted_values_swap", "INSERT INTO t (id, a, s) VALUES (1, 2, 'x')", ["INSERT INTO t (id, a, s) VALUES (2, 1, 'x')"]),
    ("inserted_row_drop", "INSERT INTO t (id) VALUES (1), (2)", ["INSERT INTO t (id) VALUES (2)", "INSERT INTO t (id) VALUES (1)"]),
    ("upsert_ignore", "INSERT INTO t (id, a) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET a = EXCLUDED.a", [
        "INSERT INTO t (id, a) VALUES (1, 2) ON CONFLICT(id) DO NOTHING"]),
    ("update_join_lost", "UPDATE t SET a = u.w FROM u WHERE u.t_id = t.id", ["UPDATE t SET a = u.w FROM u WHERE TRUE"]),
    ("column_def_drop", "CREATE TABLE n (id INT, x INT, CHECK (x > 0))", ["CREATE TABLE n (x INT, CHECK (x > 0))"]),
    ("column_type_change", "ALTER TABLE t ADD COLUMN x INT", ["ALTER TABLE t ADD COLUMN x VARCHAR(40)"]),
    ("constraint_drop", "CREATE TABLE n (id INT NOT NULL, UNIQUE (id))", [
        "CREATE TABLE n (id INT, UNIQUE (id))", "CREATE TABLE n (id INT NOT NULL)"]),
    ("default_change", "ALTER TABLE t ADD COLUMN x BOOLEAN DEFAULT FALSE", ["ALTER TABLE t ADD COLUMN x BOOLEAN DEFAULT TRUE"]),
    ("index_unique_toggle", "CREATE UNIQUE INDEX i ON t(a)", ["CREATE INDEX i ON t(a)"]),
    ("index_columns", "CREATE INDEX i ON t(a, b)", ["CREATE INDEX i ON t(b)", "CREATE INDEX i ON t(a)", "CREATE INDEX i ON t(b, a)"]),
    ("defined_name", "ALTER TABLE t RENAME COLUMN s TO names", ["ALTER TABLE t RENAME COLUMN s TO name"]),
    ("dropped_object_swap", "DROP TABLE t", ["DROP TABLE u"]),
    ("drop_to_empty", "DROP TABLE t", ["DELETE FROM t"]),
    ("drop_to_empty", "ALTER TABLE t DROP COLUMN s", ["UPDATE t SET s = NULL"]),
]  # fmt: skip

DRAWN: dict[str, tuple[str, set[str]]] = {
    "projection_add_column": ("SELECT a FROM u", {"SELECT a, id FROM u", "SELECT a, t_id FROM u", "SELECT a, w FROM u"}),
    "group_by_key_add": (
        "SELECT w, COUNT(*) FROM u GROUP BY w",
        {"SELECT w, COUNT(*) FROM u GROUP BY w, id", "SELECT w, COUNT(*) FROM u GROUP BY w, t_id"},
    ),
    "projection_swap": ("SELECT a, b FROM t", {"SELECT b, a FROM t"}),
    "select_column_swap": ("SELECT w FROM u", {"SELECT id FROM u", "SELECT t_id FROM u"}),
    "limit_increase": ("SELECT a FROM t LIMIT 5", {f"SELECT a FROM t LIMIT {n}" for n in range(11, 16)}),
    "date_boundary": (
        "SELECT a FROM t WHERE d < '2024-03-01'",
        {"SELECT a FROM t WHERE d < '2024-02-29'", "SELECT a FROM t WHERE d < '2024-03-02'"},
    ),
    "number_shift": ("SELECT a FROM t WHERE a < 10", {"SELECT a FROM t WHERE a < 9", "SELECT a FROM t WHERE a < 11"}),
}
"""What a seed chooses: the mutants that there may be."""


@pytest.mark.parametrize(("name", "sql", "mutants"), CASES)
def test_all_sites_of_an_operator(name: str, sql: str, mutants: list[str]) -> None:
    found = mutate(sql, "postgres", schema=SCHEMA, recipe=Recipe(sites=None, operators=(name,))).mutants
    assert sorted(mutants) == sorted(mutant.sql for mutant in found)


@pytest.mark.parametrize("name", DRAWN)
def test_every_choice_comes_up_under_some_seed(name: str) -> None:
    sql, possible = DRAWN[name]
    found = {
        mutant.sql
        for seed in range(40)
        for mutant in mutate(sql, "postgres", schema=SCHEMA, recipe=Recipe(seed, operators=(name,))).mutants
    }
    assert possible == found


def test_every_operator_is_held_to_an_example() -> None:
    shown = {name for name, _, mutants in CASES if mutants} | set(DRAWN)
    assert [operator.name for operator in OPERATORS if operator.name not in shown] == []


def test_the_fifteen_published_operators_come_first() -> None:
    assert sum(operator.published for operator in OPERATORS) == 15
    assert all(operator.published for operator in OPERATORS[:15])
