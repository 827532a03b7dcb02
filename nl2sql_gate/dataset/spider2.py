"""Spider 2 (lite and snow): questions as JSON lines, golden SQL and documents in files beside them."""

from __future__ import annotations

import re
from typing import Any

from nl2sql_gate.dataset.beside import Beside
from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as
from nl2sql_gate.dataset.problems import Problems
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.sql_fields import database_fault
from nl2sql_gate.records import Item

_LABELS = {"id": "instance_id", "nl_prompt": "question", "database": "db", "golden_sql": "gold/sql"}
_GOLDEN_FOLDERS = ("gold/sql", "evaluation_suite/gold/sql", "../gold/sql", "../evaluation_suite/gold/sql")
_DOCUMENT_FOLDERS = ("documents", "resource/documents", "../resource/documents")
_PREFIXES = {"local": "sqlite", "bq": "bigquery", "ga": "bigquery", "sf": "snowflake"}


def read_spider2(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a Spider 2 file; the id tells the dialect: `local…` SQLite, `bq…` and `ga…` BigQuery, `sf…` Snowflake.

    Golden SQL is `gold/sql/<id>.sql`, with `<id>_a.sql` and so on as alternatives; most of it is not published, and an item
    without is skipped. `external_knowledge` names a document, whose text becomes the evidence.
    """
    golden = Beside(problems.file, _GOLDEN_FOLDERS, what="golden SQL")
    documents = Beside(problems.file, _DOCUMENT_FOLDERS, what="a document")
    items = read_rows_as(
        "spider2",
        document,
        problems,
        lambda row: _standard(row, options=options, golden=golden, documents=documents),
        labels=_LABELS,
    )
    problems.attach({**golden.texts, **documents.texts})
    return items


def _standard(row: ForeignRow, *, options: ReadOptions, golden: Beside, documents: Beside) -> dict[str, Any]:
    identifier = row.take("instance_id")
    row.subject = f"item {identifier}" if identifier is not None else row.subject
    name = identifier if isinstance(identifier, str) else ""
    prefix = re.match(r"[a-z]*", name)
    dialect = options.dialect or _PREFIXES.get(prefix.group() if prefix else "", "sqlite")
    own = row.own()
    found = row.take("golden_sql", "sql", "SQL") or _golden(name, golden)
    return {
        "id": identifier,
        "nl_prompt": row.take("question", "instruction"),
        "query_type": row.take("query_type") or "dql",
        "database": row.take("db", "db_id"),
        "dialects": [dialect],
        "golden_sql": {dialect: found} if isinstance(found, str | list) else found,
        "evidence": row.take("evidence") or _evidence(row, documents),
        "difficulty": row.take("difficulty"),
        "tags": row.take("tags"),
        **own,
        "other": row.rest(),
    }


def _golden(name: str, golden: Beside) -> list[str] | None:
    """The texts of the item's golden files, the plain one first."""
    if not name or database_fault(name):
        return None
    found = [golden.read(f"{name}.sql")]
    variant = re.compile(rf"{re.escape(name)}_[a-z0-9]\.sql")
    names = sorted({entry.name for folder in golden.folders for entry in folder.iterdir() if variant.fullmatch(entry.name)})
    found += [golden.read(each) for each in names]
    return [text for text in found if text] or None


def _evidence(row: ForeignRow, documents: Beside) -> str:
    wanted = row.raw.get("external_knowledge")
    if not isinstance(wanted, str) or not wanted.strip():
        return ""
    text = documents.read(wanted.strip())
    if text is None:
        row.warn("missing_knowledge", f"external_knowledge: no document {wanted.strip()} beside the file; not in the evidence")
        return ""
    return text
