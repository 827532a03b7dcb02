"""Cells survive the way into a file and back, and no file ever holds what JSON lacks."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nl2sql_gate.records import Json
from nl2sql_gate.runfile import decode_cell, encode_cell

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False),
    st.text(),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30))])),
    st.times(),
    st.timedeltas(),
    st.uuids(),
)
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=5,
)
CELLS = st.recursive(st.one_of(SCALARS, DOCUMENTS.map(Json)), lambda inner: st.lists(inner, max_size=3), max_leaves=5)


@given(CELLS)
def test_every_cell_comes_back_with_its_type(cell: Any) -> None:
    text = json.dumps(encode_cell(cell), allow_nan=False)
    again = decode_cell(json.loads(text))
    assert (type(cell), cell) == (type(again), again)


@pytest.mark.parametrize("cell", [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_named(cell: Any) -> None:
    again = decode_cell(json.loads(json.dumps(encode_cell(cell), allow_nan=False)))
    assert repr(cell) == repr(again)


@pytest.mark.parametrize(
    ("cell", "encoded"),
    [
        (Decimal("1.10"), {"decimal": "1.10"}),
        (2**53 + 1, {"int": "9007199254740993"}),
        (-(2**53), -(2**53)),
        (b"\xde\xad", {"bytes": "dead"}),
        (memoryview(b"\x01"), {"bytes": "01"}),
        (date(2024, 1, 2), {"date": "2024-01-02"}),
        (datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), {"datetime": "2024-01-02T03:04:05+00:00"}),
        (time(3, 4, 5), {"time": "03:04:05"}),
        (timedelta(hours=26), {"interval_us": 93_600_000_000}),
        (UUID(int=5), {"uuid": "00000000-0000-0000-0000-000000000005"}),
        (Json([math.nan]), {"json_text": "[NaN]"}),
        (Json({"a": [1, 2]}), {"json": {"a": [1, 2]}}),
        ({"a": b"\x00"}, {"struct": [["a", {"bytes": "00"}]]}),
        (IPv4Address("192.0.2.1"), {"text": "192.0.2.1", "type": "IPv4Address"}),
    ],
)
def test_the_documented_encoding(cell: Any, encoded: Any) -> None:
    assert encoded == encode_cell(cell)


@pytest.mark.parametrize("value", [{}, {"colour": "red"}, {"decimal": "many"}, {"date": 5}, {"bytes": "xyz"}])
def test_an_unknown_or_broken_cell_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"is no|no type"):
        decode_cell(value)
