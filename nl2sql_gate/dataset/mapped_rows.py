"""Tables of questions (CSV, Parquet): columns found by their usual names, or named in the options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.foreign_rows import ForeignRow, read_rows_as
from nl2sql_gate.dataset.problems import Problems, listed, nearest
from nl2sql_gate.dataset.read_options import ReadOptions, dialect_of_file
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item

NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "question_id", "instance_id"),
    "question": ("question", "nl_prompt", "prompt", "nl_question", "utterance"),
    "golden_sql": ("golden_sql", "query", "sql", "golden", "gold_sql", "gold"),
    "database": ("database", "db", "db_id", "db_name", "database_name"),
    "dialects": ("dialects", "dialect", "db_type"),
    "evidence": ("evidence", "instructions", "external_knowledge"),
    "query_type": ("query_type",),
    "tags": ("tags",),
    "difficulty": ("difficulty",),
    "eval_query": ("eval_query",),
    "setup_sql": ("setup_sql",),
    "cleanup_sql": ("cleanup_sql",),
    "columns": ("columns",),
    "golden_mode": ("golden_mode",),
    "state": ("state",),
    "row_order": ("row_order",),
}
"""Key → names of columns that are taken for it, the first that is there; letter case and blanks do not matter."""

_NEEDED = ("question", "golden_sql", "database")
_LISTS = frozenset({"golden_sql", "eval_query", "setup_sql", "cleanup_sql"})
_WORDS = frozenset({"dialects", "tags"})
_STANDARD = {"question": "nl_prompt"}
_FEWEST_DIGITS = 3


def read_mapped(document: Document, problems: Problems, options: ReadOptions) -> list[Item]:
    """The items of a table. An item without an id is `item-000`, by its row from 0; empty cells are absent.

    A cell of SQL that is a JSON list holds several; tags and dialects are separated by commas. Columns that are taken for nothing
    stay under `other`. Raises `DatasetError` where no column holds questions, golden SQL or databases.
    """
    columns = list(dict.fromkeys(key for row in document.values if isinstance(row, dict) for key in row))
    mapping = _mapping(columns, options.columns, problems.file)
    labels = {_STANDARD.get(key, key): column for key, column in mapping.items()}
    dialect = options.dialect or dialect_of_file(problems.file)
    digits = max(_FEWEST_DIGITS, len(str(max(0, len(document.values) - 1))))

    def translate(row: ForeignRow) -> dict[str, Any]:
        return _standard(row, mapping=mapping, dialect=dialect, digits=digits)

    return read_rows_as("csv", document, problems, translate, labels=labels, any_shape=True)


def _mapping(columns: list[str], given: Mapping[str, str], file: str) -> dict[str, str]:
    """Key → column. What the options name must be there."""
    by_name = {column.strip().lower(): column for column in columns}
    wrong = [f"{key}: {_unknown_key(key)}" for key in given if key not in NAMES]
    wrong += [f"{key}: {_unknown_column(column, columns)}" for key, column in given.items() if column not in columns]
    mapping = {key: column for key, column in given.items() if key in NAMES and column in columns}
    for key, names in NAMES.items():
        found = next((by_name[name] for name in names if name in by_name), None)
        if key not in given and found is not None and found not in mapping.values():
            mapping[key] = found
    wrong += [
        f"no column for the {key}: one of {', '.join(NAMES[key])} is looked for"
        for key in _NEEDED
        if key not in mapping and key not in given
    ]
    if wrong:
        raise DatasetError(
            f"{file} has no columns that can be read as items",
            where=[f"{file}: columns {listed(columns)}", *wrong],
            meaning="No item was read and no model was called.",
            next_step="Name the columns: nl2sql-gate import FILE --map question=COLUMN --map database=COLUMN …",
        )
    return mapping


def _unknown_key(key: str) -> str:
    near = nearest(key, NAMES, most=1)
    return f"is no key of an item{f' (did you mean {near[0]!r}?)' if near else ''}; there are {', '.join(NAMES)}"


def _unknown_column(column: str, columns: Iterable[str]) -> str:
    near = nearest(column, columns, most=1)
    return f"there is no column {column!r}{f' (did you mean {near[0]!r}?)' if near else ''}"


def _standard(row: ForeignRow, *, mapping: Mapping[str, str], dialect: str, digits: int) -> dict[str, Any]:
    standard: dict[str, Any] = {"query_type": "dql", "golden_sql": None}
    for key, column in mapping.items():
        cell = row.take(column)
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            continue
        if key in _LISTS:
            cell = _listed(cell)
        elif key in _WORDS and isinstance(cell, str):
            cell = _listed(cell) if cell.lstrip().startswith("[") else cell.split(",")
        standard[_STANDARD.get(key, key)] = cell
    standard.setdefault("id", f"item-{row.position:0{digits}d}")
    row.subject = f"item {standard['id']}"
    if dialect:
        standard.setdefault("dialects", [dialect])
    standard["other"] = {key: value for key, value in row.rest().items() if value not in ("", None)}
    return standard


def _listed(cell: Any) -> Any:
    """A list where the text is one in JSON, or a map of dialects; else the text."""
    if isinstance(cell, str) and cell.lstrip()[:1] in {"[", "{"}:
        try:
            found = json.loads(cell)
        except ValueError:
            return cell
        return found if isinstance(found, list | dict) else cell
    return cell
