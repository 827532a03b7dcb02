"""A tree as SQL of its own dialect, without the translations that a parser's writer makes unasked."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel

from nl2sql_gate.sqltext.parse import Tree


def rendered(tree: Tree, dialect: str) -> str:
    """The statement as text, in one line, without comments."""
    return str(_generator(dialect).generate(tree, copy=True))


@lru_cache(maxsize=32)
def _generator(dialect: str) -> Any:
    spoken = Dialect.get_or_raise(dialect)
    kind: Any = spoken.generator_class
    if dialect == "sqlite":
        # A declared type is part of what a table is: VARCHAR(20) would be written as TEXT(20), DECIMAL(5, 2) as REAL(5, 2).
        # What the reader itself has merged is written as it mostly stands; INTEGER makes a key the row's number, INT does not.
        types = {name: text for name, text in kind.TYPE_MAPPING.items() if name.name in {"INT", "DOUBLE"}}
        kind = type("FaithfulSqlite", (kind,), {"TYPE_MAPPING": types})
    return kind(dialect=spoken, comments=False, unsupported_level=ErrorLevel.IGNORE)
