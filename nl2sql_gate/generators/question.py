"""A question as plain JSON values: what a request template and a program are given."""

from __future__ import annotations

from typing import Any

from nl2sql_gate.records import Ask

TEXTS = ("id", "question", "evidence", "database", "dialect", "schema", "dsn")
"""The keys whose values are text; `trial` is a number, `prompt` a list of messages."""


def parts_of(ask: Ask) -> dict[str, Any]:
    """The parts of one question. `dsn` is empty where another program cannot read the case's database."""
    return {
        "id": ask.key.id,
        "question": ask.item.question,
        "evidence": ask.item.evidence,
        "database": ask.key.database,
        "dialect": ask.dialect,
        "schema": ask.schema.ddl,
        "dsn": ask.dsn,
        "trial": ask.key.trial,
        "prompt": [{"role": role, "content": content} for role, content in ask.prompt.messages],
    }
