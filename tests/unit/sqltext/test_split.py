"""Scripts become statements by each dialect's own rules of quoting."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql_gate.sqltext import is_blank, split_batches, split_statements


def texts(sql: str, dialect: str) -> list[str]:
    return [statement.text for statement in split_statements(sql, dialect)]


@pytest.mark.parametrize(
    "dialect, sql, expected",
    [
        ("sqlite", "SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("sqlite", ";; SELECT 1 ;;; -- end;", ["SELECT 1"]),
        ("sqlite", "SELECT 'a;''b;'; SELECT \"x;\"\"y\"", ["SELECT 'a;''b;'", 'SELECT "x;""y"']),
        ("sqlite", "SELECT `a;b`, [c;d]; SELECT 2", ["SELECT `a;b`, [c;d]", "SELECT 2"]),
        ("sqlite", "SELECT 1 -- a;\n; SELECT /* ; */ 2", ["SELECT 1 -- a;", "SELECT /* ; */ 2"]),
        ("sqlite", "SELECT 1 /* a /* ; */; SELECT 2", ["SELECT 1 /* a /* ; */", "SELECT 2"]),
        ("sqlite", r"SELECT 'a\'; SELECT 2", [r"SELECT 'a\'", "SELECT 2"]),
        ("sqlite", "SELECT # 1; SELECT 2", ["SELECT # 1", "SELECT 2"]),
        ("postgres", "SELECT 1 /* a /* ; */ ; */; SELECT 2", ["SELECT 1 /* a /* ; */ ; */", "SELECT 2"]),
        ("postgres", r"SELECT E'a\';b'; SELECT 'c\'; SELECT 3", [r"SELECT E'a\';b'", r"SELECT 'c\'", "SELECT 3"]),
        ("postgres", "SELECT E'a'\n  'b\\';c'; SELECT 2", ["SELECT E'a'\n  'b\\';c'", "SELECT 2"]),
        ("postgres", r"SELECT a LIKE'x\'; SELECT 2", [r"SELECT a LIKE'x\'", "SELECT 2"]),
        ("postgres", "SELECT U&'\\0041;', U&\"x;\"; SELECT 2", ["SELECT U&'\\0041;', U&\"x;\"", "SELECT 2"]),
        (
            "postgres",
            "SELECT $$a;'b$$, $t$ ; $$ ; $t$; SELECT $1; SELECT 3",
            ["SELECT $$a;'b$$, $t$ ; $$ ; $t$", "SELECT $1", "SELECT 3"],
        ),
        ("postgres", "SELECT a$b$ FROM t; SELECT b$c$", ["SELECT a$b$ FROM t", "SELECT b$c$"]),
        ("postgres", "SELECT a[1;2], '{\"x\": 1}'::json", ["SELECT a[1", "2], '{\"x\": 1}'::json"]),
        ("duckdb", "SELECT $$a;b$$ /* x /* ; */ */; SELECT 2", ["SELECT $$a;b$$ /* x /* ; */ */", "SELECT 2"]),
        ("mysql", r"SELECT 'it\';s', " + r'"x\";y"' + "; SELECT 2", [r"SELECT 'it\';s', " + r'"x\";y"', "SELECT 2"]),
        ("mysql", "SELECT 1 # a;\n; SELECT 5--1; SELECT 2 -- b;", ["SELECT 1 # a;", "SELECT 5--1", "SELECT 2 -- b;"]),
        ("mysql", "/*!40101 SET NAMES utf8 */; /* c; */", ["/*!40101 SET NAMES utf8 */"]),
        ("mysql", "/*M!100 SELECT 1 */; SELECT 2", ["/*M!100 SELECT 1 */", "SELECT 2"]),
        ("sqlserver", "SELECT [a;]];b], N'x;'; SELECT 2", ["SELECT [a;]];b], N'x;'", "SELECT 2"]),
        ("bigquery", "SELECT '''a';b''', r'c\\';d'; SELECT 2", ["SELECT '''a';b''', r'c\\';d'", "SELECT 2"]),
        ("oracle", "SELECT 'a;', \"b;\" -- ;\n; SELECT 2", ["SELECT 'a;', \"b;\" -- ;", "SELECT 2"]),
        ("sqlite", "SELECT 'never closed; SELECT 2", ["SELECT 'never closed; SELECT 2"]),
        ("postgres", "SELECT $a$ never; closed $b$", ["SELECT $a$ never; closed $b$"]),
        ("postgres", "SELECT 1 /* never; closed", ["SELECT 1 /* never; closed"]),
    ],
)
def test_a_delimiter_counts_only_in_code(dialect: str, sql: str, expected: list[str]) -> None:
    assert expected == texts(sql, dialect)


@pytest.mark.parametrize(
    "dialect, body",
    [
        (
            "sqlite",
            "CREATE TRIGGER t AFTER UPDATE ON x WHEN new.a > 1 BEGIN UPDATE y SET a = CASE WHEN 1 THEN 2 END; DELETE FROM z; END",
        ),
        ("sqlite", "create temp trigger if not exists t before delete on x begin select 1; end"),
        (
            "mysql",
            "CREATE DEFINER=`ro;ot`@`%` PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; SELECT CASE WHEN 1 THEN 2 END; END",
        ),
        (
            "mysql",
            "CREATE FUNCTION f() RETURNS INT BEGIN w: WHILE a DO SET a = 1; END WHILE w; CASE x WHEN 1 THEN SET a = 2; END CASE; END",
        ),
        ("mysql", "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN BEGIN SET @a = 1; END; SET @b = 'END;'; END"),
        (
            "mysql",
            "/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER t AFTER INSERT ON x FOR EACH ROW BEGIN SET @a = 1; END */",
        ),
        ("mariadb", "BEGIN NOT ATOMIC SELECT 1; SELECT 2; END"),
        ("postgres", "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN a THEN 1 END; END"),
        ("postgres", "CREATE FUNCTION f() RETURNS int AS $f$ BEGIN RETURN 1; END; $f$ LANGUAGE plpgsql"),
        ("postgres", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT 2'"),
        ("postgres", "CREATE RULE r AS ON INSERT TO t DO ALSO (INSERT INTO a VALUES (1); INSERT INTO b VALUES (2))"),
        ("postgres", "DO $$ BEGIN PERFORM 1; END $$"),
        ("sqlserver", "IF 1 = 1 BEGIN SELECT CASE WHEN 1 = 1 THEN 1 END; SELECT 2; END"),
        ("sqlserver", "BEGIN TRY SELECT 1; END TRY BEGIN CATCH SELECT 2; END CATCH"),
        ("bigquery", "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END"),
    ],
)
def test_a_body_stays_with_its_statement(dialect: str, body: str) -> None:
    assert [body, "SELECT 9"] == texts(f"{body};\nSELECT 9;", dialect)


@pytest.mark.parametrize(
    "dialect, sql, count",
    [
        ("sqlite", "BEGIN; UPDATE t SET a = 1; COMMIT; END", 4),
        ("mysql", "BEGIN; SELECT 1; COMMIT", 3),
        ("mysql", "CREATE TABLE event (a INT); SELECT 1", 2),
        ("mysql", "CREATE PROCEDURE p() SELECT 1; SELECT 2", 2),
        ("postgres", "BEGIN; CREATE FUNCTION f() RETURNS int AS 'x' LANGUAGE sql; COMMIT", 3),
        ("sqlserver", "BEGIN TRAN; SELECT 1; COMMIT", 3),
        ("sqlite", "SELECT begin FROM t; SELECT 2", 2),
    ],
)
def test_a_transaction_is_no_body(dialect: str, sql: str, count: int) -> None:
    assert count == len(texts(sql, dialect))


def test_delimiter_command_is_obeyed_and_is_no_statement() -> None:
    script = "SELECT 1;\nDELIMITER ;;\nCREATE TRIGGER t BEGIN a; b; END ;;\nSELECT ';;' ;;\ndelimiter ;\nSELECT 2;\nDELIMITER $$\nSELECT 3$$"
    assert texts(script, "mysql") == ["SELECT 1", "CREATE TRIGGER t BEGIN a; b; END", "SELECT ';;'", "SELECT 2", "SELECT 3"]


def test_delimiter_within_a_line_is_text() -> None:
    assert texts("SELECT 1 AS DELIMITER ;;\nSELECT 2", "mysql") == ["SELECT 1 AS DELIMITER", "SELECT 2"]


def test_more_delimiters_than_anyone_needs_are_text() -> None:
    """Each costs a compilation, and replies are hostile."""
    script = "".join(f"DELIMITER {chr(97 + i // 26)}{chr(97 + i % 26)}\n" for i in range(100))
    assert split_statements(script, "mysql")


def test_copy_brings_its_data() -> None:
    script = "COPY t (a, b) FROM stdin;\n1\tit's; -- x\n2\t\\N\n\\.\n\nSELECT 1;\nCOPY u FROM STDIN WITH (FORMAT csv);\n\\.\n"
    found = split_statements(script, "postgres")
    assert [(statement.kind, statement.text, statement.data) for statement in found[:2]] == [
        ("copy", "COPY t (a, b) FROM stdin", "1\tit's; -- x\n2\t\\N\n"),
        ("sql", "SELECT 1", ""),
    ]
    assert (found[2].kind, found[2].data) == ("copy", "")


def test_copy_without_an_end_mark_takes_the_rest() -> None:
    (only,) = split_statements("COPY t FROM stdin;\n1\n2", "postgres")
    assert only.data == "1\n2"


def test_copy_from_a_file_is_a_statement() -> None:
    assert [statement.kind for statement in split_statements("COPY t FROM '/x'; SELECT 1", "postgres")] == ["sql", "sql"]


def test_commands_for_psql_are_told_apart() -> None:
    found = split_statements("\\restrict abc\n\nSELECT 1;\n\\connect - x;y\n", "postgres")
    assert [(s.kind, s.text) for s in found] == [("meta", "\\restrict abc"), ("sql", "SELECT 1"), ("meta", "\\connect - x;y")]


def test_lines_are_those_of_the_first_word() -> None:
    found = split_statements("-- head\n\nSELECT 1;\n\n/* two\nlines */ SELECT\n2;\r\nSELECT 3", "sqlite")
    assert [statement.line for statement in found] == [3, 6, 8]


def test_statements_are_slices_of_their_source() -> None:
    source = " -- a\n SELECT 1 ;\n\tSELECT 2\n"
    for statement in split_statements(source, "sqlite"):
        assert source[statement.start_offset :].startswith(statement.text)


@pytest.mark.parametrize(
    "script, expected",
    [
        ("CREATE TABLE a(id INT)\nGO\nINSERT INTO a VALUES (1)\nGO", ["CREATE TABLE a(id INT)", "INSERT INTO a VALUES (1)"]),
        ("SELECT 1\n  go  -- next\nSELECT 2\nGO;\n", ["SELECT 1", "SELECT 2"]),
        ("/* run with\nGO\n*/\nSELECT 1", ["/* run with\nGO\n*/\nSELECT 1"]),
        ("SELECT 'ready\nGO\nsteady' AS s", ["SELECT 'ready\nGO\nsteady' AS s"]),
        ("SELECT [a\nGO\nb]", ["SELECT [a\nGO\nb]"]),
        ("-- GO\nSELECT 1\r\nGO\r\nSELECT 2\r\n", ["-- GO\nSELECT 1", "SELECT 2"]),
        ("GO\nGO\nSELECT 1 AS GO\nGO TO x\nGO /* c */\n-- nothing\nGO", ["SELECT 1 AS GO\nGO TO x"]),
        (
            "DECLARE @a INT = 1; SELECT @a;\nGO\nMERGE t USING s ON 1=1;",
            ["DECLARE @a INT = 1; SELECT @a;", "MERGE t USING s ON 1=1;"],
        ),
    ],
)
def test_batches_end_at_lines_that_hold_only_go(script: str, expected: list[str]) -> None:
    assert expected == [batch.text for batch in split_batches(script)]


def test_go_with_a_number_repeats() -> None:
    assert [(b.text, b.repeat, b.line) for b in split_batches("SELECT 1\nGO 3\nSELECT 2\nGO")] == [
        ("SELECT 1", 3, 1),
        ("SELECT 2", 1, 3),
    ]


def test_a_procedure_takes_the_rest_of_its_batch() -> None:
    script = "SELECT 0;\nGO\nCREATE OR ALTER PROC p AS SELECT 1; SELECT 2;\nGO\nSELECT 3; SELECT 4"
    assert texts(script, "sqlserver") == ["SELECT 0", "CREATE OR ALTER PROC p AS SELECT 1; SELECT 2;", "SELECT 3", "SELECT 4"]


@pytest.mark.parametrize("sql, expected", [("", True), (" ;\n-- x\n/* y */;", True), ("SELECT 1", False), ("/*!1 x */", False)])
def test_blank_is_what_holds_no_statement(sql: str, expected: bool) -> None:
    assert expected is is_blank(sql, "mysql")


@pytest.mark.parametrize(
    "file, dialect, statements",
    [
        ("chinook/Chinook_MySql.sql", "mysql", 60),
        ("chinook/Chinook_PostgreSql.sql", "postgres", 60),
        ("chinook/Chinook_SqlServer.sql", "sqlserver", 60),
        ("bird-mini-dev/postgres/card_games.sql", "postgres", 18),
        ("evalbench-bat/setup/db_blog/sqlite/setup.sql", "sqlite", 20),
    ],
)
def test_real_scripts_split_whole(shared_data: Path, file: str, dialect: str, statements: int) -> None:
    source = (shared_data / "data" / file).read_text(encoding="utf-8-sig")
    found = split_statements(source, dialect)
    assert statements == len(found)
    assert all(s.text.lstrip("-/*\\ ")[:1].isalpha() for s in found if not s.text.startswith(("--", "/*")))
