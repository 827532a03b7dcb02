"""Statements of a setup script that choose a database: we bring the database, so that they are passed over."""

from __future__ import annotations

import re

_CHOOSES = re.compile(
    r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*(?:(?:CREATE|DROP)\s+(?:DATABASE|SCHEMA\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?`)|USE\s+[`\w]|\\c(?:onnect)?\s)",
    re.IGNORECASE | re.DOTALL,
)


def chooses_database(text: str) -> bool:
    """Whether a statement creates, drops or enters a whole database, as dumps do at their beginning."""
    return _CHOOSES.match(text) is not None
