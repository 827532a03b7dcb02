"""EvalBench's format of 2024: `prompt` and `examples`. Its other form of that year is BIRD's with SQL per dialect, see `bird`."""

from __future__ import annotations

from typing import Any

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as
from nl2sql_gate.dataset.problems import Problems
from nl2sql_gate.dataset.read_options import ReadOptions
from nl2sql_gate.dataset.sql_fields import kind_of
from nl2sql_gate.records import Item

_LABELS = {"nl_prompt": "prompt", "golden_sql": "examples"}


def read_evalbench_legacy(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a file of that year, numbered from 1 where they have no id, as EvalBench numbered them.

    The first of `examples` is the golden SQL, for all the item's dialects; further ones stay under `other`, with a warning.
    """
    return read_rows_as(
        "evalbench_legacy", document, problems, lambda row: _standard(row, dialect=options.dialect), labels=_LABELS
    )


def _standard(row: ForeignRow, *, dialect: str) -> dict[str, Any]:
    identifier = row.take("id")
    standard = {
        "id": row.position + 1 if identifier is None else identifier,
        "nl_prompt": row.take("prompt", "nl_prompt"),
        "query_type": row.take("query_type") or "dql",
        "database": row.take("database"),
        "tags": row.take("tags"),
        "evidence": row.take("evidence"),
        "difficulty": row.take("difficulty"),
        **row.own(),
    }
    row.subject = f"item {standard['id']}"
    if dialect and "dialects" not in standard:
        standard["dialects"] = [dialect]
    examples = row.take("examples")
    golden, further = (examples, []) if isinstance(examples, str | dict) else _first(examples, row)
    standard["golden_sql"] = golden
    standard["other"] = {**row.rest(), **({"examples": further} if further else {})}
    return standard


def _first(examples: Any, row: ForeignRow) -> tuple[Any, list[Any]]:
    """(the golden SQL, the examples after it)."""
    if examples is None or examples == []:
        return None, []
    if not isinstance(examples, list):
        row.refuse("examples", f"expected a list of SQL, found {kind_of(examples)}")
        return None, []
    if len(examples) > 1:
        row.warn("further_examples", f"examples: only the first of {len(examples)} is golden SQL; the others stay under other")
    return examples[0], examples[1:]
