"""Replies that mean harm, or are only very long, take time in proportion to their length."""

from __future__ import annotations

import time

import pytest

from nl2sql_gate.records import Completion
from nl2sql_gate.sqltext import extract_sql, split_statements

SIZE = 100_000
LIMIT_S = 5.0
"""Quadratic time in Python would be minutes for this size; linear time is a small part of a second."""

PIECES = {
    "backticks": "`",
    "fences": "```sql\nSELECT 1;\n```\n",
    "fences in a line": "``` ",
    "quoted fences": "'``` ",
    "open fences": "```sql\n",
    "tildes": "~~~\n",
    "lists": "[",
    "objects": '{"a":',
    "objects of sql": '{"sql":',
    "strings": '{"sql": "',
    "fields": '"sql": "SELECT 1", ',
    "thoughts": "<think>",
    "thoughts in a line": "x <think> ",
    "ends of thoughts": "</think>",
    "channels": "<|channel|>",
    "tags": "<sql>",
    "tag pairs": "<sql></sql>",
    "half tags": "<sql ",
    "selects": "SELECT ",
    "select lines": "SELECT\n",
    "statements": "SELECT 1;\n",
    "batches": "SELECT 1\nGO\n",
    "parentheses": "(",
    "with": "WITH a AS ",
    "update": "UPDATE a ",
    "triggers": "CREATE TRIGGER a BEGIN SELECT 1; ",
    "labels": "SQL:\n",
    "colons": "a: SELECT ",
    "prose": "This is the explanation of it.\n",
    "curly quotes": "SELECT ‘",
    "no-break blanks": "\u00a0",
    "comments": "/*",
    "comment lines": "--\n",
    "inline code": "`SELECT ",
    "quotes": "SELECT '",
    "bullets": "- SELECT\n",
    "not": "NOT ",
    "case": "CASE WHEN ",
    "unions": "SELECT 1 UNION ",
    "dollars": "SELECT $",
    "dollar tags": "$a$$b",
    "sorry": "I'm sorry ",
    "rows": "(1, 'a'),\n",
}


@pytest.mark.parametrize("dialect", ["postgres", "sqlserver"])
@pytest.mark.parametrize("name", PIECES)
def test_time_grows_with_length(name: str, dialect: str) -> None:
    reply = PIECES[name] * (SIZE // len(PIECES[name]))
    started = time.process_time()
    extract_sql(Completion(text=reply), dialect)
    extract_sql(Completion(text=f"SELECT a FROM t WHERE {reply}"), dialect)
    split_statements(reply, dialect)
    assert time.process_time() - started < LIMIT_S


@pytest.mark.parametrize("depth", [100, 1_000, 100_000])
@pytest.mark.parametrize(
    "opening, closing", [("(", ")"), ("(SELECT ", ")"), ("f(", ")"), ("CASE WHEN 1 THEN ", " END"), ("- ", ""), ("[", "]")]
)
def test_deep_nesting_is_no_crash(opening: str, closing: str, depth: int) -> None:
    sql = f"SELECT {opening * depth}1{closing * depth}"
    assert extract_sql(Completion(text=sql), "postgres")
    assert extract_sql(Completion(text=f"```sql\n{sql}\n```"), "duckdb")


def test_a_key_cannot_put_its_text_into_the_rule() -> None:
    found = extract_sql(Completion(text='{"\\n::error::x": "SELECT 1"}'), "sqlite")
    assert found.rule == "json:_error_x"  # type: ignore[union-attr]
