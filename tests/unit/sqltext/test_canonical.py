"""Looks do not count, meaning does."""

from __future__ import annotations

import pytest

from nl2sql_gate.sqltext import canonical_sql


@pytest.mark.parametrize(
    "dialect, one, other",
    [
        ("postgres", "select A, b from T -- x", "SELECT a,\n  b\nFROM t;"),
        ("postgres", 'select "a" from t', "select a from t"),
        ("sqlite", 'select "A" from t', "select a from t"),
        ("mysql", "select count(*) from t", "SELECT COUNT( * ) FROM `t`"),
        ("sqlite", "select a x from t", "select a as x from t"),
        ("sqlite", "select 1; select 2", "select 1;\nselect 2;"),
    ],
)
def test_the_same_in_other_looks_is_equal(dialect: str, one: str, other: str) -> None:
    assert canonical_sql(one, dialect) == canonical_sql(other, dialect) is not None


@pytest.mark.parametrize(
    "dialect, one, other",
    [
        ("postgres", 'select "A" from t', "select a from t"),
        ("sqlite", "select 'A'", "select 'a'"),
        ("sqlite", "select a from t where b = 1", "select a from t where b = 2"),
        ("sqlite", "select a, b from t", "select b, a from t"),
    ],
)
def test_another_meaning_is_another_text(dialect: str, one: str, other: str) -> None:
    assert canonical_sql(one, dialect) != canonical_sql(other, dialect)


@pytest.mark.parametrize("sql", ["SELECT FROM FROM", "DO $$ x $$", "", f"SELECT {'(' * 500}1{')' * 500}"])
def test_what_is_not_understood_has_no_form(sql: str) -> None:
    assert canonical_sql(sql, "postgres") is None
