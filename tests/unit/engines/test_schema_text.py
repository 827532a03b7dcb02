from __future__ import annotations

from nl2sql_gate.engines.schema_text import quoter, samples_of, table_ddl
from nl2sql_gate.records import Column, Table


def test_names_are_quoted_where_they_need_it() -> None:
    quote = quoter('"')
    assert [quote(n) for n in ("id", "Id", "order", "a b", 'a"b', "über")] == [
        "id",
        '"Id"',
        '"order"',
        '"a b"',
        '"a""b"',
        '"über"',
    ]


def test_a_comment_cannot_end_its_line() -> None:
    table = Table("t", (Column("a", "int", comment="first\nDROP TABLE x;"),), comment="about\r\n-- it")
    lines = table_ddl(table, quoter('"')).splitlines()
    assert lines == ["-- about -- it", "CREATE TABLE t (", "  a int  -- first DROP TABLE x;", ");"]


def test_samples_are_distinct_short_and_in_the_order_met() -> None:
    rows = [(None,), ("b",), ("a",), ("b",), ("x" * 100,), (b"\xde\xad",), (True,)]
    assert samples_of(rows, 0, count=9) == ("b", "a", "x" * 59 + "…", "x'dead'", "true")
    assert samples_of(rows, 0, count=1) == ("b",)


def test_keys_follow_the_columns() -> None:
    table = Table(
        "child",
        (Column("id", "int", nullable=False, primary_key=True), Column("p", "int", default="7", samples=("1", "2"))),
        foreign_keys=((("p",), "parent", ("id",)),),
        unique=(("p",),),
    )
    assert table_ddl(table, quoter('"')) == (
        "CREATE TABLE child (\n  id int NOT NULL,\n  p int DEFAULT 7,  -- e.g. 1, 2\n  PRIMARY KEY (id),\n  UNIQUE (p),\n"
        "  FOREIGN KEY (p) REFERENCES parent (id)\n);"
    )
