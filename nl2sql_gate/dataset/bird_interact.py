"""BIRD-Interact, the part that needs no conversation: the clear question, its golden SQL, its setup."""

from __future__ import annotations

import json
from typing import Any

from nl2sql_gate.dataset.beside import Beside
from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as, warn_of_keys
from nl2sql_gate.dataset.problems import Problems
from nl2sql_gate.dataset.query_types import query_type_of_statements
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.sql_fields import database_fault, kind_of
from nl2sql_gate.records import Item, QueryType

_LABELS = {
    "id": "instance_id",
    "nl_prompt": "query",
    "database": "selected_database",
    "golden_sql": "sol_sql",
    "setup_sql": "preprocess_sql",
    "cleanup_sql": "clean_up_sqls",
}
_CONVERSATION = ("amb_user_query", "user_query_ambiguity", "knowledge_ambiguity", "follow_up")
_PROGRAMS = ("test_cases", "conditions")
_CATEGORIES: dict[str, QueryType] = {"query": "dql", "management": "ddl"}


def read_bird_interact(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a BIRD-Interact file (JSON lines), PostgreSQL unless the options say otherwise.

    The question is the clear one (`query`); where only the ambiguous one is there, it is asked, with a warning. Ambiguities and
    follow-ups, Python test cases and `conditions` are not used: they stay under `other`, and one warning for the file says so.
    `external_knowledge` becomes evidence from `<database>/<database>_kb.jsonl` beside the file. A row of category Management
    is what its SQL is, ddl where that cannot be told.
    """
    warn_of_keys(
        document, problems, _CONVERSATION, code="single_turn", why="the conversation is not held, only the question asked"
    )
    why = "not run; results are compared by the metrics of this run, and the values stay under other"
    warn_of_keys(document, problems, _PROGRAMS, code="unused_key", why=why)
    knowledge = _Knowledge(problems)
    dialect = options.dialect or "postgres"
    items = read_rows_as(
        "bird_interact", document, problems, lambda row: _standard(row, dialect=dialect, knowledge=knowledge), labels=_LABELS
    )
    problems.attach(knowledge.texts)
    return items


def _standard(row: ForeignRow, *, dialect: str, knowledge: _Knowledge) -> dict[str, Any]:
    identifier = row.take("instance_id", "id")
    row.subject = f"item {identifier}" if identifier is not None else row.subject
    question = row.text("query")
    if not question.strip():
        question = row.text("amb_user_query")
        if question.strip():
            row.warn("ambiguous_question", "query: is absent, so the ambiguous question is asked")
    database = row.take("selected_database", "db_id")
    golden = row.take("sol_sql")
    if golden in ([], ""):
        golden = None
    difficulty = row.take("difficulty_tier", "difficulty")
    own = row.own()
    setup, cleanup = row.take("preprocess_sql"), row.take("clean_up_sqls")
    standard = {
        "id": identifier,
        "nl_prompt": question or None,
        "query_type": _query_type(row, golden, dialect),
        "database": database,
        "dialects": [dialect],
        "golden_sql": None if golden is None else {dialect: golden},
        "setup_sql": {dialect: setup},
        "cleanup_sql": {dialect: cleanup},
        "difficulty": difficulty,
        "tags": row.take("tags"),
        **own,
    }
    standard["evidence"] = row.take("evidence") or knowledge.of(row, database)
    standard["other"] = row.rest()
    return standard


def _query_type(row: ForeignRow, golden: Any, dialect: str) -> str:
    category = row.raw.get("category")
    declared = _CATEGORIES.get(category.strip().lower(), "") if isinstance(category, str) else "dql"
    if not declared:
        row.refuse("category", f"{category!r} is neither Query nor Management")
        return "dql"
    statements = [golden] if isinstance(golden, str) else golden if isinstance(golden, list) else []
    if declared == "dql" or not all(isinstance(sql, str) for sql in statements):
        return declared
    return query_type_of_statements(statements, dialect, declared="ddl") or "ddl"


class _Knowledge:
    """The knowledge base of each database, read once. `texts` holds the files read."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._entries: dict[str, dict[str, str]] = {}
        self.texts: dict[str, str] = {}

    def of(self, row: ForeignRow, database: Any) -> str:
        """The entries that the row's `external_knowledge` names, as text; what is not there is said."""
        wanted = row.raw.get("external_knowledge")
        if wanted in (None, [], ""):
            return ""
        if not isinstance(wanted, list):
            row.refuse("external_knowledge", f"expected a list of ids, found {kind_of(wanted)}")
            return ""
        entries = self._read(database) if isinstance(database, str) else {}
        missing = [str(key) for key in wanted if str(key) not in entries]
        if missing:
            where = f"{database}/{database}_kb.jsonl beside the file"
            row.warn("missing_knowledge", f"external_knowledge: {', '.join(missing)} not found in {where}; not in the evidence")
        return "\n".join(entries[str(key)] for key in wanted if str(key) in entries)

    def _read(self, database: str) -> dict[str, str]:
        if database not in self._entries:
            folders = [] if database_fault(database) else [database]
            beside = Beside(self._problems.file, folders, what="a knowledge base")
            text = beside.read(f"{database}_kb.jsonl") or ""
            self.texts.update(beside.texts)
            self._entries[database] = dict(_entry(line) for line in text.split("\n") if line.strip())
        return self._entries[database]


def _entry(line: str) -> tuple[str, str]:
    """(the id of one entry, what it says)."""
    try:
        found = json.loads(line)
    except ValueError:
        return "", ""
    if not isinstance(found, dict):
        return "", ""
    parts = [str(found[key]) for key in ("knowledge", "description", "definition") if found.get(key)]
    return str(found.get("id", "")), ": ".join(parts)
