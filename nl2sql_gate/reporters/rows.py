"""Results as text: cells, small tables, and which rows one result has beyond another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nl2sql_gate.github.limits import shortened
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.records import Cell, Json, ResultSet, Row

MAX_COLUMNS = 12


def cell_text(cell: Cell) -> str:
    """One cell as people read it; NULL is `NULL`, text is itself."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"x'{bytes(cell).hex()}'"
    if isinstance(cell, Json):
        return json.dumps(cell.value, ensure_ascii=False, default=str)
    if isinstance(cell, list | tuple):
        return f"[{', '.join(map(cell_text, cell))}]"
    return _interval(cell) if isinstance(cell, timedelta) else str(cell)


@dataclass(frozen=True, slots=True)
class RowDifference:
    """Rows of golden's result that generated SQL did not return, and rows that it returned beyond them; each in result order."""

    missing: tuple[Row, ...]
    extra: tuple[Row, ...]


def row_difference(golden: ResultSet, generated: ResultSet) -> RowDifference:
    """The difference of two results as multisets of what their rows look like."""
    return RowDifference(_beyond(golden.rows, generated.rows), _beyond(generated.rows, golden.rows))


def text_table(columns: Sequence[str], rows: Iterable[Row], *, width: int, max_rows: int, total: int = 0) -> str:
    """An aligned table of at most `max_rows` rows; `total` is how many there were before anything was cut."""
    given = list(rows)
    shown = given[:max_rows]
    head = [one_line(name, width=width) for name in columns[:MAX_COLUMNS]]
    body = [[one_line(cell_text(cell), width=width) for cell in row[:MAX_COLUMNS]] for row in shown]
    if len(columns) > MAX_COLUMNS:
        head.append(f"… {len(columns) - MAX_COLUMNS} more")
        body = [[*row, "…"] for row in body]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=False)] if head else []
    lines = [_aligned(head, widths), _aligned(["-" * size for size in widths], widths)]
    lines += [_aligned(row, widths) for row in body]
    rest = max(total, len(given)) - len(shown)
    if rest > 0:
        lines.append(f"… {rest:,} more rows")
    elif not shown:
        lines.append("(no rows)")
    return "\n".join(lines)


def _beyond(rows: Sequence[Row], others: Sequence[Row]) -> tuple[Row, ...]:
    left = Counter(_look(row) for row in others)
    beyond = []
    for row in rows:
        look = _look(row)
        if left[look] > 0:
            left[look] -= 1
        else:
            beyond.append(row)
    return tuple(beyond)


def _look(row: Row) -> tuple[Any, ...]:
    return tuple(_number_look(cell) for cell in row)


def _number_look(cell: Cell) -> Any:
    # 1, 1.0 and Decimal("1.00") are the same to every scorer of ours: a difference in type alone is none to show.
    if isinstance(cell, int | float) or type(cell).__name__ == "Decimal":
        try:
            return "number", f"{float(cell):.9g}"
        except (OverflowError, ValueError):
            return "number", str(cell)
    return type(cell).__name__, cell_text(cell)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " | ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=False)).rstrip()


def _interval(cell: timedelta) -> str:
    seconds = cell.total_seconds()
    sign = "-" if seconds < 0 else ""
    whole = abs(cell)
    hours, rest = divmod(whole.seconds, 3600)
    text = f"{hours + 24 * whole.days:02d}:{rest // 60:02d}:{rest % 60:02d}"
    return shortened(f"{sign}{text}{f'.{whole.microseconds:06d}' if whole.microseconds else ''}", 40)
