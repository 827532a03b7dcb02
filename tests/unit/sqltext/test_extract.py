"""The SQL in a reply is found by a named rule and returned as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.records import Completion, NoSql, SqlText
from nl2sql_gate.sqltext import canonical_sql, extract_sql, split_batches, split_statements

ALL_DIALECTS = ("sqlite", "duckdb", "postgres", "mysql", "mariadb", "sqlserver")


def extracted(reply: str, dialect: str = "postgres") -> tuple[str, str]:
    found = extract_sql(Completion(text=reply), dialect)
    return (found.rule, found.sql) if isinstance(found, SqlText) else (found.code, "")


def _keeps(expect: dict[str, Any], found: SqlText | NoSql, dialect: str) -> bool:
    if "error" in expect:
        return isinstance(found, NoSql) and expect["error"] in {"no_sql", found.code}
    if isinstance(found, NoSql):
        return False
    statements = [statement.text for statement in split_statements(found.sql, dialect)]
    if "batches" in expect:
        return [batch.text for batch in split_batches(found.sql)] == expect["batches"]
    if "sql_equiv" in expect:
        return [canonical_sql(sql, dialect) for sql in statements] == [canonical_sql(sql, dialect) for sql in expect["sql_equiv"]]
    if "sql" in expect:
        return statements == expect["sql"]
    return all(text not in found.sql for text in expect["must_not_contain"])


def test_reported_replies_give_what_their_reporters_expected(shared_data: Path) -> None:
    cases = [json.loads(line) for line in (shared_data / "cases" / "public.jsonl").read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if case["kind"] == "extract"]
    wrong = [
        (case["id"], dialect)
        for case in cases
        for dialect in (ALL_DIALECTS if case["dialects"] == ["any"] else case["dialects"])
        if not _keeps(case["expect"], extract_sql(Completion(text=case["model_reply"]), dialect), dialect)
    ]
    assert len(cases) == 42
    assert wrong == []


def test_reported_completions_end_as_their_reporters_expected(shared_data: Path) -> None:
    """Those of the endpoint's cases that are decided by the last reply alone."""
    wrong = []
    for line in (shared_data / "cases" / "public.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        reply = case.get("api_script", [{}])[-1].get("json", {})
        if case["kind"] != "generate" or not reply.get("choices") or not case["expect"].keys() & {"sql", "error"}:
            continue
        choice = reply["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        for call in message.get("tool_calls", ()):
            text += call["function"]["arguments"]
        found = extract_sql(Completion(text=text, finish=choice["finish_reason"]), "postgres")
        if not _keeps(case["expect"], found, "postgres"):
            wrong.append((case["id"], found))
        if isinstance(found, NoSql):
            wrong += [(case["id"], word) for word in case["expect"].get("mentions", ()) if word not in found.message]
    assert wrong == []


@pytest.mark.parametrize(
    "reply, sql",
    [
        ("```sql\nSELECT a FROM t;```", "SELECT a FROM t;"),
        ("```sql\nSELECT a;``` This returns a.", "SELECT a;"),
        ("```\nSELECT a FROM t\n```", "SELECT a FROM t"),
        ("```text\nSELECT a FROM t\n```", "SELECT a FROM t"),
        ("```SELECT a FROM t```", "SELECT a FROM t"),
        ("~~~sql\nSELECT a FROM t\n~~~", "SELECT a FROM t"),
        ("````sql\nSELECT '```' AS x\n````", "SELECT '```' AS x"),
        ("```sql\nSELECT '```' AS x\n```", "SELECT '```' AS x"),
        ('```sql title="q.sql"\nSELECT a FROM t\n```', "SELECT a FROM t"),
        ("```python\nprint(1)\n```\n```sql\nSELECT 1\n```\n```bash\nls\n```", "SELECT 1"),
        ("```sql\nSELECT draft\n```sql\nSELECT final\n```", "SELECT final"),
        ("```sql\nSELECT a FROM t\n```\n```\nname\nKai\n```", "SELECT a FROM t"),
        ("> ```sql\n> SELECT a\n> FROM t\n> ```", "SELECT a\nFROM t"),
        ("```sql\n-- note\nSELECT  a FROM t -- x\n```", "-- note\nSELECT  a FROM t -- x"),
        ("Sure:\n```sql\nSELECT a FROM t WHERE b LIKE '%;%'\n", "SELECT a FROM t WHERE b LIKE '%;%'"),
        ("<sql>\n```sql\nSELECT a FROM t\n```\n</sql>", "SELECT a FROM t"),
    ],
)
def test_fenced_blocks(reply: str, sql: str) -> None:
    assert extracted(reply) == ("fence", sql)


@pytest.mark.parametrize(
    "reply, rule, sql",
    [
        ('{"query": "SELECT a FROM t", "question": "select all"}', "json:query", "SELECT a FROM t"),
        ('{"steps": [{"query": "SELECT draft"}], "sql": "SELECT final"}', "json:sql", "SELECT final"),
        ('{"name": "run", "arguments": "{\\"sql\\": \\"SELECT a\\nFROM t\\"}"}', "json:sql", "SELECT a\nFROM t"),
        ('{"tool_calls": [{"function": {"arguments": "{\\"query\\": \\"SELECT a\\"}"}}]}', "json:query", "SELECT a"),
        ('{"sql": "```sql\\nSELECT 1\\n```"}', "json:sql", "SELECT 1"),
        ('{"sql": ["INSERT INTO a VALUES (1);", "DELETE FROM b"]}', "json:sql", "INSERT INTO a VALUES (1);\nDELETE FROM b"),
        ("{'sql': \"SELECT a FROM t WHERE b = 'x'\"}", "json:sql", "SELECT a FROM t WHERE b = 'x'"),
        ('{"sql": "SELECT a FROM t WHERE b = \\\'x\\\'"}', "json:sql", "SELECT a FROM t WHERE b = 'x'"),
        ('{"thought": "use {t}", "sql": "SELECT a FROM t"', "json:sql", "SELECT a FROM t"),
        ('{"answer": "SELECT a FROM t"}', "json:answer", "SELECT a FROM t"),
        ('{"postgres": "SELECT a FROM t"}', "json:postgres", "SELECT a FROM t"),
        ('"SELECT \\"a\\" FROM t"', "json:string", 'SELECT "a" FROM t'),
        ('```json\n{"sql": "SELECT a FROM t"}\n```', "fence+json:sql", "SELECT a FROM t"),
        ('Here: {"sql": "SELECT a FROM t"} ok', "json:sql", "SELECT a FROM t"),
        ('<tool_call>{"arguments": {"sql": "SELECT a FROM t"}}</tool_call>', "json:sql", "SELECT a FROM t"),
        ("<sql>SELECT a FROM t WHERE x < 3</sql>", "tag:sql", "SELECT a FROM t WHERE x < 3"),
        ("<answer>\n<sql>\nSELECT a FROM t\n</sql>\n</answer>", "tag:sql", "SELECT a FROM t"),
        ("<answer>It is SELECT 1.</answer><sql>SELECT 2</sql>", "tag:sql", "SELECT 2"),
        ("<sql><![CDATA[SELECT a FROM t]]></sql>", "tag:sql", "SELECT a FROM t"),
        ('<parameter name="sql">SELECT a FROM t</parameter>', "tag:parameter", "SELECT a FROM t"),
        ("[SQL]SELECT a FROM t[/SQL]", "tag:sql", "SELECT a FROM t"),
    ],
)
def test_json_and_tags(reply: str, rule: str, sql: str) -> None:
    assert extracted(reply) == (rule, sql)


@pytest.mark.parametrize(
    "reply, sql",
    [
        ("SELECT  a  FROM t", "SELECT  a  FROM t"),
        ("-- the answer\nSELECT a FROM t", "-- the answer\nSELECT a FROM t"),
        ("\ufeffSELECT a FROM t", "SELECT a FROM t"),
        ("sELECT a FROM t ;", "sELECT a FROM t"),
        ("BEGIN;\nUPDATE t SET a = 1;\nCOMMIT;", "BEGIN;\nUPDATE t SET a = 1;\nCOMMIT"),
        ("SELECT a FROM t WHERE x = = 3", "SELECT a FROM t WHERE x = = 3"),
        ("SELECT a FROM t\nWHERE x = = 3", "SELECT a FROM t\nWHERE x = = 3"),
        ("SELECT a\n  - b\nFROM t", "SELECT a\n  - b\nFROM t"),
        ("SELECT a FROM t\n\nUNION\n\nSELECT b FROM u", "SELECT a FROM t\n\nUNION\n\nSELECT b FROM u"),
        (
            "SELECT a\nFROM t\nWHERE a = 1 -- the one that you have.\n  AND b = 2",
            "SELECT a\nFROM t\nWHERE a = 1 -- the one that you have.\n  AND b = 2",
        ),
        ("SELECT 'Dear you,\nthe order of this is\nOutput: it'", "SELECT 'Dear you,\nthe order of this is\nOutput: it'"),
        ("SELECT '<think>' AS a FROM t", "SELECT '<think>' AS a FROM t"),
        ("<think>SELECT 1?</think>SELECT a FROM t", "SELECT a FROM t"),
        ("Perhaps SELECT wrong\n</think>\nSELECT a FROM t", "SELECT a FROM t"),
        ("<think>a <think> b</think> SELECT c </think>SELECT a FROM t", "SELECT a FROM t"),
        ("<|channel|>analysis<|message|>SELECT x<|end|><|channel|>final<|message|>SELECT a FROM t", "SELECT a FROM t"),
        ("SELECT a FROM t<|im_end|>", "SELECT a FROM t"),
    ],
)
def test_bare_sql(reply: str, sql: str) -> None:
    assert extracted(reply) == ("bare", sql)


@pytest.mark.parametrize(
    "reply, sql",
    [
        ("Select the oldest member first:\n\nSELECT name FROM club LIMIT 1;", "SELECT name FROM club LIMIT 1"),
        ("With this query we get the names:\nSELECT name FROM club", "SELECT name FROM club"),
        ("Update the table as follows:\nUPDATE t SET a = 1 WHERE b = 2;", "UPDATE t SET a = 1 WHERE b = 2"),
        ("To do this, create a table:\nCREATE TABLE x AS SELECT a FROM t", "CREATE TABLE x AS SELECT a FROM t"),
        ("Use the orders table.\n\nSELECT a FROM orders", "SELECT a FROM orders"),
        ("From the schema we know that x.\n\nSELECT a FROM orders", "SELECT a FROM orders"),
        ("The query is `SELECT a FROM t`.", "SELECT a FROM t"),
        ("SELECT a FROM t\n\nThis query returns all a.", "SELECT a FROM t"),
        ("SELECT a FROM t\nThe results are:\n[(1,)]", "SELECT a FROM t"),
        ("SELECT a FROM t;\n\nNote: select the right one; it is the best.", "SELECT a FROM t"),
        ("SELECT a FROM t LIMIT 5\n\n| a |\n|---|\n| 1 |", "SELECT a FROM t LIMIT 5"),
        ("**SQL Query:**\n\nSELECT a FROM t\n\n**Explanation:**\nIt does.", "SELECT a FROM t"),
        ("SELECT COUNT(*) FROM crew WHERE x = 1\nOutput: 3", "SELECT COUNT(*) FROM crew WHERE x = 1"),
        ("A: SELECT a FROM t\nQ: What else?\nA: SELECT b FROM u", "SELECT a FROM t"),
        ("Final Answer: SELECT a\nFROM t\nWHERE b > 1", "SELECT a\nFROM t\nWHERE b > 1"),
        ("Here is it:\n\nselect name\nfrom crew\n\nHope this helps", "select name\nfrom crew"),
    ],
)
def test_sql_among_prose(reply: str, sql: str) -> None:
    assert extracted(reply) == ("prose", sql)


@pytest.mark.parametrize(
    "reply, code",
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("<think>hmm", "empty"),
        ("<think>SELECT 1</think>", "empty"),
        ("```sql\n\n```", "empty"),
        ('{"sql": ""}', "empty"),
        ('{"sql": null, "reason": "none"}', "empty"),
        ("```sql\n-- nothing here\n```", "comment_only"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("I cannot write that query.", "refusal"),
        ("As an AI language model, no.", "refusal"),
        ("I’m unable to answer: the schema does not contain such a column.", "refusal"),
        ("The answer is 42.", "prose"),
        ("I would select the rows with care.", "prose"),
        ('{"rows": 3}', "prose"),
    ],
)
def test_no_sql_has_a_name(reply: str, code: str) -> None:
    assert extracted(reply) == (code, "")


def test_reasons_are_told_in_words() -> None:
    for reply in ("", "The answer is 42.", "I'm sorry, no.", "```sql\n-- x\n```"):
        found = extract_sql(Completion(text=reply), "sqlite")
        assert isinstance(found, NoSql)
        assert found.message.endswith(".")


@pytest.mark.parametrize(
    "finish, reply, expected",
    [
        ("length", "```sql\nSELECT a FROM t", "truncated"),
        ("length", "SELECT a FROM t", "truncated"),
        ("length", "", "truncated"),
        ("length", "```sql\nSELECT a FROM t\n```\nThis sel", "fence"),
        ("length", "```sql\nSELECT draft\n```\nBetter:\n```sql\nSELECT a FR", "truncated"),
        ("length", "<sql>SELECT a</sql> This", "tag:sql"),
        ("length", '{"sql": "SELECT a FROM t', "truncated"),
        ("max_tokens", "SELECT a FROM t", "truncated"),
        ("content_filter", "SELECT a FROM t", "content_filter"),
        ("refusal", "SELECT a FROM t", "refusal"),
        ("context_length", "", "context_length"),
        ("tool_calls", '{"sql": "SELECT a"}', "json:sql"),
        ("stop", "SELECT a FROM t", "bare"),
    ],
)
def test_the_reason_for_stopping_counts(finish: str, reply: str, expected: str) -> None:
    found = extract_sql(Completion(text=reply, finish=finish), "postgres")
    assert expected == (found.rule if isinstance(found, SqlText) else found.code)


@pytest.mark.parametrize(
    "reply, sql",
    [
        ("SELECT a\u00a0FROM\u200b t", "SELECT a FROM t"),
        ("SELECT a FROM t WHERE b = ‘Oslo’", "SELECT a FROM t WHERE b = 'Oslo'"),
        ("SELECT a FROM t WHERE b = ‘O’Brien’", "SELECT a FROM t WHERE b = 'O’Brien'"),
        ("SELECT “a b” FROM t", 'SELECT "a b" FROM t'),
    ],
)
def test_typography_around_sql_is_decoded_and_said(reply: str, sql: str) -> None:
    assert extracted(reply) == ("bare+typography", sql)


@pytest.mark.parametrize(
    "sql", ["SELECT 'it’s‘\u00a0' AS a FROM t", 'SELECT "a’\u00a0b" FROM t', "SELECT 1 -- it’s\u00a0so", "SELECT $$‘a’$$"]
)
def test_typography_inside_literals_names_and_comments_stays(sql: str) -> None:
    assert extracted(sql) == ("bare", sql)


@pytest.mark.parametrize(
    "sql", ["SELECT  'a  b', \"c\"  ", "SELECT '10\\%' LIKE '10\\%'", "select `a b` from t where c = '\\n'", "SELECT a\r\nFROM t"]
)
def test_text_is_never_edited(sql: str) -> None:
    for reply in (sql, f"```sql\n{sql}\n```", json.dumps({"sql": sql}), f"<sql>{sql}</sql>"):
        for dialect in ALL_DIALECTS:
            assert extracted(reply, dialect)[1] == sql.strip()


def test_recorded_replies_all_hold_sql(shared_data: Path) -> None:
    for name in ("bat_model_a", "bat_model_b", "defog_postgres_model_a", "defog_postgres_model_b"):
        for line in (shared_data / "data" / "replies" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            reply = json.loads(line)
            found = extract_sql(Completion(text=reply["reply"]), reply.get("dialect", "postgres"))
            assert isinstance(found, SqlText), (name, reply["id"])
            assert found.sql in reply["reply"]


def test_a_table_alias_that_is_an_english_word_is_no_prose() -> None:
    """The smallest input of a reply that was taken for prose: its first line holds `i` and no punctuation."""
    found = extract_sql(Completion("SELECT i.a\nFROM t AS i\nWHERE x = 1;"), "sqlite")
    assert isinstance(found, SqlText)
    assert found.sql == "SELECT i.a\nFROM t AS i\nWHERE x = 1"


def test_english_within_a_literal_is_no_prose() -> None:
    """The smallest input of a bare query that was taken for prose for what its literal says."""
    sql = "SELECT id FROM comments WHERE text = 'thank you user93!'"
    found = extract_sql(Completion(sql), "sqlite")
    assert isinstance(found, SqlText)
    assert found.sql == sql
