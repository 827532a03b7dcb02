"""Databases are built from statements and rows, mistakes are named with their place, and the schema is read back."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Place, ResultSet, TableData
from nl2sql_gate.testing.bench import Bench, read, rows
from nl2sql_gate.testing.suite.part import Part


class Building(Part):
    """What `provision` and `schema` do."""

    def test_tables_load_typed_cells(self, bench: Bench) -> None:
        database = bench.build(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, name VARCHAR(30), price NUMERIC(8,2), ok BOOLEAN, made DATE)",
            tables=[
                TableData("t", (), ((1, "it's", 1.5, True, "2024-01-31"), (2, None, None, False, None)), Place("t.csv", 1)),
            ],
        )
        assert rows(database, "SELECT id, name FROM t ORDER BY id") == [(1, "it's"), (2, None)]
        assert rows(database, "SELECT id FROM t WHERE price = 1.5 AND made = '2024-01-31'") == [(1,)]
        assert rows(database, "SELECT COUNT(*) FROM t WHERE ok") == [(1,)]

    def test_tables_load_whatever_order_foreign_keys_want(self, bench: Bench) -> None:
        database = bench.build(
            "CREATE TABLE parent(id INTEGER PRIMARY KEY)",
            "CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id))",
            tables=[
                TableData("child", ("id", "parent"), ((1, 7),), Place("c.csv", 1)),
                TableData("parent", ("id",), ((7,),), Place("p.csv", 1)),
            ],
        )
        assert rows(database, "SELECT child.id, parent.id FROM child JOIN parent ON child.parent = parent.id") == [(1, 7)]

    def test_a_failing_setup_statement_is_named_with_its_place(self, bench: Bench) -> None:
        with pytest.raises(ProvisionError) as caught:
            bench.build("CREATE TABLE t(a INTEGER)", "INSERT INTO nowhere VALUES (1)")
        assert "setup.sql:1" in str(caught.value)
        assert "INSERT INTO nowhere VALUES (1)" in str(caught.value)

    def test_rows_that_do_not_fit_are_named(self, bench: Bench) -> None:
        table = TableData("t", ("a",), ((1,), (1,)), Place("t.csv", 1))
        with pytest.raises(ProvisionError, match=r"t\.csv:1"):
            bench.build("CREATE TABLE t(a INTEGER PRIMARY KEY)", tables=[table])
        with pytest.raises(ProvisionError, match="no table"):
            bench.build(tables=[table])

    def test_the_schema_shows_keys_types_and_samples(self, bench: Bench) -> None:
        database = bench.build(
            "CREATE TABLE parent(id INTEGER PRIMARY KEY, code VARCHAR(9) NOT NULL UNIQUE)",
            "CREATE TABLE child(id INTEGER PRIMARY KEY, parent_id INTEGER, qty INTEGER DEFAULT 7 NOT NULL,"
            " FOREIGN KEY (parent_id) REFERENCES parent(id))",
            "INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
            "CREATE VIEW both_of AS SELECT code, qty FROM parent JOIN child ON parent.id = parent_id",
        )
        schema = database.schema(sample_values=3)
        child, parent, view = schema.tables
        assert [child.name, parent.name, view.name] == ["child", "parent", "both_of"]
        assert child.foreign_keys[0] == (("parent_id",), "parent", ("id",))
        assert parent.unique == (("code",),)
        assert [column.primary_key for column in parent.columns] == [True, False]
        assert [column.nullable for column in parent.columns] == [False, False]
        assert "7" in child.columns[2].default
        assert parent.columns[1].samples == ("a", "b", "c")
        assert view.is_view
        assert [column.name for column in view.columns] == ["code", "qty"]
        assert schema.ddl == database.schema(sample_values=3).ddl
        assert "PRIMARY KEY" in schema.ddl
        assert "FOREIGN KEY" in schema.ddl
        assert database.schema(sample_values=0).tables[1].columns[1].samples == ()

    def test_hostile_names_are_quoted(self, bench: Bench) -> None:
        mark = bench.traits.quote
        name = f"Odd {mark}{mark} name; --"
        database = bench.build(
            f"CREATE TABLE {mark}{name}{mark}({mark}order{mark} INTEGER, {mark}a b{mark} VARCHAR(9))",
            tables=[TableData(name.replace(mark * 2, mark), ("order", "a b"), ((1, "x"),), Place("n.csv", 1))],
        )
        schema = database.schema(sample_values=2)
        assert name.replace(mark * 2, mark) == schema.tables[0].name
        assert schema.tables[0].columns[0].samples == ("1",)
        assert f"{mark}{name}{mark}" in schema.ddl
        assert isinstance(read(database, f"SELECT {mark}a b{mark} FROM {mark}{name}{mark}"), ResultSet)

    def test_a_generated_schema_can_be_run_again(self, bench: Bench, stock: Any) -> None:
        ddl = stock.schema(sample_values=3).ddl
        again = bench.build(*ddl.split("\n\n"))
        assert [t.name for t in stock.schema(sample_values=0).tables] == [t.name for t in again.schema(sample_values=0).tables]
