"""The two recorded models: the better one is mostly right, the other proven worse in every dialect by itself."""

from __future__ import annotations

import json
from functools import cache

from thistledown import FOLDER, Question, Row, questions, same
from thistledown_servers import Bench

from nl2sql_gate.records import Completion, SqlText
from nl2sql_gate.significance.mcnemar import mid_p
from nl2sql_gate.sqltext import extract_sql


@cache
def _replies(model: str) -> dict[tuple[str, str], str]:
    lines = (FOLDER / "replies" / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
    return {(reply["id"], reply["dialect"]): reply["reply"] for reply in map(json.loads, lines)}


def _right(bench: Bench, model: str) -> dict[str, bool]:
    dialect = "mysql" if bench.dialect == "mariadb" else bench.dialect
    verdicts = {}
    for item in questions():
        found = extract_sql(Completion(text=_replies(model)[item.id, dialect]), dialect)
        verdicts[item.id] = isinstance(found, SqlText) and _is_right(bench, item, found.sql)
    return verdicts


def _is_right(bench: Bench, item: Question, sql: str) -> bool:
    goldens = item.sql("golden_sql", bench.dialect)
    try:
        if item.kind != "dql":
            return _golden_effect(bench, item) == _effect(bench, item, sql)
        rows = bench.rows(item.database, sql)
    except Exception:  # noqa: BLE001 - each driver has its own error; whatever it is, the reply is wrong
        return False
    return any(same(bench.rows(item.database, text), rows, ordered=item.is_ordered(text, bench.dialect)) for text in goldens)


@cache
def _golden_effect(bench: Bench, item: Question) -> list[list[Row]]:
    return _effect(bench, item, "; ".join(item.sql("golden_sql", bench.dialect)))


def _effect(bench: Bench, item: Question, sql: str) -> list[list[Row]]:
    with bench.scratch(item.database, item.kind) as run:
        for text in (*item.sql("setup_sql", bench.dialect), sql):
            run(text)
        return [run(text) for text in item.sql("eval_query", bench.dialect)]


def _assert_as_recorded(bench: Bench) -> None:
    better, weaker = _right(bench, "model_a"), _right(bench, "model_b")
    assert 0.85 <= sum(better.values()) / len(better) <= 0.92
    assert 0.35 <= sum(weaker.values()) / len(weaker) <= 0.6
    broke = sum(better[name] and not weaker[name] for name in better)
    fixed = sum(weaker[name] and not better[name] for name in better)
    assert mid_p(broke, fixed) < 0.01
    assert fixed > 0


def test_model_b_is_proven_worse_on_sqlite(sqlite_databases: Bench) -> None:
    _assert_as_recorded(sqlite_databases)


def test_model_b_is_proven_worse_elsewhere(other_databases: Bench) -> None:
    _assert_as_recorded(other_databases)


def test_model_b_shows_every_way_to_fail() -> None:
    replies = list(_replies("model_b").values())
    assert any("can't" in reply and "```" not in reply for reply in replies), "a refusal"
    assert any(reply.count("```") == 1 for reply in replies), "a reply that was cut off"
    assert any("DELETE FROM members" in reply for reply in replies), "a write where a query was asked for"
    assert any(reply.startswith("<think>") for reply in replies)
    assert any(reply.count("```sql") == 2 for reply in replies), "a draft before the answer"
