"""A case as JSON for other programs and models: every cell with its type, so that nothing is lost or guessed."""

from __future__ import annotations

import base64
from datetime import date, datetime, time, timedelta
from typing import Any

from nl2sql_gate.records import Case, Cell, Execution, Json, RowOrder, Side, SqlError

MAX_ROWS = 10_000


def case_json(case: Case) -> dict[str, Any]:
    """The case as plain JSON; results beyond `MAX_ROWS` rows are cut, which `row_count` shows."""
    item = case.item
    return {
        "format": "nl2sql-gate/case/v1",
        "id": item.id,
        "question": item.question,
        "evidence": item.evidence,
        "database": item.database,
        "dialect": case.dialect,
        "query_type": case.query_type,
        "tags": list(item.tags),
        "columns": case.columns,
        "goldens": [_side(golden) for golden in case.goldens],
        "generated": _side(case.generated),
    }


def typed(cell: Cell) -> Any:
    """NULL, booleans, text, finite floats and integers within 2^53 as JSON has them; all else as `{"type", "value"}`."""
    if cell is None or isinstance(cell, bool | str):
        return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell
    if isinstance(cell, int):
        return cell if abs(cell) <= 2**53 else {"type": "integer", "value": str(cell)}
    if isinstance(cell, float):
        finite = cell == cell and abs(cell) != float("inf")  # noqa: PLR0124 - NaN
        return cell if finite else {"type": "float", "value": str(cell)}
    if isinstance(cell, list | tuple):
        return {"type": "array", "value": [typed(part) for part in cell]}
    if isinstance(cell, dict):
        return {"type": "struct", "value": {str(name): typed(part) for name, part in cell.items()}}
    if isinstance(cell, Json):
        return {"type": "json", "value": cell.value}
    return _named(cell)


def _named(cell: Cell) -> dict[str, str]:
    if isinstance(cell, bytes | bytearray | memoryview):
        return {"type": "bytes", "value": base64.b64encode(cell).decode()}
    if isinstance(cell, timedelta):
        return {"type": "interval", "value": f"{cell.total_seconds():.6f} s"}
    if isinstance(cell, datetime):
        return {"type": "timestamp", "value": cell.isoformat()}
    if isinstance(cell, date | time):
        return {"type": type(cell).__name__, "value": cell.isoformat()}
    return {"type": type(cell).__name__.lower(), "value": str(cell)}


def _side(side: Side) -> dict[str, Any]:
    return {
        "sql": side.sql,
        "result": _ran(side.result),
        "order": _order(side.order),
        "evals": [_ran(ran) for ran in side.evals],
        "elapsed_s": side.result.elapsed_s,
    }


def _ran(ran: Execution) -> dict[str, Any]:
    if isinstance(ran, SqlError):
        return {"error": ran.message, "code": ran.code}
    rows = [[typed(cell) for cell in row] for row in ran.rows[:MAX_ROWS]]
    return {"columns": list(ran.columns), "rows": rows, "row_count": len(ran.rows)}


def _order(order: RowOrder) -> str:
    return {"free": "any", "keys": "by keys, ties in any order", "strict": "as given"}[order.kind]
