"""defog's question files (sql-eval): CSV with one question a row and several golden queries in a cell."""

from __future__ import annotations

import re
from typing import Any

from nl2sql_gate.dataset.defog_goldens import MOST_ALTERNATIVES, Goldens, goldens_of
from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as
from nl2sql_gate.dataset.problems import Problems
from nl2sql_gate.dataset.read_options import ReadOptions, dialect_of_file
from nl2sql_gate.dialects import canonical
from nl2sql_gate.records import Item

_LABELS = {
    "nl_prompt": "question",
    "database": "db_name",
    "golden_sql": "query",
    "evidence": "instructions",
    "dialects": "db_type",
}
_FEWEST_DIGITS = 3
_ORDERS = re.compile(r"\border\s+by\b", re.IGNORECASE)
_ASKS_FOR_ORDER = re.compile(r"\b(?:order(?:ed|ing)?|sort(?:ed|ing)?|arrang(?:e|ed|ing)|ascending|descending)\b", re.IGNORECASE)
"""defog's evaluator looks for order, sort and arrange as whole words; what says ordered or descending asks for an order too."""


def read_defog(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a question file: `defog-000` is its first row, and so on.

    The dialect is the row's `db_type`, else that of the options or of the file's name, else PostgreSQL, defog's own.
    `instructions` is the evidence; `full_instructions` and what else a row has stay under `other`, `query_category` is a tag.
    Columns in braces become alternatives: see `defog_goldens`. Where golden SQL has an ORDER BY and neither the question nor the
    category `order_by` asks for an order, `row_order` is free, as defog compares such rows.
    """
    dialect = options.dialect or dialect_of_file(problems.file) or "postgres"
    digits = max(_FEWEST_DIGITS, len(str(max(0, len(document.values) - 1))))
    return read_rows_as(
        "defog_csv", document, problems, lambda row: _standard(row, dialect=dialect, digits=digits), labels=_LABELS
    )


def _standard(row: ForeignRow, *, dialect: str, digits: int) -> dict[str, Any]:
    identifier = row.text("id")
    identifier = identifier or f"defog-{row.position:0{digits}d}"
    row.subject = f"item {identifier}"
    named = row.text("db_type")
    dialect = canonical(named) if named.strip() else dialect
    category = row.text("query_category")
    goldens = Goldens(())
    try:
        goldens = goldens_of(row.text("query"), dialect)
    except ValueError as error:
        row.refuse("query", str(error))
    standard = {
        "id": identifier,
        "nl_prompt": row.text("question") or None,
        "query_type": "dql",
        "database": row.text("db_name") or None,
        "dialects": [dialect],
        "golden_sql": {dialect: list(goldens.alternatives)},
        "evidence": row.text("instructions"),
        "tags": [category] if category else [],
        **{key: value for key, value in row.own().items() if value != ""},
    }
    asked = category == "order_by" or _ASKS_FOR_ORDER.search(row.text("question"))
    if "row_order" not in standard and not asked and any(map(_ORDERS.search, goldens.alternatives)):
        standard["row_order"] = "free"
    if goldens.shortened:
        standard["columns"] = "superset"
        message = (
            f"query: its groups stand for more than {MOST_ALTERNATIVES} queries; single columns and whole groups remain, "
            "and further columns are allowed (columns: superset)"
        )
        row.warn("many_alternatives", message)
    standard["other"] = {key: value for key, value in row.rest().items() if value != ""}
    return standard
