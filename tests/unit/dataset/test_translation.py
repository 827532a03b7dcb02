"""Scripts and files of one dialect as databases of another."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from nl2sql_gate.dataset import read_source
from nl2sql_gate.dataset.column_types import ColumnType, inferred, spelled, type_of
from nl2sql_gate.dataset.postgres_to_char import to_char
from nl2sql_gate.dataset.script_dialect import dialect_of_script
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import DatabaseSource


def translated(folder: Path, script: str, source: str, target: str) -> DatabaseSource:
    (folder / "harbour.sql").write_text(script, encoding="utf-8")
    (folder / "setup.yml").write_text(f"dialect: {source}\ntranspile: true\n")
    return read_source(folder, "harbour", target)


def built(folder: Path, script: str, source: str) -> sqlite3.Connection:
    """The translation to SQLite, run."""
    found = translated(folder, script, source, "sqlite")
    connection = sqlite3.connect(":memory:")
    for statement in found.setup:
        connection.execute(statement.text)
    for table in found.tables:
        marks = ", ".join("?" * len(table.columns))
        rows = [[str(cell) if isinstance(cell, Decimal | dt.date) else cell for cell in row] for row in table.rows]
        connection.executemany(f'INSERT INTO "{table.table}" VALUES ({marks})', rows)
    for statement in found.post:
        connection.execute(statement.text)
    return connection


POSTGRES = """
CREATE SCHEMA yard;
CREATE TABLE public.boat (
    id serial PRIMARY KEY,
    name varchar(20) NOT NULL UNIQUE DEFAULT 'none'::text,
    price numeric(10, 2) CHECK (price > 0),
    is_new boolean DEFAULT true,
    made timestamp DEFAULT now(),
    parts text[]
);
CREATE TABLE yard.dock (id bigint, boat_id integer REFERENCES public.boat(id), note text);
ALTER TABLE ONLY yard.dock ADD CONSTRAINT dock_pkey PRIMARY KEY (id);
CREATE INDEX i ON yard.dock (note);
INSERT INTO boat (name, price, made) VALUES ('Ada', 12.50, DATE '2024-01-31' + INTERVAL '1 month'), ('O''Neil', NULL, NULL);
UPDATE boat SET price = price * 2 WHERE name = 'Ada';
COPY yard.dock (id, note, boat_id) FROM stdin;
1\ta\\tb\\\\\t1
2\t\\N\t2
\\.
CREATE VIEW public.cheap AS SELECT name FROM boat WHERE price < 100;
CREATE FUNCTION f() RETURNS int AS $$ SELECT 1; $$ LANGUAGE sql;
COMMENT ON TABLE boat IS 'x';
"""


def test_a_postgresql_script_becomes_a_sqlite_database(tmp_path: Path) -> None:
    connection = built(tmp_path, POSTGRES, "postgres")
    assert connection.execute("SELECT id, name, price, is_new, made FROM boat ORDER BY id").fetchall() == [
        (1, "Ada", 25.0, 1, "2024-02-29 00:00:00"),
        (2, "O'Neil", None, 1, None),
    ]
    assert connection.execute("SELECT * FROM dock ORDER BY id").fetchall() == [(1, 1, "a\tb\\"), (2, 2, None)]
    assert connection.execute("SELECT * FROM cheap").fetchall() == [("Ada",)]
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute("INSERT INTO boat (name) VALUES ('Ada')")
    assert connection.execute("PRAGMA foreign_key_list(dock)").fetchone()[2:5] == ("boat", "boat_id", "id")


def test_what_cannot_be_translated_is_said(tmp_path: Path) -> None:
    source = translated(tmp_path, POSTGRES, "postgres", "sqlite")
    said = [warned.message for warned in source.warnings]
    assert said[0] == "database harbour is transpiled from postgres to sqlite"
    assert [text.rpartition(": ")[2] for text in said[1:4]] == [
        "a CHECK of boat.price",
        "the type TEXT[] of boat.parts, which becomes text",
        "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1; $$ LANGUAGE sql",
    ]


@pytest.mark.parametrize(
    "target, create, dock",
    [
        ("mysql", "CREATE TABLE `boat` (\n  `id` INTEGER AUTO_INCREMENT NOT NULL", "dock"),
        ("duckdb", 'CREATE TABLE "boat" (\n  "id" INTEGER NOT NULL', "yard.dock"),
        ("sqlserver", "CREATE TABLE [boat] (\n  [id] INT NOT NULL", "yard.dock"),
        ("sqlite", 'CREATE TABLE "boat" (\n  "id" INTEGER PRIMARY KEY', "dock"),
    ],
)
def test_each_dialect_gets_its_own_statements(tmp_path: Path, target: str, create: str, dock: str) -> None:
    source = translated(tmp_path, POSTGRES, "postgres", target)
    assert any(statement.text.startswith(create) for statement in source.setup)
    assert [table.table for table in source.tables] == ["boat", dock]
    adds = [statement.text for statement in source.post if statement.text.startswith("ALTER")]
    assert len(adds) == (1 if target in {"mysql", "sqlserver"} else 0)


def test_columns_of_foreign_keys_take_their_parents_type_where_they_must(tmp_path: Path) -> None:
    script = "CREATE TABLE a (id bigint PRIMARY KEY);\nCREATE TABLE b (a_id int REFERENCES a(id), n int);\n"
    assert "`a_id` BIGINT,\n  `n` INTEGER" in translated(tmp_path, script, "postgres", "mysql").setup[1].text
    assert '"a_id" INTEGER' in translated(tmp_path, script, "postgres", "duckdb").setup[1].text


def test_foreign_keys_of_a_sqlite_file_without_a_unique_parent_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "setup.yml").write_text("transpile: true\n")
    with sqlite3.connect(tmp_path / "harbour.sqlite") as connection:
        connection.executescript(
            "CREATE TABLE a (x INT); CREATE TABLE b (x INT REFERENCES a(x)); CREATE TABLE c (y INT REFERENCES z(y));"
        )
    connection.close()
    source = read_source(tmp_path, "harbour", "postgres")
    assert source.post == ()
    assert [warned.message for warned in source.warnings][1:] == [
        "left out: the foreign keys of b, which its rows break",
        "left out: 1 foreign keys of c, whose parents are not unique",
    ]


def test_a_mysql_dump_is_read(tmp_path: Path) -> None:
    dump = (
        "-- MySQL dump\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `boat`;\n"
        "CREATE TABLE `boat` (\n  `id` int unsigned NOT NULL AUTO_INCREMENT,\n  `kind` enum('a','b') DEFAULT 'a',\n"
        "  `ok` tinyint(1) DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  KEY `k` (`kind`)\n) ENGINE=InnoDB;\n"
        "LOCK TABLES `boat` WRITE;\n/*!40000 ALTER TABLE `boat` DISABLE KEYS */;\n"
        "INSERT INTO `boat` VALUES (1,'a',1),(2,'it\\'s \"b\"',0);\nUNLOCK TABLES;\n"
    )
    connection = built(tmp_path, dump, "mysql")
    assert connection.execute("SELECT * FROM boat").fetchall() == [(1, "a", 1), (2, 'it\'s "b"', 0)]


def test_keys_that_come_behind_the_rows_are_read(tmp_path: Path) -> None:
    dump = (
        "CREATE TABLE `boat` (`id` int(11) NOT NULL, `name` varchar(9) DEFAULT NULL) ENGINE=InnoDB;\n"
        "INSERT INTO `boat` VALUES (1, 'Ada');\n"
        "ALTER TABLE `boat` ADD PRIMARY KEY (`id`), ADD UNIQUE KEY `u` (`name`), ADD KEY `k` (`name`);\n"
        "ALTER TABLE `boat` MODIFY `id` int(11) NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=2;\n"
        "ALTER TABLE `boat` ADD COLUMN `weight` int DEFAULT 7;\nINSERT INTO `boat` (`id`) VALUES (2);\n"
    )
    connection = built(tmp_path, dump, "mysql")
    assert connection.execute("SELECT * FROM boat ORDER BY id").fetchall() == [(1, "Ada", 7), (2, None, 7)]
    create = translated(tmp_path, dump, "mysql", "mysql")
    assert create.transpiled_from == ""
    postgres = translated(tmp_path, dump, "mysql", "postgres").setup[0].text
    assert '"id" INTEGER GENERATED BY DEFAULT AS IDENTITY NOT NULL' in postgres
    assert 'UNIQUE ("name")' in postgres


def test_identity_columns_of_a_dump_count_on(tmp_path: Path) -> None:
    dump = (
        "CREATE TABLE public.boat (id integer NOT NULL, name text);\nALTER TABLE public.boat OWNER TO me;\n"
        "ALTER TABLE public.boat ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (\n    SEQUENCE NAME public.boat_id_seq\n);\n"
        "ALTER TABLE ONLY public.boat ADD CONSTRAINT boat_pkey PRIMARY KEY (id);\n"
    )
    source = translated(tmp_path, dump, "postgres", "mysql")
    assert "`id` INTEGER AUTO_INCREMENT NOT NULL" in source.setup[0].text
    assert [warned.code for warned in source.warnings] == ["transpiled"]


@pytest.mark.parametrize("change", ["DROP COLUMN b", "RENAME COLUMN b TO c", "ALTER COLUMN b TYPE bigint", "RENAME TO u"])
def test_changes_to_a_table_with_rows_are_refused(tmp_path: Path, change: str) -> None:
    with pytest.raises(ProvisionError, match="cannot be translated") as caught:
        translated(tmp_path, f"CREATE TABLE t (a int, b int);\nALTER TABLE t {change};\n", "postgres", "sqlite")
    assert "changes a table that is made already" in str(caught.value)


@pytest.mark.parametrize(
    "script", ["CREATE TABLE t ();", 'CREATE TABLE "" (a int);', "CREATE TABLE t (a int", "CREATE TABLE t AS SELECT 1 AS a;"]
)
def test_definitions_that_cannot_be_read_are_refused(tmp_path: Path, script: str) -> None:
    with pytest.raises(ProvisionError, match="cannot be translated"):
        translated(tmp_path, script, "postgres", "sqlite")


def test_a_sql_server_script_is_read(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE [dbo].[Boat] ([Id] INT NOT NULL IDENTITY(1,1), [Name] NVARCHAR(20) DEFAULT N'x',"
        " CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([Id]));\nGO\nSET IDENTITY_INSERT [dbo].[Boat] ON;\n"
        "INSERT INTO [dbo].[Boat] ([Id], [Name]) VALUES (1, N'Ångström'), (2, NULL);\nGO\n"
    )
    connection = built(tmp_path, script, "sqlserver")
    assert connection.execute("SELECT * FROM Boat").fetchall() == [(1, "Ångström"), (2, None)]


def test_rows_that_cannot_be_had_stop_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError) as caught:
        translated(tmp_path, "CREATE TABLE t (a int);\nINSERT INTO t VALUES (no_such_function(1));\n", "postgres", "sqlite")
    assert "harbour.sql:2: INSERT INTO t" in str(caught.value)
    assert "no_such_function" in str(caught.value)


def test_a_script_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match="cannot be translated"):
        translated(tmp_path, "SELECT 1;\n", "postgres", "sqlite")


def test_tables_of_one_name_in_two_schemas_are_refused_where_there_is_one(tmp_path: Path) -> None:
    script = "CREATE TABLE a.t (x int);\nCREATE TABLE b.t (x int);\n"
    with pytest.raises(ProvisionError, match="cannot be translated"):
        translated(tmp_path, script, "postgres", "sqlite")
    assert len(translated(tmp_path, script, "postgres", "duckdb").setup) == 4


def test_a_script_reaches_no_file_while_its_rows_are_had(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    script = f"CREATE TABLE t (a text);\nINSERT INTO t SELECT content FROM read_text('{tmp_path}/secret.csv');\n"
    with pytest.raises(ProvisionError, match="cannot be translated"):
        translated(tmp_path, script, "postgres", "sqlite")


def test_the_digest_is_that_of_what_was_written(tmp_path: Path) -> None:
    script = "CREATE TABLE t (a timestamp);\nINSERT INTO t VALUES (now());\n"
    one, other = (translated(tmp_path, script, "postgres", "sqlite") for _ in range(2))
    assert one.digest == other.digest
    assert translated(tmp_path, script, "postgres", "duckdb").digest != one.digest


def test_a_sqlite_file_becomes_tables_typed_by_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "setup.yml").write_text("transpile: true\n")
    with sqlite3.connect(tmp_path / "harbour.sqlite") as connection:
        connection.executescript(
            'CREATE TABLE Boat ("Home Port" TEXT, id INTEGER PRIMARY KEY, made DATE, length REAL, odd INTEGER, blob BLOB);'
            "CREATE TABLE dock (id INT, boat INT REFERENCES Boat(id));"
            "INSERT INTO Boat VALUES ('Oslo', 1, '2024-01-02', 3, 'x', x'00ff'), (NULL, 2, NULL, 2.5, 4, NULL);"
            "INSERT INTO dock VALUES (1, 1), (2, 99); CREATE VIEW v AS SELECT 1;"
        )
    connection.close()
    source = read_source(tmp_path, "harbour", "postgres")
    assert source.transpiled_from == "sqlite"
    assert source.setup[0].text == (
        'CREATE TABLE "boat" (\n  "Home Port" TEXT,\n  "id" BIGINT NOT NULL,\n  "made" DATE,\n  "length" DOUBLE PRECISION,\n'
        '  "odd" TEXT,\n  "blob" BYTEA,\n  PRIMARY KEY ("id")\n)'
    )
    assert source.tables[0].rows == (("Oslo", 1, "2024-01-02", 3.0, "x", b"\x00\xff"), (None, 2, None, 2.5, "4", None))
    assert source.post == ()
    assert [warned.message for warned in source.warnings][1:] == [
        "left out: view v of harbour.sqlite",
        "left out: the type INTEGER of Boat.odd, which holds other values and becomes text",
        "left out: the foreign keys of dock, which its rows break",
    ]


@pytest.mark.parametrize(
    "declared, kind, sqlserver",
    [
        ("INT", ColumnType("integer"), "INT"),
        ("bigserial", ColumnType("bigint"), "BIGINT"),
        ("numeric(10,2)", ColumnType("decimal", (10, 2)), "DECIMAL(10, 2)"),
        ("character varying(20)", ColumnType("varchar", (20,)), "NVARCHAR(20)"),
        ("varchar", ColumnType("text"), "NVARCHAR(MAX)"),
        ("timestamp(6) without time zone", ColumnType("timestamp"), "DATETIME2"),
        ("timestamp with time zone", ColumnType("timestamptz"), "DATETIMEOFFSET"),
        ("double precision", ColumnType("double"), "FLOAT"),
        ("tinyint(1)", ColumnType("boolean"), "BIT"),
        ("bit(8)", ColumnType(""), "NVARCHAR(MAX)"),
        ("text[]", ColumnType(""), "NVARCHAR(MAX)"),
        ("geometry(Point, 4326)", ColumnType(""), "NVARCHAR(MAX)"),
    ],
)
def test_declared_types_are_understood_and_spelled_again(declared: str, kind: ColumnType, sqlserver: str) -> None:
    assert type_of(declared) == kind
    assert spelled(kind, "sqlserver") == sqlserver


@pytest.mark.parametrize(
    "cells, kind",
    [
        (["1", "-2", None], ColumnType("integer")),
        (["1", "3000000000"], ColumnType("bigint")),
        (["1", "99999999999999999999"], ColumnType("text")),
        (["1.50", "22"], ColumnType("decimal", (4, 2))),
        (["1e3", "2.5"], ColumnType("double")),
        (["007", "12"], ColumnType("text")),
        (["true", "FALSE"], ColumnType("boolean")),
        (["1", "0"], ColumnType("integer")),
        (["2024-01-02", "2023-02-28"], ColumnType("date")),
        (["2024-01-02 03:04", "2024-01-02"], ColumnType("timestamp")),
        (["2024-13-02"], ColumnType("text")),
        ([None, None], ColumnType("text")),
        ([""], ColumnType("text")),
    ],
)
def test_types_are_inferred_from_all_cells(cells: list[str | None], kind: ColumnType) -> None:
    assert inferred(cells) == kind


@pytest.mark.parametrize(
    "pattern, text",
    [
        ("%Y%m%d %H:%i:%s", "%4%m%3 %H:%4:%s"),
        ("Month|", "March    |"),
        ("FMMonth FMDD, YYYY", "March 5, 2024"),
        ("Dy, DD Mon YY HH12:MI AM", "Tue, 05 Mar 24 02:07 PM"),
        ("DDD IYYY-IW-ID Q WW W", "065 2024-10-2 1 10 1"),
        ("DDth MS US Y,YYY SSSS", "05th 123 123456 2,024 50829"),
        ('"Week" IW TMMonth mon MON', "Week 10 March mar MAR"),
    ],
)
def test_to_char_is_postgresqls(pattern: str, text: str) -> None:
    """Expected values are what PostgreSQL 15 gives."""
    assert to_char(dt.datetime(2024, 3, 5, 14, 7, 9, 123456, tzinfo=dt.UTC), pattern) == text


@pytest.mark.parametrize(
    "script, dialect",
    [
        ("CREATE TABLE t (a int)", ""),
        ("CREATE TABLE t (a bigserial)", "postgres"),
        ("\\c chinook\nCREATE TABLE t (a int)", "postgres"),
        ("CREATE TABLE t (a text DEFAULT ''::text)", "postgres"),
        ("CREATE TABLE `t` (a int)", "mysql"),
        ("CREATE TABLE t (a int) ENGINE=InnoDB", "mysql"),
        ("CREATE TABLE [t] (a int)", "sqlite"),
        ("CREATE TABLE [t] (a int)\nGO\n", "sqlserver"),
        ("PRAGMA foreign_keys=OFF;\nCREATE TABLE t (a int)", "sqlite"),
    ],
)
def test_scripts_bear_marks_of_their_dialect(script: str, dialect: str) -> None:
    assert dialect_of_script(script) == dialect
