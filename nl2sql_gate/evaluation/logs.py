"""The JSON log of one evaluation."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

from nl2sql_gate.records import Json


def write_log(context: Mapping[str, Any], folder: Path, stamp: str) -> Path:
    """Write `evaluation-<stamp>.json` into `folder`; a name that is taken gets a number, so that nothing is overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(context), indent=2, ensure_ascii=False)
    for number in itertools.count(1):
        path = folder / (f"evaluation-{stamp}.json" if number == 1 else f"evaluation-{stamp}-{number}.json")
        try:
            with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise AssertionError  # numbers do not end


def plain(value: Any) -> Any:
    """Anything in a context as JSON: enums by value, sets sorted, NaN and what JSON does not know as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)  # noqa: PLR0124 - NaN
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(part) for part in value), key=str)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Json):
        return plain(value.value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return plain(value.tolist()) if hasattr(value, "tolist") else str(value)
