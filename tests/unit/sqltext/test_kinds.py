"""What kind of statement SQL is, and which tables it writes."""

from __future__ import annotations

import pytest

from nl2sql_gate.sqltext import query_type_of, statement_kinds, tables_written


@pytest.mark.parametrize(
    "dialect, sql, expected",
    [
        ("postgres", "SELECT 1", "dql"),
        ("postgres", "(SELECT 1) UNION (SELECT 2)", "dql"),
        ("postgres", "VALUES (1)", "dql"),
        ("duckdb", "FROM t", "dql"),
        ("duckdb", "SUMMARIZE t", "dql"),
        ("mysql", "SHOW TABLES", "dql"),
        ("sqlite", "PRAGMA table_info(t)", "dql"),
        ("sqlite", "EXPLAIN QUERY PLAN SELECT 1", "dql"),
        ("mysql", "SELECT a INTO @v FROM t", "dql"),
        ("sqlserver", "DECLARE @x INT = 1; SELECT @x", "dql"),
        ("postgres", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "dml"),
        ("sqlite", "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "dml"),
        ("postgres", "BEGIN; UPDATE t SET a = 1; COMMIT", "dml"),
        ("postgres", "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", "dml"),
        ("postgres", "EXPLAIN ANALYZE DELETE FROM t", "dml"),
        ("postgres", "COPY t FROM stdin;\n1\n\\.\n", "dml"),
        ("mysql", "REPLACE INTO t VALUES (1)", "dml"),
        ("mysql", "LOAD DATA INFILE 'x' INTO TABLE t", "dml"),
        ("sqlserver", "IF 1 = 1 BEGIN DELETE FROM t; SELECT 1 END", "dml"),
        ("postgres", "SELECT * INTO x FROM t", "ddl"),
        ("sqlserver", "SELECT * INTO #x FROM t", "ddl"),
        ("postgres", "CREATE TABLE x AS SELECT 1", "ddl"),
        ("postgres", "ALTER TABLE t ADD COLUMN x int, DROP COLUMN y", "ddl"),
        ("postgres", "TRUNCATE t", "ddl"),
        ("postgres", "GRANT SELECT ON t TO x", "ddl"),
        ("sqlite", "CREATE TRIGGER t AFTER INSERT ON x BEGIN UPDATE y SET a = 1; END", "ddl"),
        ("mysql", "CREATE PROCEDURE p() BEGIN DELETE FROM t; END", "ddl"),
        ("sqlserver", "CREATE PROC p AS DELETE FROM t", "ddl"),
        ("postgres", "INSERT INTO t SELECT 1; SELECT * FROM t; CREATE TABLE x (a int)", "ddl"),
        ("postgres", "SET x = 1", None),
        ("postgres", "DO $$ x $$", None),
        ("sqlserver", "EXEC p", None),
        ("postgres", "SELECT FROM WHERE", None),
        ("mysql", "SELECT a INTO OUTFILE 'x' FROM t", None),
        ("sqlite", "-- x", None),
        ("klingon", "SELECT 1", None),
    ],
)
def test_query_type_is_the_strongest_of_all_statements(dialect: str, sql: str, expected: str | None) -> None:
    assert expected == query_type_of(sql, dialect)


def test_kinds_are_told_statement_by_statement() -> None:
    script = (
        "BEGIN; INSERT INTO t VALUES (1); WITH a AS (SELECT 1) SELECT * FROM a; DROP TABLE t; SET x = 1; SELECT ??? FROM; COMMIT"
    )
    assert statement_kinds(script, "postgres") == ("begin", "insert", "select", "drop", "set", "unknown", "commit")


@pytest.mark.parametrize(
    "dialect, sql, expected",
    [
        ("postgres", "SELECT 1", set()),
        ("postgres", "INSERT INTO T VALUES (1); UPDATE s.u SET a = 1", {"t", "s.u"}),
        ("postgres", 'INSERT INTO "T" VALUES (1)', {"T"}),
        ("sqlite", 'INSERT INTO "T" VALUES (1)', {"t"}),
        ("sqlserver", "UPDATE a SET x = 1 FROM dbo.t a", {"dbo.t"}),
        ("mysql", "UPDATE a JOIN b ON a.i = b.i SET a.x = 1", {"a", "b"}),
        ("mysql", "DELETE x FROM t x JOIN b ON 1 = 1", {"t"}),
        ("postgres", "WITH x AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM x", {"t", "u"}),
        ("postgres", "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", {"t"}),
        ("postgres", "SELECT * INTO x FROM t", {"x"}),
        ("postgres", "TRUNCATE t, u", {"t", "u"}),
        ("postgres", "DROP TABLE a, b", {"a", "b"}),
        ("postgres", "ALTER TABLE t DROP COLUMN y", {"t"}),
        ("postgres", "CREATE INDEX i ON t(a)", {"t"}),
        ("postgres", "CREATE TABLE x (a int)", {"x"}),
        ("postgres", "TRUNCATE t CASCADE", None),
        ("postgres", "DO $$ x $$", None),
        ("postgres", "CALL p()", None),
        ("sqlite", "CREATE TRIGGER t AFTER INSERT ON x BEGIN UPDATE y SET a = 1; END", None),
        ("sqlite", "INSERT INTO t VALUES (1); SELECT ??? FROM", None),
    ],
)
def test_written_tables_are_named_or_unknown(dialect: str, sql: str, expected: set[str] | None) -> None:
    assert expected == tables_written(sql, dialect)


@pytest.mark.parametrize(
    ("sql", "dialect", "kind"),
    [
        ("SELECT a FROM {{dataset}}.t", "bigquery", "dql"),
        ("UPDATE {{schema}}.t SET a = '{{x}}' WHERE b = 1", "postgres", "dml"),
        ("DROP TABLE {{dataset}}.t", "mysql", "ddl"),
        ("SELECT '{{a}}', `{{b}}.c` FROM t -- {{d}}", "bigquery", "dql"),
    ],
)
def test_a_placeholder_is_a_name(sql: str, dialect: str, kind: str) -> None:
    from nl2sql_gate.sqltext.parse import is_understood

    assert is_understood(sql, dialect)
    assert query_type_of(sql, dialect) == kind
