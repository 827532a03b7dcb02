"""Spider: dev.json and its kin, one golden query a question, SQLite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as, warn_of_keys
from nl2sql_gate.dataset.problems import Problems, did_you_mean
from nl2sql_gate.dataset.read_options import ReadOptions, dialect_of_file
from nl2sql_gate.records import Item, Place

_LABELS = {"nl_prompt": "question", "database": "db_id", "golden_sql": "query"}
_DERIVED = ("query_toks", "query_toks_no_value", "question_toks", "sql")
_FEWEST_DIGITS = 4


def read_spider(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a Spider file. Questions have no ids there: `spider-0000` is the first, and so on in file order.

    Token lists and the parsed query are left out, since `query` holds all that they say. Where tables.json lies beside the file,
    a database that it does not have is a warning.
    """
    dialect = options.dialect or dialect_of_file(problems.file) or "sqlite"
    warn_of_keys(document, problems, _DERIVED, code="derived_keys", why="left out, since query and question say the same")
    known = _databases(Path(problems.file).with_name("tables.json"), problems)
    digits = max(_FEWEST_DIGITS, len(str(len(document.values))))
    return read_rows_as(
        "spider",
        document,
        problems,
        lambda row: _standard(row, dialect=dialect, known=known, digits=digits),
        labels=_LABELS,
    )


def _standard(row: ForeignRow, *, dialect: str, known: frozenset[str], digits: int) -> dict[str, Any]:
    identifier = row.take("id", "question_id")
    row.take(*_DERIVED)
    sql = row.take("query")
    difficulty = row.take("difficulty", "hardness")
    standard = {
        "id": f"spider-{row.position:0{digits}d}" if identifier is None else identifier,
        "nl_prompt": row.take("question"),
        "query_type": "dql",
        "database": row.take("db_id"),
        "evidence": row.take("evidence"),
        "difficulty": difficulty,
        "tags": row.take("tags"),
        "golden_sql": None if sql is None else {dialect: sql},
        **row.own(),
        "other": row.rest(),
    }
    row.subject = f"item {standard['id']}"
    database = standard["database"]
    if known and isinstance(database, str) and database not in known:
        row.warn("unknown_database", f"db_id: tables.json has no database {database}{did_you_mean(database, known)}")
    return standard


def _databases(path: Path, problems: Problems) -> frozenset[str]:
    """The databases that tables.json describes; none where the file is absent."""
    if not path.is_file():
        return frozenset()
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
        return frozenset(table["db_id"] for table in found)
    except (OSError, ValueError, TypeError, KeyError) as error:
        problems.warn("unreadable_tables", Place(str(path)), str(path), f"is not Spider's tables.json and is not used: {error}")
        return frozenset()
