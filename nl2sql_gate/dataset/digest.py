"""Digests that say whether two cases ask the same thing of the same data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from nl2sql_gate.records import Item


def content_digest(values: Sequence[Any]) -> str:
    """sha256 over the parsed items of a dataset, blind to layout, comments and the order of keys."""
    return _sha256(list(values))


def case_digest(item: Item, dialect: str, source_digest: str) -> str:
    """sha256 over all that decides what is asked of a case and what is right: another digest is another question.

    Covers question, evidence, type, SQL of all kinds in `dialect`, the item's own scoring keys and the database's data
    (`source_digest`). Tags, difficulty and `other` may change without making results incomparable.
    """
    return _sha256(
        {
            "version": 1,
            "question": item.question,
            "evidence": item.evidence,
            "query_type": item.query_type,
            "golden_sql": item.golden_sql.pick(dialect),
            "eval_query": item.eval_query.pick(dialect),
            "setup_sql": item.setup_sql.pick(dialect),
            "cleanup_sql": item.cleanup_sql.pick(dialect),
            "columns": item.columns,
            "golden_mode": item.golden_mode,
            "state": item.state,
            "data": source_digest,
            # Only where it says something: cases of before are still the same.
            **({"row_order": "free"} if item.row_order == "free" else {}),
        }
    )


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
