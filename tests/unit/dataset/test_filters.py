"""Which items and dialects run, and what is said where none do."""

from __future__ import annotations

import pytest

from nl2sql_gate.dataset import Only, effective_dialects, parse_only, select
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Dataset, Item, SqlField
from nl2sql_gate.settings import Filters


def item(item_id: str, *, dialects: tuple[str, ...] = ("postgres", "sqlite"), **changes: object) -> Item:
    known = {"question": "q", "query_type": "dql", "database": "shop", "golden_sql": SqlField(everywhere=("SELECT 1",))}
    return Item(id=item_id, dialects=dialects, **{**known, **changes})  # type: ignore[arg-type]


DATASET = Dataset(
    items=(
        item("orders-1", tags=("JOIN", "difficulty: simple")),
        item("orders-2", tags=("join",), query_type="dml", dialects=("mysql",)),
        item("stock-1", tags=("window",), database="stock"),
        item("odd[1]", query_type="ddl", dialects=("sqlite",)),
    ),
    path="items.json",
    digest="",
)


@pytest.mark.parametrize(
    "filters, ids, expected",
    [
        ({}, (), ["orders-1", "orders-2", "stock-1", "odd[1]"]),
        ({"ids": ["orders-*"]}, (), ["orders-1", "orders-2"]),
        ({"ids": ["orders-*", "stock-1"]}, ("*-1",), ["orders-1", "stock-1"]),
        ({"ids": ["odd[1]"]}, (), ["odd[1]"]),
        ({"tags": ["Join"]}, (), ["orders-1", "orders-2"]),
        ({"tags": ["difficulty: simple", "window"]}, (), ["orders-1", "stock-1"]),
        ({"types": ["dml", "ddl"]}, (), ["orders-2", "odd[1]"]),
        ({"databases": ["stock"]}, (), ["stock-1"]),
        ({"dialects": ["PG"]}, (), ["orders-1", "stock-1"]),
        ({"dialects": ["mariadb"]}, (), ["orders-2"]),
        ({"types": ["dql"], "databases": ["shop"]}, (), ["orders-1"]),
    ],
)
def test_filters_select(filters: dict[str, list[str]], ids: tuple[str, ...], expected: list[str]) -> None:
    assert [one.id for one in select(DATASET, Filters.model_validate(filters), ids=ids)] == expected


def test_a_service_stands_for_its_dialect() -> None:
    filters = Filters.model_validate({"dialects": ["pg16"]})
    assert [one.id for one in select(DATASET, filters, services={"pg16": "postgres"})] == ["orders-1", "stock-1"]


def refusal(filters: dict[str, list[str]], ids: tuple[str, ...] = ()) -> str:
    with pytest.raises(DatasetError) as caught:
        select(DATASET, Filters.model_validate(filters), ids=ids)
    assert caught.value.meaning
    assert caught.value.next_step
    return str(caught.value)


def test_a_filter_that_selects_nothing_says_which_one_removed_how_many() -> None:
    message = refusal({"databases": ["stock"], "types": ["ddl"], "tags": ["window"]})
    assert "the filters select none of the 4 items of items.json" in message
    assert "databases [stock] removed 3 of 4 items" in message
    assert "types [ddl] removed 1 of 1 items" in message


@pytest.mark.parametrize(
    "filters, ids, part",
    [
        ({"ids": ["order-1"]}, (), "filters.ids: no item has the id 'order-1'; near: orders-1"),
        ({"ids": ["zzz*"]}, (), "filters.ids: no item has the id 'zzz*'; there are orders-1, orders-2, stock-1, odd[1]"),
        ({}, ("orders-1:oracel",), "--only: no item has the id 'orders-1:oracel'; near: orders-1"),
        ({"tags": ["windows"]}, (), "filters.tags: no item has the tag 'windows'; near: window"),
        ({"databases": ["stok"]}, (), "filters.databases: no item has the database 'stok'; near: stock"),
        ({"dialects": ["duckdb"]}, (), "filters.dialects: no item has the dialect 'duckdb'; there are postgres, sqlite, mysql"),
    ],
)
def test_a_name_that_nothing_matches_is_an_error(filters: dict[str, list[str]], ids: tuple[str, ...], part: str) -> None:
    assert part in refusal(filters, ids)


@pytest.mark.parametrize(
    "listed, running, expected",
    [
        (("postgres", "sqlite"), ("sqlite", "postgres"), ("postgres", "sqlite")),
        (("postgres", "sqlite"), ("sqlite", "duckdb"), ("sqlite",)),
        (("mysql", "sqlite"), ("mariadb", "sqlite"), ("mariadb", "sqlite")),
        (("mysql", "sqlite"), ("mariadb", "mysql"), ("mysql", "mariadb")),
        (("mariadb",), ("mysql",), ()),
        (("sqlite",), ("SQLite3",), ("sqlite",)),
        ((), ("sqlite", "duckdb"), ("sqlite", "duckdb")),
        (("sqlite",), (), ()),
    ],
)
def test_effective_dialects_keep_the_items_order(
    listed: tuple[str, ...], running: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert effective_dialects(item("1", dialects=listed), running) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("43", Only("43")),
        ("43:PostgreSQL", Only("43", "postgres")),
        ("a:b", Only("a:b")),
        ("a:b:sqlite", Only("a:b", "sqlite")),
        ("orders-*:sqlite", Only("orders-*", "sqlite")),
        ("43:pg16", Only("43", "pg16")),
        (":sqlite", Only(":sqlite")),
    ],
)
def test_only_splits_off_what_is_a_dialect_or_a_service(text: str, expected: Only) -> None:
    assert parse_only(text, services=["pg16"]) == expected


def test_only_wants_cases_by_id_and_dialect() -> None:
    assert parse_only("43:sqlite").wants("43", "sqlite")
    assert not parse_only("43:sqlite").wants("43", "postgres")
    assert parse_only("4*").wants("43", "postgres")


def test_a_blank_only_is_an_error() -> None:
    with pytest.raises(DatasetError, match="names no item"):
        parse_only(" ")
