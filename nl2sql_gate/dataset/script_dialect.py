"""What dialect a setup script is written in, told from marks that no other dialect has."""

from __future__ import annotations

import re

_LOOKED_AT = 200_000
_MARKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "mysql",
        (
            r"-- (?:MySQL|MariaDB) dump",
            r"\)\s*ENGINE\s*=",
            r"^\s*(?:INSERT INTO|CREATE TABLE(?: IF NOT EXISTS)?) `",
            r"\bAUTO_INCREMENT\b",
        ),
    ),
    (
        "sqlserver",
        (
            r"^\s*GO\s*$",
            r"\[dbo\]\.",
            r"\bIDENTITY\s*\(\s*1\s*,\s*1\s*\)",
            r"\bNVARCHAR\s*\(\s*MAX\s*\)",
        ),
    ),
    (
        "sqlite",
        (
            r"\bPRAGMA foreign_keys\b",
            r"\bAUTOINCREMENT\b",
            r"\bsqlite_sequence\b",
            r"\bWITHOUT ROWID\b",
            r"^\s*CREATE TABLE(?: IF NOT EXISTS)? \[",
        ),
    ),
    (
        "postgres",
        (
            r"-- PostgreSQL database dump",
            r"\bFROM stdin;",
            r"\bCREATE (?:TABLE|SEQUENCE) public\.",
            r"\bpg_catalog\b",
            r"'::\w",
            r"\b(?:BIG)?SERIAL\b",
            r"\b(?:DOUBLE PRECISION|TIMESTAMPTZ|BYTEA|JSONB|CHARACTER VARYING)\b",
            r"^\\(?:restrict|connect|c)\b",
        ),
    ),
)


def dialect_of_script(text: str) -> str:
    """The dialect whose marks the script bears; nothing where it bears none, and may be plain SQL."""
    head = text[:_LOOKED_AT]
    for dialect, marks in _MARKS:
        if re.search("|".join(marks), head, re.IGNORECASE | re.MULTILINE):
            return dialect
    return ""
