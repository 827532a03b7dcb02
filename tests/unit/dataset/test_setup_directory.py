"""Setup directories: what is found where, what cells mean, what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset import case_digest, read_source, read_sources
from nl2sql_gate.dataset.csv_rows import CsvFault, read_rows
from nl2sql_gate.errors import DatasetError, ProvisionError, UsageError
from nl2sql_gate.records import Item, SqlField, TableData

CREATE = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, is_new BOOLEAN, price DECIMAL(10, 2));\n"


def make(folder: Path, **files: str | bytes) -> Path:
    """A setup directory; names are `database/dialect/file` with `__` for `/` and `--` for `.`."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def harbour(folder: Path, csv: str | bytes, setup: str = CREATE) -> TableData:
    make(folder, harbour__sqlite__setup_dot_sql=setup, harbour__data__boat_dot_csv=csv)
    (table,) = read_source(folder, "harbour", "sqlite").tables
    return table


def refusal(kind: type[UsageError], folder: Path, database: str = "harbour", dialect: str = "sqlite") -> str:
    with pytest.raises(kind) as caught:
        read_source(folder, database, dialect)
    assert caught.value.where
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


def test_scripts_come_as_statements_with_their_lines(tmp_path: Path) -> None:
    make(
        tmp_path,
        harbour__sqlite__pre_setup_dot_sql="PRAGMA foreign_keys = OFF;",
        harbour__sqlite__setup_dot_sql=b"\xef\xbb\xbf-- boats\r\n" + CREATE.encode() + b"\nCREATE TABLE dock (id INT);\r\n",
    )
    source = read_source(tmp_path, "harbour", "SQLite3")
    assert (source.name, source.dialect, len(source.pre), source.post, source.tables) == ("harbour", "sqlite", 1, (), ())
    assert [statement.place.line for statement in source.setup] == [2, 4]
    assert source.setup[1].place.file == str(tmp_path / "harbour/sqlite/setup.sql")


def test_sql_server_scripts_are_batches(tmp_path: Path) -> None:
    make(
        tmp_path,
        harbour__mssql__setup_dot_sql="CREATE TABLE a (x INT); CREATE TABLE b (y INT)\nGO\nINSERT INTO a VALUES (1)\nGO 2\n",
    )
    setup = read_source(tmp_path, "harbour", "sqlserver").setup
    assert [statement.text for statement in setup] == [
        "CREATE TABLE a (x INT); CREATE TABLE b (y INT)",
        "INSERT INTO a VALUES (1)",
        "INSERT INTO a VALUES (1)",
    ]


def test_a_dumps_rows_stay_with_their_copy(tmp_path: Path) -> None:
    dump = "\\restrict abc\nCREATE TABLE t (a int);\nCOPY t (a) FROM stdin;\n1\n2\n\\.\n\\unrestrict abc\n"
    make(tmp_path, harbour__postgres__setup_dot_sql=dump)
    create, copy = read_source(tmp_path, "harbour", "postgres").setup
    assert create.data == ""
    assert copy.data == "1\n2\n"


def test_commands_of_psql_are_refused(tmp_path: Path) -> None:
    make(tmp_path, harbour__postgres__setup_dot_sql="SELECT 1;\n\\i other.sql\n")
    assert "setup.sql:2: \\i other.sql: is a command of psql" in refusal(ProvisionError, tmp_path, dialect="postgres")


@pytest.mark.parametrize(
    "folders, dialect, chosen",
    [
        (["postgres", "postgresql"], "postgres", "postgres"),
        (["PostgreSQL"], "postgres", "PostgreSQL"),
        (["alloydb", "pg"], "postgres", "pg"),
        (["alloydb"], "postgres", "alloydb"),
        (["mysql"], "mariadb", "mysql"),
        (["mysql", "mariadb"], "mariadb", "mariadb"),
        (["tsql"], "mssql", "tsql"),
    ],
)
def test_the_folder_of_a_dialect_is_found_by_its_names(tmp_path: Path, folders: list[str], dialect: str, chosen: str) -> None:
    for name in folders:
        make(tmp_path, **{f"harbour__{name}__setup_dot_sql": f"SELECT '{name}'"})
    assert read_source(tmp_path, "harbour", dialect).setup[0].text == f"SELECT '{chosen}'"


def test_mysql_does_not_take_mariadbs_folder(tmp_path: Path) -> None:
    make(tmp_path, harbour__mariadb__setup_dot_sql="SELECT 1")
    assert "has nothing for database harbour in mysql" in refusal(DatasetError, tmp_path, dialect="mysql")


