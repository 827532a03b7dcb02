"""Datasets written in EvalBench's and BIRD's forms. Reading back what is written gives the same items."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nl2sql_gate.dataset.problems import capped
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Item, SqlField

KEY_ORDER = (
    "id", "question_id", "db_id", "nl_prompt", "question", "evidence", "query_type", "database", "dialects", "SQL", "golden_sql",
    "eval_query", "setup_sql", "cleanup_sql", "tags", "difficulty", "columns", "golden_mode", "state", "row_order", "other",
)  # fmt: skip
"""The order of keys in canonical JSON; keys beyond these follow by name."""

_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_KEYS_OF_READER = frozenset(
    {"question_id", "id", "db_id", "question", "evidence", "SQL", "golden_sql", "difficulty", "tags", "query_type", "other"}
)


def evalbench_json(items: Sequence[Item]) -> str:
    """The items in EvalBench's standard form, as canonical JSON; keys that it does not know only where they say something."""
    return canonical_json([_evalbench(item) for item in items])


def bird_json(items: Sequence[Item], *, dialect: str = "") -> str:
    """The items in BIRD's form, canonical: `SQL` is the first golden query in `dialect`, else in the item's only one.

    What BIRD's own keys cannot say (alternatives, dialects, eval queries, tags) stands beside them under ours, which BIRD's
    readers pass over and ours take. Raises `DatasetError` for items without golden SQL in the dialect, or with none settled.
    """
    wrong: list[str] = []
    rows = []
    for item in items:
        chosen = dialect or (item.dialects[0] if len(item.dialects) == 1 else "")
        golden = item.golden_sql.pick(chosen) if chosen else item.golden_sql.everywhere
        if not chosen and not golden:
            wrong.append(f"item {item.id}: has golden SQL in {', '.join(item.dialects) or 'no dialect'}")
        elif not golden and item.golden_sql:
            wrong.append(f"item {item.id}: has no golden SQL in {chosen}")
        rows.append(_bird(item, chosen, golden))
    if wrong:
        raise DatasetError(
            f"{len(wrong)} items cannot be written in BIRD's form",
            where=capped(wrong),
            meaning="BIRD's form holds one query an item. Nothing was written.",
            next_step="Name the dialect with --dialect, or narrow the items.",
        )
    return canonical_json(rows)


def canonical_json(rows: Sequence[Any]) -> str:
    """JSON in one layout: known keys in their order, two blanks a level, a line break at the end, no escapes but JSON's own."""
    text = json.dumps([ordered(row) for row in rows], indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def ordered(row: Any) -> Any:
    """An object with its keys in canonical order; what stands inside stays as it is."""
    if not isinstance(row, Mapping):
        return row
    known = [key for key in KEY_ORDER if key in row]
    return {key: row[key] for key in [*known, *sorted(key for key in row if key not in KEY_ORDER)]}


def _evalbench(item: Item) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": _number_or_text(item.id),
        "nl_prompt": item.question,
        "query_type": item.query_type,
        "database": item.database,
    }
    if item.dialects:
        row["dialects"] = list(item.dialects)
    row["golden_sql"] = _sql(item.golden_sql)
    row.update({key: _sql(given) for key, given in _further_sql(item).items()})
    row["tags"] = list(item.tags)
    return {**row, **_own_keys(item), "other": dict(item.other)}


def _bird(item: Item, dialect: str, golden: tuple[str, ...]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "question_id": _number_or_text(item.id),
        "db_id": item.database,
        "question": item.question,
        "evidence": item.evidence,
        "SQL": golden[0] if golden else "",
        "difficulty": item.difficulty,
    }
    is_plain = item.golden_sql == SqlField({"sqlite": golden[:1]}) and item.dialects == ("sqlite",) and dialect == "sqlite"
    if not is_plain:
        row["golden_sql"] = _sql(item.golden_sql)
        row["dialects"] = list(item.dialects)
    row.update({key: _sql(given) for key, given in _further_sql(item).items()})
    if item.query_type != "dql":
        row["query_type"] = item.query_type
    if item.tags != ((item.difficulty,) if item.difficulty else ()):
        row["tags"] = list(item.tags)
    row.update({key: given for key, given in _own_keys(item).items() if key not in {"evidence", "difficulty"}})
    if any(key in _KEYS_OF_READER or key in row for key in item.other):
        return {**row, "other": dict(item.other)}
    return {**row, **item.other}


def _further_sql(item: Item) -> dict[str, SqlField]:
    given = {"eval_query": item.eval_query, "setup_sql": item.setup_sql, "cleanup_sql": item.cleanup_sql}
    return {key: field for key, field in given.items() if field}


def _own_keys(item: Item) -> dict[str, str]:
    given = {
        "evidence": item.evidence,
        "difficulty": item.difficulty,
        "columns": item.columns,
        "golden_mode": item.golden_mode,
        "state": item.state,
        "row_order": item.row_order,
    }
    # An empty one is written where the reader would else find another value, under other or among the tags.
    implied = {
        key for key in ("evidence", "difficulty") if key in item.other or any(tag.lower().startswith(key) for tag in item.tags)
    }
    return {key: text for key, text in given.items() if text or key in implied}


def _sql(field: SqlField) -> Any:
    if field.everywhere:
        return list(field.everywhere)
    return {dialect: list(statements) for dialect, statements in field.by_dialect.items()}


def _number_or_text(identifier: str) -> int | str:
    """An id that is a number is written as one, as both forms have it; `007` is a text."""
    is_number = _NUMBER.fullmatch(identifier) is not None
    return int(identifier) if is_number else identifier
