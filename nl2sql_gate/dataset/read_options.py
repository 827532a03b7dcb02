"""What a reader of a foreign format may be told when the file does not say it, and what a file's name says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nl2sql_gate.dataset.dialect_names import is_known
from nl2sql_gate.dialects import canonical


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`dialect` of golden SQL that names none; `columns` maps keys of ours (`question`, `golden_sql` …) to columns of a table."""

    dialect: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


def dialect_of_file(file: str) -> str:
    """The dialect that a file's name ends with, as in `mini_dev_postgresql.json`; nothing where it names none."""
    words = re.split(r"[^A-Za-z0-9]+", Path(file).stem)
    last = canonical(words[-1]) if words else ""
    return last if is_known(last) else ""
