from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest

from nl2sql_gate.meeting import met_cell
from nl2sql_gate.records import Json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        ("2024-02-29 12:30:00", datetime.fromisoformat("2024-02-29 12:30:00")),
        ("2024-02-29T12:30:00Z", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("12:30:00", time(12, 30)),
        ('{"a": 1}', Json({"a": 1})),
        ("[1, 2]", Json([1, 2])),
        ("2024-02-30", "2024-02-30"),
        ("{not json", "{not json"),
        (" 2024-02-29", " 2024-02-29"),
        ("2024", "2024"),
        ("3.0", "3.0"),
        ("Oslo", "Oslo"),
        ("", ""),
        (3, 3),
        (None, None),
    ],
)
def test_text_that_is_exactly_a_value_is_read_and_nothing_else_is_touched(text: object, value: object) -> None:
    assert met_cell(text) == value


def test_json_true_is_not_one_and_the_order_of_keys_does_not_count() -> None:
    assert Json(True) != Json(1)
    assert Json({"a": 1, "b": [1.0]}) == Json({"b": [1], "a": 1})
    assert len({Json({"a": [1]}), Json({"a": [1.0]})}) == 1
