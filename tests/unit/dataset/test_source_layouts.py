"""Where the material of a database may lie, and which of it is taken."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

from nl2sql_gate.dataset import read_source
from nl2sql_gate.errors import DatasetError, ProvisionError, UsageError
from nl2sql_gate.records import DatabaseSource

CREATE = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT);\nINSERT INTO boat VALUES (1, 'Ada');\n"
POSTGRES = "CREATE TABLE public.boat (id bigserial PRIMARY KEY, name text);\nINSERT INTO public.boat VALUES (1, 'Ada');\n"


def write(root: Path, name: str, content: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def sqlite_file(root: Path, name: str, script: str = CREATE) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


def refusal(kind: type[UsageError], root: Path, dialect: str = "sqlite", database: str = "harbour") -> str:
    with pytest.raises(kind) as caught:
        read_source(root, database, dialect)
    assert caught.value.where
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


def codes(source: DatabaseSource) -> list[str]:
    return [warned.code for warned in source.warnings]


@pytest.mark.parametrize("name", ["harbour/harbour.sqlite", "harbour.sqlite", "harbour.db", "harbour/harbour.sqlite3"])
def test_a_sqlite_file_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    path = sqlite_file(tmp_path, name)
    source = read_source(tmp_path, "harbour", "sqlite")
    assert source.sqlite_file == str(path)
    assert (source.setup, source.tables, source.transpiled_from, source.warnings) == ((), (), "", ())


def test_a_sqlite_files_digest_is_its_contents(tmp_path: Path) -> None:
    one = read_source(sqlite_file(tmp_path, "a/harbour.sqlite").parent, "harbour", "sqlite").digest
    copy = write(tmp_path, "b/harbour/harbour.sqlite", (tmp_path / "a/harbour.sqlite").read_bytes())
    assert read_source(tmp_path / "b", "harbour", "sqlite").digest == one
    with sqlite3.connect(copy) as connection:
        connection.execute("INSERT INTO boat VALUES (2, 'Bo')")
    connection.close()
    assert read_source(tmp_path / "b", "harbour", "sqlite").digest != one


def test_a_file_that_is_not_sqlite_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "harbour.sqlite", "version https://git-lfs.github.com/spec/v1\n")
    assert "does not begin as a SQLite file does" in refusal(ProvisionError, tmp_path)


def test_a_file_with_rows_in_a_log_is_refused(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path, "harbour.sqlite")
    write(tmp_path, "harbour.sqlite-wal", b"x")
    assert f"rows that are not in it yet lie in {path.name}-wal" in refusal(ProvisionError, tmp_path)


@pytest.mark.parametrize(
    "name",
    ["harbour.sql", "harbour/harbour.sql", "harbour/postgres/harbour.sql", "postgresql/harbour.sql", "harbour.sql.gz"],
)
def test_one_script_is_a_database(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, gzip.compress(POSTGRES.encode()) if name.endswith(".gz") else POSTGRES)
    source = read_source(tmp_path, "harbour", "postgres")
    assert [statement.text.split()[0] for statement in source.setup] == ["CREATE", "INSERT"]
    assert source.transpiled_from == ""


def test_setup_scripts_may_be_compressed(tmp_path: Path) -> None:
    write(tmp_path, "harbour/sqlite/setup.sql.gz", gzip.compress(CREATE.encode()))
    assert len(read_source(tmp_path, "harbour", "sqlite").setup) == 2
    write(tmp_path, "harbour/sqlite/setup.sql.gz", b"\x1f\x8b\x08broken")
    assert "cannot be read" in refusal(ProvisionError, tmp_path)


def test_a_script_without_marks_of_a_dialect_suits_all(tmp_path: Path) -> None:
    write(tmp_path, "harbour.sql", CREATE)
    for dialect in ("sqlite", "postgres", "duckdb", "mysql"):
        source = read_source(tmp_path, "harbour", dialect)
        assert len(source.setup) == 2
        assert source.warnings == ()


def test_what_a_script_is_written_in_can_be_said(tmp_path: Path) -> None:
    write(tmp_path, "harbour.sql", CREATE)
    write(tmp_path, "setup.yml", "dialect: mysql\n")
    assert len(read_source(tmp_path, "harbour", "mariadb").setup) == 2
    assert "harbour.sql: for mysql" in refusal(DatasetError, tmp_path)


def test_statements_about_databases_are_left_out_and_said(tmp_path: Path) -> None:
    dump = "-- MySQL dump\nDROP DATABASE IF EXISTS x;\nCREATE DATABASE x;\nUSE x;\nCREATE TABLE `t` (a int) ENGINE=InnoDB;\n"
    write(tmp_path, "harbour.sql", dump)
    source = read_source(tmp_path, "harbour", "mysql")
    assert [statement.text for statement in source.setup] == ["CREATE TABLE `t` (a int) ENGINE=InnoDB"]
    assert codes(source) == ["database_statements"] * 3


def test_a_dialects_own_scripts_come_before_a_file(tmp_path: Path) -> None:
    sqlite_file(tmp_path, "harbour/harbour.sqlite")
    write(tmp_path, "harbour/sqlite/setup.sql", CREATE)
    assert read_source(tmp_path, "harbour", "sqlite").sqlite_file == ""


def test_another_dialect_is_translated_only_where_the_directory_says_so(tmp_path: Path) -> None:
    write(tmp_path, "harbour.sql", POSTGRES)
    message = refusal(DatasetError, tmp_path)
    assert "harbour.sql: for postgres" in message
    assert "`transpile: [sqlite]`" in message
    write(tmp_path, "setup.yml", "transpile: [sqlite]\n")
    source = read_source(tmp_path, "harbour", "sqlite")
    assert source.transpiled_from == "postgres"
    assert codes(source) == ["transpiled"]
    assert "is transpiled from postgres to sqlite" in source.warnings[0].message
    assert "has nothing for database harbour in duckdb" in refusal(DatasetError, tmp_path, "duckdb")


def test_one_databases_own_options_win(tmp_path: Path) -> None:
    write(tmp_path, "harbour/postgres/setup.sql", POSTGRES)
    write(tmp_path, "setup.yml", "transpile: true\n")
    assert read_source(tmp_path, "harbour", "duckdb").transpiled_from == "postgres"
    write(tmp_path, "harbour/setup.yml", "transpile: false\n")
    refusal(DatasetError, tmp_path, "duckdb")


def test_defogs_layout_is_postgresql_for_all_dialects(tmp_path: Path) -> None:
    write(tmp_path, "harbour.sql", CREATE)
    write(tmp_path, "harbour.json", '{"table_metadata": {}}')
    assert read_source(tmp_path, "harbour", "postgres").transpiled_from == ""
    assert read_source(tmp_path, "harbour", "sqlite").transpiled_from == "postgres"


@pytest.mark.parametrize(
    "text, part",
    [
        ("dialekt: pg\n", "dialekt: is not a known key (did you mean 'dialect'?)"),
        ("dialect: oracel\n", "'oracel' is no known dialect"),
        ("transpile: sqlite\n", "transpile: expected true or a list of dialects, found text"),
        ("transpile: [sqlit]\n", "'sqlit' is no known dialect"),
        ("types: {boat: {id: 'int[]'}}\n", "boat.id: 'int[]' is no type that every dialect has"),
        ("- a\n", "expected keys with values"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path: Path, text: str, part: str) -> None:
    write(tmp_path, "harbour.sql", CREATE)
    write(tmp_path, "setup.yml", text)
    assert part in refusal(DatasetError, tmp_path)


def test_a_database_that_is_nowhere_names_its_neighbours(tmp_path: Path) -> None:
    sqlite_file(tmp_path, "harbor.sqlite")
    message = refusal(DatasetError, tmp_path)
    assert "Did you mean 'harbor'?" in message
    assert not (tmp_path / "harbour.sqlite").exists()


def test_a_link_to_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    secret = sqlite_file(tmp_path, "elsewhere/secret.sqlite")
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup/harbour.sqlite").symlink_to(secret)
    assert "lies elsewhere" in refusal(DatasetError, tmp_path / "setup")


# ---- tables alone ----------------------------------------------------------------------------------------------------

BOATS = 'id,name,length,is_new,built,zip,note\n1,Ada,7.50,true,2024-01-02,007,\n2,"",10,false,2023-12-31,12345,\n'


def test_tables_without_a_script_get_types_from_their_cells(tmp_path: Path) -> None:
    write(tmp_path, "harbour/data/boat.csv", BOATS)
    source = read_source(tmp_path, "harbour", "postgres")
    (create,) = source.setup
    assert create.text == (
        'CREATE TABLE "boat" (\n  "id" INTEGER,\n  "name" TEXT,\n  "length" DECIMAL(4, 2),\n  "is_new" BOOLEAN,\n'
        '  "built" DATE,\n  "zip" TEXT,\n  "note" TEXT\n)'
    )
    (table,) = source.tables
    assert [str(cell) for cell in table.rows[0]] == ["1", "Ada", "7.50", "True", "2024-01-02", "007", "None"]
    assert table.rows[1][1] == ""


def test_declared_types_and_keys_win(tmp_path: Path) -> None:
    write(tmp_path, "harbour/boat.csv", BOATS)
    write(tmp_path, "harbour/setup.yml", "types: {boat: {zip: integer, length: double}}\nprimary_keys: {boat: [id]}\n")
    (create,) = read_source(tmp_path, "harbour", "sqlite").setup
    assert '"id" INTEGER PRIMARY KEY' in create.text
    assert '"zip" INTEGER' in create.text
    assert '"length" REAL' in create.text
    assert read_source(tmp_path, "harbour", "sqlite").tables[0].rows[0][5] == 7


@pytest.mark.parametrize(
    "csv, options, part",
    [
        ("1,'Ada'\n", "", "the first row does not name the columns"),
        ("id,name\n1\n", "", "1 cells where the header has 2"),
        ("id,name\nx,Ada\n", "types: {boat: {id: integer}}\n", "column id: 'x' is no integer"),
        ("id,name\n1,Ada\n", "types: {boat: {nme: text}}\n", "boat.nme, which is not there (did you mean 'name'?)"),
    ],
)
def test_tables_that_cannot_be_typed_are_refused(tmp_path: Path, csv: str, options: str, part: str) -> None:
    write(tmp_path, "harbour/boat.csv", csv)
    write(tmp_path, "setup.yml", options or "transpile: false\n")
    assert part in refusal(ProvisionError, tmp_path)


def test_tables_beside_scripts_of_other_dialects_are_not_inferred(tmp_path: Path) -> None:
    write(tmp_path, "harbour/mysql/setup.sql", CREATE)
    write(tmp_path, "harbour/data/boat.csv", BOATS)
    assert "has nothing for database harbour in duckdb" in refusal(DatasetError, tmp_path, "duckdb")


def test_parquet_tables_keep_their_types(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "harbour").mkdir()
    duckdb.sql(
        "SELECT 1::BIGINT AS id, 'Ada' AS name, 1.5::DECIMAL(4, 1) AS length, TIMESTAMP '2024-01-02 03:04:05' AS at"
    ).write_parquet(str(tmp_path / "harbour/boat.parquet"))
    source = read_source(tmp_path, "harbour", "mysql")
    assert "`at` DATETIME(6)" in source.setup[0].text
    assert "`length` DECIMAL(4, 1)" in source.setup[0].text
    assert [str(cell) for cell in source.tables[0].rows[0]] == ["1", "Ada", "1.5", "2024-01-02 03:04:05"]


def test_parquet_rows_fill_the_tables_of_a_script(tmp_path: Path) -> None:
    import duckdb

    write(tmp_path, "harbour/sqlite/setup.sql", "CREATE TABLE boat (id INT, name TEXT)")
    (tmp_path / "harbour/data").mkdir()
    duckdb.sql("SELECT 1 AS id, 'Ada' AS name").write_parquet(str(tmp_path / "harbour/data/boat.parquet"))
    (table,) = read_source(tmp_path, "harbour", "sqlite").tables
    assert (table.columns, table.rows) == (("id", "name"), ((1, "Ada"),))