def test_what_is_missing_is_named_with_what_is_there(tmp_path: Path) -> None:
    make(tmp_path, harbour__sqlite__setup_dot_sql="SELECT 1", harbour__data__boat_dot_csv="1")
    message = refusal(DatasetError, tmp_path, dialect="duckdb")
    assert f"{tmp_path / 'harbour/duckdb'}: no pre_setup.sql, setup.sql, post_setup.sql" in message
    assert "has sqlite" in message
    assert "Did you mean 'harbour'?" in refusal(DatasetError, tmp_path, database="harbor")
    assert "does not exist" in refusal(DatasetError, tmp_path / "nowhere")
    assert "is not a folder" in refusal(DatasetError, tmp_path / "harbour/data/boat.csv")


@pytest.mark.parametrize("database", ["../x", "/etc", "a\x00b", "..", "C:\\x", ""])
def test_database_names_that_are_paths_read_nothing(tmp_path: Path, database: str) -> None:
    assert "name cannot be used" in refusal(DatasetError, tmp_path, database=database)


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("token")
    make(tmp_path / "setup", harbour__sqlite__setup_dot_sql=CREATE)
    data = tmp_path / "setup/harbour/data"
    data.mkdir()
    (data / "boat.csv").symlink_to(secret)
    assert "lies elsewhere" in refusal(DatasetError, tmp_path / "setup")
    (data / "boat.csv").unlink()
    (data / "real.csv").write_text("1,'a',true,1\n")
    (data / "boat.csv").symlink_to("real.csv")
    assert len(read_source(tmp_path / "setup", "harbour", "sqlite").tables) == 2


def test_a_dialects_own_data_takes_the_place_of_the_common(tmp_path: Path) -> None:
    make(
        tmp_path,
        harbour__sqlite__setup_dot_sql=CREATE,
        harbour__data__boat_dot_csv="1,'common',true,1\n",
        harbour__data__dock_dot_csv="1\n",
        harbour__sqlite__data__Boat_dot_csv="2,'own',true,1\n",
    )
    assert {table.table: table.rows[0][0] for table in read_source(tmp_path, "harbour", "sqlite").tables} == {
        "Boat": 2,
        "dock": 1,
    }


@pytest.mark.parametrize(
    "cell, value",
    [
        ("'text'", "text"),
        ("'it''s'", "it's"),
        ("''", ""),
        ("'MacOS' ", "MacOS"),
        ("\"'a, b'\"", "a, b"),
        ('"\'{""k"": 1}\'"', '{"k": 1}'),
        ("NULL", None),
        ("null", None),
        ("None", None),
        ("", None),
        ('""', None),
        ("TRUE", True),
        ("false", False),
        ("'true'", "true"),
        ("12", 12),
        ("-7", -7),
        ("9007199254740993", 9007199254740993),
        ("1.00", Decimal("1.00")),
        ("-25.2744", Decimal("-25.2744")),
        ("1e3", Decimal("1e3")),
        ("1e999999999", "1e999999999"),
        ("9" * 2000, "9" * 2000),
        ("app", "app"),
        ("N'text'", "text"),
        ("x'414B'", b"AK"),
        ("'12'", "12"),
        ("2024-02-26", "2024-02-26"),
        ("'O''Brien''s'", "O'Brien's"),
    ],
)
def test_cells_without_a_header_are_sql_literals(tmp_path: Path, cell: str, value: Any) -> None:
    row = harbour(tmp_path, f"1,{cell},true,1\n").rows[0]
    assert (row[1], type(row[1])) == (value, type(value))


def test_a_quoted_truth_value_in_a_boolean_column_is_one(tmp_path: Path) -> None:
    assert harbour(tmp_path, "1,'true','true',1\n").rows[0] == (1, "true", True, 1)


def test_bits_are_truth_values_but_in_postgres(tmp_path: Path) -> None:
    setup = "CREATE TABLE boat (a BIT, b BIT(1), c BIT(8));"
    make(tmp_path, harbour__postgres__setup_dot_sql=setup, harbour__mssql__setup_dot_sql=setup)
    make(tmp_path, harbour__data__boat_dot_csv="'1','0','00000001'\n")
    assert read_source(tmp_path, "harbour", "postgres").tables[0].rows == (("1", "0", "00000001"),)
    assert read_source(tmp_path, "harbour", "sqlserver").tables[0].rows == ((True, False, "00000001"),)


def test_a_text_cut_by_a_comma_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, harbour__sqlite__setup_dot_sql=CREATE, harbour__data__boat_dot_csv="1,'a, b',1\n")
    assert "boat.csv:1: the text 'a has no closing single quote" in refusal(ProvisionError, tmp_path)


def test_cells_under_a_header_are_plain_values_typed_by_the_column(tmp_path: Path) -> None:
    table = harbour(tmp_path, 'ID,name,is_new,price\n1,"it\'s, new",true,1.50\n2,"",,\n3,,0,"7"\n4, x ,t,abc\n')
    assert table.columns == ("ID", "name", "is_new", "price")
    assert table.rows == (
        (1, "it's, new", True, Decimal("1.50")),
        (2, "", None, None),
        (3, None, False, 7),
        (4, " x ", True, "abc"),
    )
    assert table.place.line == 2


