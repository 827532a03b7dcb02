"""What the two JSON readers accept, refuse, and say about it."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nl2sql_gate.dataset.json_lines import looks_like_json_lines, read_json_lines
from nl2sql_gate.dataset.tolerant_json import read_json
from nl2sql_gate.dataset.tolerant_reader import TolerantReader
from nl2sql_gate.dataset.yaml_text import read_yaml
from nl2sql_gate.errors import DatasetError

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

FORGIVEN = [
    ("[1, 2,\n]", [1, 2], "trailing_comma", 2, 1),
    ('[{"a": 1,}]', [{"a": 1}], "trailing_comma", 1, 10),
    ("[True]", [True], "python_literal", 1, 2),
    ("[\n  None]", [None], "python_literal", 2, 3),
    ("[1, // one\n 2]", [1, 2], "comment", 1, 5),
    ("# items\n[1]", [1], "comment", 1, 1),
    ("[1 /* a\n b */]", [1], "comment", 1, 4),
    ("['it\\'s']", ["it's"], "python_escape", 1, 5),
    ("['a']", ["a"], "single_quotes", 1, 2),
    ("['\\x41']", ["A"], "python_escape", 1, 3),
    ("[{a: 1}]", [{"a": 1}], "bare_key", 1, 3),
    ('["a\nb"]', ["a\nb"], "control_character", 1, 4),
    ("\ufeff[1]", [1], "byte_order_mark", 1, 1),
    ('[{"a": 1, "a": 1}]', [{"a": 1}], "duplicate_key", 1, 11),
]


@pytest.mark.parametrize("text, value, code, line, column", FORGIVEN)
def test_a_deviation_is_forgiven_and_named_with_line_and_column(
    text: str, value: object, code: str, line: int, column: int
) -> None:
    found = read_json(text, file="items.json", strict=False)
    assert list(found.values) == value
    assert (code, line, column) in [(oddity.code, oddity.line, oddity.column) for oddity in found.oddities]


@pytest.mark.parametrize("text, value, code, line, column", FORGIVEN)
def test_strict_refuses_the_same_deviation_at_the_same_place(text: str, value: object, code: str, line: int, column: int) -> None:
    del value, code
    with pytest.raises(DatasetError) as caught:
        read_json(text, file="items.json", strict=True)
    assert f"items.json, line {line}, column {column}: " in str(caught.value)
    assert caught.value.meaning
    assert caught.value.next_step


@pytest.mark.parametrize(
    "text, where",
    [
        ("", "line 1, column 1: the file is empty"),
        ("[NaN]", "line 1, column 2: NaN is no JSON value"),
        ("[-Infinity]", "line 1, column 2: expected a value, found '-Infinity'"),
        ("[1e999]", "line 1, column 2: 1e999 is too large"),
        ("[1,\n 2\n 3]", "line 3, column 2: expected ',' or ']', found '3'"),
        ("[1,, 2]", "line 1, column 4: a comma with nothing before it"),
        ("[,]", "line 1, column 2: a comma with nothing before it"),
        ('[{"a" 1}]', "line 1, column 7: expected ':' after the key 'a'"),
        ('[{"a": 1, "a": 2}]', "line 1, column 11: the key 'a' comes twice"),
        ('[{"a": "b]', "line 1, column 8: a string that begins here is not closed"),
        ('[{"a": 1}', "line 1, column 10: the file ends before the '[' of line 1, column 1 is closed"),
        ("[1] [2]", "line 1, column 5: there is more text after the end"),
        ("[012]", "line 1, column 2: expected a value, found '012'"),
        ("[undefined]", "line 1, column 2: undefined is no JSON value"),
        ("[1 /* open", "line 1, column 4: a comment that begins here is not closed"),
        ('["\\q"]', "line 1, column 3: \\q is no escape of JSON"),
        ("[" + "9" * 5000 + "]", "line 1, column 2: a number with too many digits"),
        ('["a\x00b"]', "line 1, column 4: a NUL character"),
        ("SELECT 1", "line 1, column 1: SELECT is no JSON value"),
    ],
)
def test_what_no_reader_understands_is_an_error_with_its_place(text: str, where: str) -> None:
    with pytest.raises(DatasetError) as caught:
        read_json(text, file="items.json", strict=False)
    assert f"items.json, {where}" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "[" * 300 + "]" * 300, "[" * 101 + "1," + "]" * 101, '{"a":' * 50_000, "[[" * 5000 + "True"]
)
def test_deep_nesting_is_an_error_and_no_crash(text: str) -> None:
    with pytest.raises(DatasetError, match="more than 100 levels deep"):
        read_json(text, file="items.json", strict=False)


def test_many_braces_in_text_are_not_depth() -> None:
    text = json.dumps([{"sql": "SELECT '{{[[" * 200}])
    assert read_json(text, file="items.json", strict=True).oddities == ()


def test_each_item_has_its_line_in_strict_json_too() -> None:
    text = '[\n  {"id": 1,\n   "x": [1, 2]},\n\n  {"id": 2}, {"id": 3}\n]\n'
    assert read_json(text, file="items.json", strict=True).lines == (2, 5, 5)
    assert read_json(text.replace("}\n]", "},\n]"), file="items.json", strict=False).lines == (2, 5, 5)


def test_crlf_is_no_deviation() -> None:
    found = read_json('[\r\n {"a": 1},\r\n {"a": 2}\r\n]\r\n', file="items.json", strict=True)
    assert found.lines == (2, 3)
    assert found.oddities == ()


def test_an_escaped_surrogate_pair_is_one_character() -> None:
    assert read_json("['\\ud83d\\ude00']", file="items.json", strict=False).values == ("😀",)


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON_VALUES, max_size=5))
def test_the_tolerant_reader_reads_json_as_the_standard_library_does(value: list[object]) -> None:
    for indent in (None, 2):
        text = json.dumps(value, indent=indent)
        _, found, is_list = TolerantReader(text).read()
        assert is_list
        assert json.dumps(found) == json.dumps(json.loads(text))


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON_VALUES, max_size=5))
def test_python_repr_loads_to_the_same_value(value: list[object]) -> None:
    found = read_json(json_repr(value), file="items.json", strict=False)
    assert json.dumps(list(found.values)) == json.dumps(json.loads(json.dumps(value)))


def json_repr(value: object) -> str:
    return repr(json.loads(json.dumps(value)))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="[]{},:'\"\\/#*aTN1-. \n\ufeff", max_size=40))
def test_no_text_brings_out_anything_but_a_dataset_error(text: str) -> None:
    for strict in (False, True):
        with contextlib.suppress(DatasetError):
            read_json(text, file="items.json", strict=strict)


def test_json_lines_name_every_line_that_cannot_be_read() -> None:
    with pytest.raises(DatasetError) as caught:
        read_json_lines('{"id": 1}\n{"id": \n\n[1]\n', file="items.jsonl", strict=False)
    assert "line 2, column" in str(caught.value)
    assert "items.jsonl:4: a list stands here" in str(caught.value)


def test_json_lines_keep_line_numbers_over_blank_lines_and_unicode_separators() -> None:
    found = read_json_lines('{"id": "a\u2028b"}\n\n{"id": 2,}\r\n', file="items.jsonl", strict=False)
    assert found.values == ({"id": "a\u2028b"}, {"id": 2})
    assert found.lines == (1, 3)
    assert [(oddity.code, oddity.line) for oddity in found.oddities] == [("trailing_comma", 3)]


def test_two_objects_on_two_lines_look_like_json_lines() -> None:
    assert looks_like_json_lines('{"a": 1}\n{"a": 2}\n')
    assert not looks_like_json_lines('{\n "a": 1\n}\n')
    assert not looks_like_json_lines('[{"a": 1}]')
    assert not looks_like_json_lines('{"a": 1}')


def test_yaml_keeps_ids_tags_and_dates_as_they_are_written() -> None:
    text = "- id: 012\n  answer: no\n  day: 2024-01-01\n  flag: true\n  none: ~\n  n: 3\n  sql: |\n    SELECT 1\n- id: 2\n"
    found = read_yaml(text, file="items.yaml")
    assert found.values[0] == {
        "id": "012",
        "answer": "no",
        "day": "2024-01-01",
        "flag": True,
        "none": None,
        "n": 3,
        "sql": "SELECT 1\n",
    }
    assert found.lines == (1, 9)


@pytest.mark.parametrize(
    "text, where",
    [
        ("a: 1\na: 2", "line 2, column 1: the key 'a' comes twice"),
        ("- !!python/object/apply:os.system ['true']", "line 1, column 3: the tag"),
        ("a: [1\nb: 2", "line 2, column 2"),
        ("? [1]\n: 2", "line 1, column 3: a key must be plain text"),
    ],
)
def test_yaml_that_is_more_than_plain_values_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(DatasetError) as caught:
        read_yaml(text, file="items.yaml")
    assert f"items.yaml, {where}" in str(caught.value)


def test_yaml_aliases_cannot_expand_without_end() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(DatasetError, match=r"plain values|levels deep"):
        read_yaml("\n".join(rows), file="items.yaml")


def test_yaml_that_contains_itself_is_refused() -> None:
    with pytest.raises(DatasetError, match="levels deep"):
        read_yaml("a: &x [*x]", file="items.yaml")
