"""CSV files as EvalBench reads them: no header, every cell an SQL literal."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

Cell = None | bool | int | Decimal | str | date | datetime | dict[str, object]


def literal(cell: Cell) -> str:
    """The SQL literal of one cell: text and dates in single quotes, numbers and booleans bare."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | Decimal):
        return str(cell)
    if isinstance(cell, datetime):
        text = cell.strftime("%Y-%m-%d %H:%M:%S")
    elif isinstance(cell, date):
        text = cell.isoformat()
    elif isinstance(cell, dict):
        text = json.dumps(cell, ensure_ascii=False)
    else:
        text = cell
    return "'" + text.replace("'", "''") + "'"


def write_table(path: Path, rows: Iterable[Sequence[Cell]]) -> int:
    """Write the rows of one table to `path`; returns how many there are."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow([literal(cell) for cell in row])
            count += 1
    return count