def test_a_header_without_rows_is_an_empty_table(tmp_path: Path) -> None:
    table = harbour(tmp_path, "id,name\n")
    assert (table.columns, table.rows) == (("id", "name"), ())


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    assert harbour(tmp_path, "\n").rows == ()


def test_bare_words_that_are_no_columns_are_data(tmp_path: Path) -> None:
    table = harbour(tmp_path, "red,blue\n", "CREATE TABLE boat (a TEXT, b TEXT);")
    assert (table.columns, table.rows) == ((), (("red", "blue"),))


def test_without_create_table_plain_names_are_a_header(tmp_path: Path) -> None:
    table = harbour(tmp_path, "id,name\n007,x\n", "SELECT 1;")
    assert (table.columns, table.rows) == (("id", "name"), (("007", "x"),))
    table = harbour(tmp_path, "1,'x'\n", "SELECT 1;")
    assert (table.columns, table.rows) == ((), ((1, "x"),))


def test_a_header_with_a_wrong_name_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, harbour__sqlite__setup_dot_sql=CREATE, harbour__data__boat_dot_csv="id,naem\n1,x\n")
    assert "boat.csv:1: the first row looks like a header, but the table has no column naem" in refusal(ProvisionError, tmp_path)


def test_a_header_that_names_a_column_twice_is_an_error(tmp_path: Path) -> None:
    make(tmp_path, harbour__sqlite__setup_dot_sql=CREATE, harbour__data__boat_dot_csv="id,ID\n1,2\n")
    assert "names id twice" in refusal(ProvisionError, tmp_path)


def test_intervals_and_points_are_not_numbers(tmp_path: Path) -> None:
    table = harbour(tmp_path, "a,b,c\n12,12,12\n", "CREATE TABLE boat (a INTERVAL, b integer NOT NULL, c double precision);")
    assert table.rows == (("12", 12, 12),)


def test_ragged_rows_are_errors_with_file_and_line(tmp_path: Path) -> None:
    make(
        tmp_path,
        harbour__sqlite__setup_dot_sql=CREATE,
        harbour__data__boat_dot_csv="1,'a\nb'\n2\n\n3,'c',4\n",
        harbour__data__dock_dot_csv='1,"open\n',
    )
    message = refusal(ProvisionError, tmp_path)
    assert "boat.csv:1: the text 'a has no closing single quote" in message
    assert "boat.csv:2: 1 cell where line 1 has 2" in message
    assert "boat.csv:5: 3 cells where line 1 has 2" in message
    assert "dock.csv:1: the double quote of cell 2 is not closed" in message


def test_bytes_that_are_not_utf8_are_named_by_offset(tmp_path: Path) -> None:
    make(tmp_path, harbour__sqlite__setup_dot_sql=CREATE, harbour__data__boat_dot_csv=b"1,'a'\n2,'\xe9'\n")
    assert "boat.csv: byte 0xe9 at offset 9 (line 2) is not UTF-8" in refusal(ProvisionError, tmp_path)


@pytest.mark.parametrize(
    "text, rows",
    [
        ("a,b\r\nc,d", [(1, ("a", "b")), (2, ("c", "d"))]),
        ('"a\r\nb",c\nd,e\n', [(1, ("a\r\nb", "c")), (3, ("d", "e"))]),
        ('"a""b",\n', [(1, ('a"b', ""))]),
        ('a"b,c\n', [(1, ('a"b', "c"))]),
        ("\n\na\n\n", [(3, ("a",))]),
        (",\n", [(1, ("", ""))]),
        ('"",\n""', [(1, ("", "")), (2, ("",))]),
        ("a,b\rc,d\r", [(1, ("a", "b")), (2, ("c", "d"))]),
        ("", []),
    ],
)
def test_rows_of_csv(text: str, rows: list[tuple[int, tuple[str, ...]]]) -> None:
    assert [(row.line, row.cells) for row in read_rows(text)] == rows


@pytest.mark.parametrize("text, line", [('a\n"b', 2), ('a\n"b"c,d\n', 2), ('a, "b,c"\n', 1), ('"a\nb" ,c', 2)])
def test_broken_quotes_are_faults_with_a_line(text: str, line: int) -> None:
    with pytest.raises(CsvFault) as caught:
        list(read_rows(text))
    assert caught.value.line == line


