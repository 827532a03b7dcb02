"""SQL that may give another result a moment later is told from SQL that only looks so."""

from __future__ import annotations

import pytest

from nl2sql_gate.sqltext import names_clock_or_random

VOLATILE = [
    ("sqlite", "SELECT date('now')"),
    ("sqlite", "SELECT strftime('%Y', 'NOW', '-1 day')"),
    ("sqlite", 'SELECT date("now")'),
    ("sqlite", "SELECT date()"),
    ("sqlite", "SELECT strftime('%s')"),
    ("sqlite", "SELECT julianday('now') - julianday(d)"),
    ("sqlite", "SELECT timediff('now', d)"),
    ("sqlite", "SELECT random() ???"),
    ("sqlite", "SELECT a FROM t ORDER BY RANDOM()"),
    ("postgres", "SELECT NOW()"),
    ("postgres", "SELECT pg_catalog.now()"),
    ("postgres", "SELECT CURRENT_DATE - d FROM t"),
    ("postgres", "SELECT EXTRACT(YEAR FROM CURRENT_TIMESTAMP)"),
    ("postgres", "SELECT age(d)"),
    ("postgres", "SELECT clock_timestamp()"),
    ("postgres", "SELECT 'now'::timestamp"),
    ("postgres", "SELECT DATE 'today'"),
    ("postgres", "SELECT CAST('yesterday' AS date)"),
    ("postgres", "SELECT * FROM t TABLESAMPLE SYSTEM (1)"),
    ("postgres", "SELECT nextval('s'), gen_random_uuid()"),
    ("mysql", "SELECT UNIX_TIMESTAMP(), CURDATE()"),
    ("mysql", "SELECT RAND()"),
    ("sqlserver", "SELECT GETDATE()"),
    ("sqlserver", "SELECT NEWID()"),
    ("sqlserver", "SELECT SYSDATETIME()"),
    ("duckdb", "SELECT today()"),
]
STEADY = [
    ("sqlite", "SELECT now FROM t WHERE x = 'now'"),
    ("sqlite", "SELECT strftime('%Y', d) FROM t"),
    ("sqlite", "SELECT date(d, 'start of month') FROM t"),
    ("sqlite", "CREATE TABLE date(a)"),
    ("sqlite", "SELECT a AS current_date FROM t"),
    ("postgres", "SELECT t.now, t.random FROM t"),
    ("postgres", 'SELECT "current_date" FROM t'),
    ("postgres", "SELECT age(d, e)"),
    ("postgres", "SELECT a FROM t WHERE a = 'today'"),
    ("postgres", "SELECT 1 -- now()"),
    ("postgres", "SELECT 'now()', $$random()$$"),
    ("mysql", "SELECT UNIX_TIMESTAMP(d), DATE(d)"),
    ("mysql", "SELECT random FROM t"),
]


@pytest.mark.parametrize("dialect, sql", VOLATILE)
def test_clocks_and_random_sources_are_seen(dialect: str, sql: str) -> None:
    assert names_clock_or_random(sql, dialect)


@pytest.mark.parametrize("dialect, sql", STEADY)
def test_names_and_texts_are_no_clocks(dialect: str, sql: str) -> None:
    assert not names_clock_or_random(sql, dialect)
