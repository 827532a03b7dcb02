"""What may end or outlive a transaction is seen, and doubt counts as yes."""

from __future__ import annotations

import pytest

from nl2sql_gate.sqltext import transaction_control

LEAVES = [
    ("postgres", "COMMIT"),
    ("postgres", "SELECT 1; ROLLBACK"),
    ("postgres", "BEGIN"),
    ("postgres", "ABORT"),
    ("postgres", "SET x = 1"),
    ("postgres", "RESET ALL"),
    ("postgres", "DISCARD ALL"),
    ("postgres", "ALTER SYSTEM SET a = 1"),
    ("postgres", "DO $$ BEGIN COMMIT; END $$"),
    ("postgres", "CALL p()"),
    ("postgres", "PREPARE a AS SELECT 1"),
    ("postgres", "EXECUTE a"),
    ("postgres", "EXPLAIN ANALYZE SELECT 1"),
    ("postgres", "VACUUM"),
    ("postgres", "CREATE DATABASE x"),
    ("postgres", "CREATE INDEX CONCURRENTLY i ON t(a)"),
    ("postgres", "LOCK TABLE t"),
    ("postgres", "SELECT set_config('a', 'b', false)"),
    ("postgres", "SELECT \"set_config\"('a', 'b', false)"),
    ("postgres", "SELECT pg_advisory_lock(1)"),
    ("postgres", "SELECT nextval('s')"),
    ("postgres", "SELECT FROM FROM"),
    ("postgres", "COPY t FROM stdin;\n1\n\\.\n"),
    ("mysql", "CREATE TABLE t (a int)"),
    ("mysql", "SELECT 1 /*!; COMMIT */"),
    ("sqlserver", "SELECT 1 COMMIT"),
    ("sqlserver", "SELECT 1; EXEC p"),
    ("sqlite", "PRAGMA foreign_keys = off"),
    ("sqlite", "ATTACH 'x' AS y"),
    ("sqlite", "END"),
]
STAYS = [
    ("postgres", ""),
    ("postgres", "SELECT 1"),
    ("postgres", "/* COMMIT */ (SELECT 'COMMIT')"),
    ("postgres", "SELECT commit FROM t"),
    ("postgres", "INSERT INTO t VALUES (1); UPDATE t SET a = 1; DELETE FROM t"),
    ("postgres", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"),
    ("postgres", "SAVEPOINT a"),
    ("postgres", "CREATE TABLE t (a int); CREATE INDEX i ON t(a); DROP TABLE t"),
    ("mysql", "REPLACE INTO t VALUES (1)"),
    ("sqlserver", "UPDATE t SET a = 1"),
]


@pytest.mark.parametrize("dialect, sql", LEAVES)
def test_what_may_leave_a_transaction_is_seen(dialect: str, sql: str) -> None:
    assert transaction_control(sql, dialect)


@pytest.mark.parametrize("dialect, sql", STAYS)
def test_reading_and_changing_rows_stays_inside(dialect: str, sql: str) -> None:
    assert not transaction_control(sql, dialect)
