"""The table of the module, row by row, both ways round."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from nl2sql_gate.records import Json
from nl2sql_gate.scorers.cell_equality import cell_key, equal_cells
from nl2sql_gate.scorers.row_matching import match_rows

ID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
EAST = timezone(timedelta(hours=2))

EQUAL: list[tuple[Any, Any]] = [
    (None, None),
    (math.nan, float("nan")),
    (math.nan, Decimal("NaN")),
    (math.inf, Decimal("Infinity")),
    (1, Decimal("1.00")),
    (1, True),
    (0, False),
    (Decimal("120.5000"), Decimal("120.5")),
    (Decimal("0.1"), 0.1),
    (0.30000000000000004, 0.3),
    (1e300, 1e300 * (1 + 9e-10)),
    (10**15, 1e15),
    (-0.0, 0),
    ("Oslo", "Oslo"),
    (b"\xde\xad", bytearray(b"\xde\xad")),
    (date(2024, 5, 1), date(2024, 5, 1)),
    (datetime(2024, 5, 1, 12, tzinfo=UTC), datetime(2024, 5, 1, 14, tzinfo=EAST)),
    (time(10, 0), time(10, 0, 0)),
    (timedelta(hours=26), timedelta(days=1, hours=2)),
    (UUID(ID), ID),
    (UUID(ID), ID.upper()),
    ([1, None, "x"], [1, None, "x"]),
    ([0.1 + 0.2], [0.3]),
    ([Decimal(1)], [1]),
    (Json({"a": 1, "b": [True, None]}), Json({"b": [True, None], "a": 1})),
    (Json({"a": 0.1 + 0.2}), Json({"a": 0.3})),
    ({"x": 1, "y": 2.0}, {"y": 2, "x": 1}),
]

DIFFERENT: list[tuple[Any, Any]] = [
    (None, 0),
    (None, ""),
    (None, "None"),
    (None, math.nan),
    (math.inf, -math.inf),
    (math.inf, 1e308),
    (1, "1"),
    (3, 3.00001),
    (0.00001, 0.00004),
    (1.0, 1.0 + 2e-9),
    (Decimal("12345678901234567890.12"), Decimal("12345678901234567890.13")),
    (9007199254740993, 9007199254740992),
    (10**400, 1.0),
    ("Oslo", "OSLO"),
    ("ab", "ab "),
    ("3.0", "3"),
    ("ab", b"ab"),
    (date(2024, 5, 1), datetime(2024, 5, 1)),  # noqa: DTZ001 - a timestamp without zone
    (date(2024, 5, 1), "2024-05-01"),
    (datetime(2024, 5, 1, 12, tzinfo=UTC), datetime(2024, 5, 1, 12)),  # noqa: DTZ001
    (UUID(ID), ID.replace("-", "")),
    ([1, 2], [2, 1]),
    ([1], 1),
    (Json({"a": True}), Json({"a": 1})),
    (Json({"a": 1}), '{"a": 1}'),
    (Json(None), None),
    (Json([1]), [1]),
]


@pytest.mark.parametrize("one, other", EQUAL)
def test_equal_cells_are_equal_both_ways_and_in_rows(one: Any, other: Any) -> None:
    assert equal_cells(one, other)
    assert equal_cells(other, one)
    assert match_rows([(one, "x")], [(other, "x")]).equal
    assert match_rows([(other, "x")], [(one, "x")]).equal


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_different_cells_are_different_both_ways_and_in_rows(one: Any, other: Any) -> None:
    assert not equal_cells(one, other)
    assert not equal_cells(other, one)
    assert not match_rows([(one, "x")], [(other, "x")]).equal
    assert not match_rows([(other, "x")], [(one, "x")]).equal


def test_a_json_truth_is_not_the_number_one_even_alone_in_a_document() -> None:
    assert not equal_cells(Json(True), Json(1))


@pytest.mark.parametrize("one, other", EQUAL)
def test_keys_hash(one: Any, other: Any) -> None:
    assert isinstance(hash(cell_key(one)), int)
    assert isinstance(hash(cell_key(other)), int)


def test_text_of_another_case_stays_different_beside_no_uuid() -> None:
    assert not match_rows([(ID,)], [(ID.upper(),)]).equal


def test_a_time_in_the_hour_that_the_clock_repeats_equals_itself() -> None:
    from zoneinfo import ZoneInfo

    berlin = ZoneInfo("Europe/Berlin")
    local = datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=berlin)
    assert equal_cells(local, local.astimezone(UTC))
