"""BIRD: dev, mini-dev in each dialect, EvalBench's reading of it, and the PostgreSQL form of 2024."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as
from nl2sql_gate.dataset.problems import Problems
from nl2sql_gate.dataset.read_options import ReadOptions, dialect_of_file
from nl2sql_gate.records import Item

_LABELS = {"id": "question_id", "nl_prompt": "question", "database": "db_id", "golden_sql": "SQL"}
_LEGACY = {"Postgres_query": "postgres", "SQLite_query": "sqlite"}


def read_bird(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a BIRD file; all are dql unless they say otherwise.

    `SQL` is in the dialect that the options or the file's name give, else SQLite, which BIRD's own files are written in. Evidence
    stays apart from the question. Rows of the 2024 form whose `result_matched` is false have no golden SQL here: their SQL stays
    under `other`, and they are skipped.
    """
    dialect = options.dialect or dialect_of_file(problems.file) or "sqlite"
    return read_rows_as(
        "bird", document, problems, lambda row: _standard(row, dialect=dialect, file=problems.file), labels=_LABELS
    )


def _standard(row: ForeignRow, *, dialect: str, file: str) -> dict[str, Any]:
    inner = row.raw.get("other")
    nested = inner if isinstance(inner, dict) else {}
    identifier = row.take("question_id", "id")
    difficulty = row.text("difficulty")
    tags = row.take("tags")
    standard = {
        "id": row.position if identifier is None else identifier,
        "nl_prompt": row.text("question") if "question" in row.raw else nested.get("question"),
        "evidence": row.text("evidence") if "evidence" in row.raw else nested.get("evidence"),
        "query_type": row.take("query_type") or "dql",
        "database": row.take("db_id") or Path(file).stem,
        "difficulty": difficulty,
        # EvalBench takes a row's difficulty for its tag, and so `--tag simple` works.
        "tags": tags if tags is not None else [difficulty] if difficulty else [],
        **row.own(),
    }
    row.subject = f"item {standard['id']}"
    standard["golden_sql"] = _golden(row, dialect)
    if standard["golden_sql"] is None and "dialects" not in standard:
        standard["dialects"] = [name for key, name in _LEGACY.items() if row.raw.get(key)] or [dialect]
    standard["other"] = row.rest()
    return standard


def _golden(row: ForeignRow, dialect: str) -> Any:
    """Golden SQL by dialect, or `None` where the row has none that may be used."""
    if row.raw.get("result_matched", True) in (False, 0, None, "") and any(key in row.raw for key in _LEGACY):
        row.warn("skipped_item", "result_matched: is false, its golden SQL differs between dialects; the item is skipped")
        return None
    given = row.take("golden_sql")
    sql = row.take("SQL")
    if given is not None:
        return given
    legacy = {name: row.take(key) for key, name in _LEGACY.items() if row.raw.get(key)}
    return legacy or (None if sql is None else {dialect: sql})
