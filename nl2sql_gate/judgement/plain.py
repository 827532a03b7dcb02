"""Reasons as plain JSON with sorted keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nl2sql_gate.records import Reason


def reason_json(reason: Reason | None) -> dict[str, Any] | None:
    """A reason as `{code, message, …}`; `None` stays `None`."""
    return None if reason is None else sorted_keys({**reason.detail, "code": reason.code, "message": reason.message})


def sorted_keys(plain: Mapping[str, Any]) -> dict[str, Any]:
    """`plain` with its keys in order."""
    return dict(sorted(plain.items()))
