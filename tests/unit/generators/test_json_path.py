"""Paths into an answer."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql_gate.generators.json_path import parse_path, pick

DOCUMENT = {"a": {"b": [{"c": 1}, {"c": 2}], "x y": 3, "1": 4, "ü": 5}, "$": 6}


@pytest.mark.parametrize(
    "value, path",
    [
        (2, "a.b[1].c"),
        (2, "$.a.b[-1]['c']"),
        (3, 'a["x y"]'),
        (4, "a.1"),
        (5, "$['a'].ü"),
        ({"c": 1}, "a.b[0]"),
        (6, "['$']"),
    ],
)
def test_what_stands_there(value: Any, path: str) -> None:
    assert value == pick(DOCUMENT, parse_path(path))


@pytest.mark.parametrize("text", ["", "$", ".", "a.", "a..b", ".a", "a b", "a[b]", "a[1", "a['b", "$a", "a]", "[1.5]"])
def test_what_is_no_path(text: str) -> None:
    with pytest.raises(ValueError, match=r"column|empty"):
        parse_path(text)


@pytest.mark.parametrize(
    "place, path", [("z", "z.y"), ("a.b[2]", "a.b[2].c"), ("a.b.c", "a.b.c"), ("a[0]", "a[0]"), ("a.b[0].c.d", "a.b[0].c.d")]
)
def test_where_a_path_ends(place: str, path: str) -> None:
    with pytest.raises(LookupError, match="nothing stands at ") as caught:
        pick(DOCUMENT, parse_path(path))
    assert str(caught.value) == f"nothing stands at {place}"
