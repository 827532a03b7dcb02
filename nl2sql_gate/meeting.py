"""Where results of two products meet: the same value in the type that one has and the other writes as text.

SQLite has no dates, JSON or booleans; it keeps their text and 0/1. When golden and generated SQL run on different products,
text that is exactly an ISO date, time or timestamp, or a JSON object or array, is read as one, on both sides and in any
column, so that every scorer compares values. Numbers meet in the scorers' own rules. Nothing is lower-cased or rounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

from nl2sql_gate.records import Cell, Execution, Json, ResultSet, RowOrder, Side

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?")
_TIME = re.compile(r"\d\d:\d\d:\d\d(?:\.\d{1,6})?")
_READERS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (_DATE, date.fromisoformat),
    (_MOMENT, datetime.fromisoformat),
    (_TIME, time.fromisoformat),
)
LONGEST = 40
"""Longer text is no date."""


def met_side(side: Side) -> Side:
    """`side` with its results as values."""
    return replace(
        side,
        result=met(side.result),
        evals=tuple(_met_execution(result) for result in side.evals),
        evals_before=tuple(_met_execution(result) for result in side.evals_before),
        order=_met_order(side.order),
        eval_orders=tuple(_met_order(order) for order in side.eval_orders),
    )


def met(result: ResultSet) -> ResultSet:
    """`result` with text read as the value that it writes."""
    return replace(result, rows=tuple(tuple(map(met_cell, row)) for row in result.rows))


def met_cell(cell: Cell) -> Cell:
    """The value that a text cell writes, where it is one; any other cell as it is."""
    if not isinstance(cell, str) or not cell:
        return cell
    if cell[0] in "{[":
        return _document(cell)
    if len(cell) <= LONGEST and cell[0].isdigit():
        for pattern, read in _READERS:
            if pattern.fullmatch(cell):
                return _read(cell, read)
    return cell


def _read(text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except ValueError:
        return text


def _document(text: str) -> Any:
    try:
        return Json(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _met_execution(result: Execution) -> Execution:
    return met(result) if isinstance(result, ResultSet) else result


def _met_order(order: RowOrder) -> RowOrder:
    return replace(order, keys=tuple(tuple(map(met_cell, row)) for row in order.keys)) if order.keys else order
