"""Setup scripts as statements with their places."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Place, SetupStatement

if TYPE_CHECKING:
    from nl2sql_gate.sqltext import Statement

_MOST_REPEATS = 1000
_HARMLESS_META = re.compile(r"\\(?:restrict|unrestrict|set|unset|echo|qecho|warn|pset|timing|encoding|x|q|t|a)\b")
"""Lines for psql that change nothing in the database; pg_dump writes `\\restrict` around its output."""

_COMMENTS = re.compile(r"^(?:\s+|--[^\n]*(?:\n|\Z)|/\*(?!!).*?\*/)+|/\*!\d*|\*/", re.DOTALL)
_DATABASES = re.compile(
    r"\s*(?:(?:CREATE|DROP|ALTER)\s+DATABASE\b|USE\b|(?:UN)?LOCK\s+TABLES\b|\\c(?:onnect)?\b"
    r"|IF\s+EXISTS\s*\(.*?\bDROP\s+DATABASE\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Statements about databases instead of in one, and locks of whole tables, which the gate's isolation does better."""


def read_script(path: Path, *, dialect: str) -> tuple[str, tuple[SetupStatement, ...]]:
    """(the text with plain line ends, for a digest; its statements, unedited).

    T-SQL is split at GO, since variables live as long as their batch.
    Raises `ProvisionError` for a file that is not UTF-8, and for psql commands that only psql could run.
    """
    from nl2sql_gate.sqltext import split_batches, split_statements

    text = read_text(path, error=ProvisionError, what="a setup script").removeprefix("\ufeff")
    found = split_batches(text, dialect) if dialect == "sqlserver" else split_statements(text, dialect)
    statements = tuple(made for statement in found for made in _statements(statement, path))
    return text.replace("\r\n", "\n"), statements


def read_dump(path: Path, *, dialect: str, batches: bool) -> tuple[str, tuple[SetupStatement, ...], tuple[str, ...]]:
    r"""As `read_script`, for a script that may make its own database: (text, statements, what was left out).

    `batches` keeps T-SQL together up to its GO, as it must run; to be read, it is split at every statement.
    `CREATE DATABASE`, `USE`, `\\connect` and the like are left out, since the gate makes the database and chooses its name.
    """
    from nl2sql_gate.sqltext import split_batches, split_statements

    text = read_text(path, error=ProvisionError, what="a setup script").removeprefix("\ufeff")
    found = split_batches(text, dialect) if dialect == "sqlserver" and batches else split_statements(text, dialect)
    statements: list[SetupStatement] = []
    left_out: list[str] = []
    for statement in found:
        bare = _COMMENTS.sub("", statement.text)
        if _DATABASES.match(bare):
            left_out.append(f"{Place(str(path), statement.line)}: {' '.join(bare.split())[:80]}")
        else:
            statements += _statements(statement, path)
    return text.replace("\r\n", "\n"), tuple(statements), tuple(left_out)


def read_head(path: Path) -> str:
    """The text of a script, to look at what it is written in."""
    return read_text(path, error=ProvisionError, what="a setup script").removeprefix("\ufeff")


def _statements(statement: Statement, path: Path) -> list[SetupStatement]:
    place = Place(str(path), statement.line)
    if statement.kind == "meta":
        if _HARMLESS_META.match(statement.text):
            return []
        raise _refused(place, f"{statement.text[:80]}", "is a command of psql, which no database server understands")
    if statement.repeat > _MOST_REPEATS:
        raise _refused(place, f"GO {statement.repeat}", f"repeats a batch more than {_MOST_REPEATS} times")
    return [SetupStatement(statement.text, place, data=statement.data)] * statement.repeat


def _refused(place: Place, text: str, reason: str) -> ProvisionError:
    return ProvisionError(
        "a setup script holds what cannot be run",
        where=[f"{place}: {text}: {reason}"],
        meaning="The database cannot be built, so nothing was started.",
        next_step="Take the line out, or write it as SQL.",
    )