def test_tables_come_after_those_they_refer_to(tmp_path: Path) -> None:
    setup = """
        CREATE TABLE IF NOT EXISTS [a] (id INT, c INT REFERENCES "c" (id), -- REFERENCES zzz
            note TEXT DEFAULT 'REFERENCES b', FOREIGN KEY (id) REFERENCES a (id));
        CREATE TABLE public.b (id INT, CONSTRAINT f FOREIGN KEY (id) REFERENCES main.a (id));
        CREATE TABLE `c` (id INT, d INT);
        ALTER TABLE ONLY c ADD CONSTRAINT g FOREIGN KEY (d) REFERENCES d (id);
        CREATE TABLE d (id INT); CREATE TABLE x (y INT REFERENCES y); CREATE TABLE y (x INT REFERENCES x);
    """
    data = {f"harbour__data__{name}_dot_csv": "1,1,'n'\n" for name in "abcdxyz"}
    make(tmp_path, harbour__sqlite__setup_dot_sql=setup, **data)
    assert [table.table for table in read_source(tmp_path, "harbour", "sqlite").tables] == ["d", "c", "a", "b", "y", "x", "z"]


def test_the_digest_covers_scripts_and_rows_and_nothing_else(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "harbour__sqlite__setup_dot_sql": CREATE,
        "harbour__data__boat_dot_csv": "1,'a',true,1\n",
        "harbour__readme_dot_txt": "x",
    }
    first = read_source(make(tmp_path / "0", **files), "harbour", "sqlite").digest

    def changed(number: int, **changes: str | bytes) -> bool:
        return read_source(make(tmp_path / str(number), **{**files, **changes}), "harbour", "sqlite").digest != first

    assert not changed(1)
    assert not changed(2, harbour__readme_dot_txt="y")
    assert not changed(
        3, harbour__sqlite__setup_dot_sql=CREATE.replace("\n", "\r\n"), harbour__data__boat_dot_csv="1,'a',true,1\r\n"
    )
    assert changed(4, harbour__sqlite__setup_dot_sql=CREATE + "-- x")
    assert changed(5, harbour__data__boat_dot_csv="1,'a',true,1.0\n")
    assert changed(6, harbour__data__boat_dot_csv="1,'a',true,1\n2,'a',true,1\n")
    assert changed(7, harbour__data__dock_dot_csv="1\n")
    assert changed(8, harbour__sqlite__post_setup_dot_sql="SELECT 1")


ITEM = Item(
    id="4",
    question="How many?",
    query_type="dql",
    database="atlantis",
    dialects=("sqlite", "mysql"),
    golden_sql=SqlField({"sqlite": ("SELECT 1",), "mysql": ("SELECT 2",)}),
)


def test_missing_databases_are_named_with_their_items(tmp_path: Path) -> None:
    make(tmp_path, harbour__sqlite__setup_dot_sql=CREATE)
    with pytest.raises(DatasetError) as caught:
        read_sources(tmp_path, [ITEM], ["sqlite", "mysql"])
    assert "2 of 2 databases cannot be read" in str(caught.value)
    assert "database atlantis in sqlite, needed by item 4: there is no database atlantis" in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["harbour"]


def test_every_needed_source_is_read_once(tmp_path: Path) -> None:
    make(tmp_path, atlantis__sqlite__setup_dot_sql=CREATE, atlantis__mysql__setup_dot_sql=CREATE)
    assert list(read_sources(tmp_path, [ITEM, ITEM], ["mariadb", "sqlite"])) == [("atlantis", "sqlite"), ("atlantis", "mariadb")]


@pytest.mark.parametrize(
    "changes, is_same",
    [
        ({"tags": ("x",)}, True),
        ({"difficulty": "hard", "other": {"a": 1}}, True),
        ({"golden_sql": SqlField({"sqlite": ("SELECT 1",), "mysql": ("SELECT 3",)})}, True),
        ({"question": "How few?"}, False),
        ({"evidence": "e"}, False),
        ({"query_type": "dml"}, False),
        ({"golden_sql": SqlField({"sqlite": ("SELECT 1", "SELECT 2")})}, False),
        ({"eval_query": SqlField(everywhere=("SELECT 1",))}, False),
        ({"setup_sql": SqlField(everywhere=("SELECT 1",))}, False),
        ({"cleanup_sql": SqlField(everywhere=("SELECT 1",))}, False),
        ({"columns": "any_order"}, False),
        ({"golden_mode": "sequence"}, False),
        ({"state": "strict"}, False),
    ],
)
def test_a_case_digest_changes_with_what_is_asked_and_what_is_right(changes: dict[str, Any], is_same: bool) -> None:
    import dataclasses

    before = case_digest(ITEM, "sqlite", "data")
    after = case_digest(dataclasses.replace(ITEM, **changes), "sqlite", "data")
    assert (after == before) is is_same


def test_a_case_digest_changes_with_dialect_and_data() -> None:
    assert len({case_digest(ITEM, dialect, data) for dialect in ("sqlite", "mysql") for data in ("1", "2")}) == 4
    assert case_digest(ITEM, "mysql", "1") == case_digest(ITEM, "mariadb", "1")
