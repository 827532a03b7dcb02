"""The rows of one table at one moment, read when they are first asked for."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nl2sql_gate.records import Json, Row

MAX_ROWS = 200_000
"""Larger tables are compared by count and digest alone."""

_MODULUS = 2**127 - 1
_PLAIN = frozenset({int, str, bytes, bool, type(None)})
FLOAT_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Content:
    """All rows as a multiset; `rows` is `None` for a table beyond `MAX_ROWS`, of which only count and digest are known."""

    count: int
    digest: int
    rows: tuple[Row, ...] | None


class TableState:
    """Columns, primary key and rows of one table or view. Two are equal when all three are."""

    __slots__ = ("_content", "_counted", "_load", "columns", "is_view", "key")

    def __init__(self, columns: Sequence[str], key: Sequence[str], load: Callable[[], Content], *, is_view: bool = False) -> None:
        self.columns = tuple(columns)
        self.key = tuple(key)
        self.is_view = is_view
        self._load = load
        self._content: Content | None = None
        self._counted: Counter[Hashable] | None = None

    @property
    def content(self) -> Content:
        """The rows, read now if they were not yet."""
        if self._content is None:
            self._content = self._load()
        return self._content

    @property
    def counted(self) -> Counter[Hashable]:
        """How often each row stands in the table, in hashable form; empty beyond `MAX_ROWS`."""
        if self._counted is None:
            self._counted = Counter(frozen_row(row) for row in self.content.rows or ())
        return self._counted

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TableState):
            return NotImplemented
        if self.columns != other.columns or self.key != other.key:
            return False
        ours, theirs = self.content, other.content
        return ours.count == theirs.count and ours.digest == theirs.digest

    def __hash__(self) -> int:
        return hash((self.columns, self.key))

    def __repr__(self) -> str:
        """Without reading the rows."""
        return f"TableState({', '.join(self.columns)})"


def content_of(rows: Iterable[Row]) -> Content:
    """Rows as they come, kept up to `MAX_ROWS`, with a digest that does not depend on their order."""
    kept: list[Row] | None = []
    count = digest = 0
    for row in rows:
        count += 1
        digest = (digest + hash(frozen_row(row))) % _MODULUS
        if kept is not None:
            kept.append(row)
            if count > MAX_ROWS:
                kept = None
    return Content(count, digest, None if kept is None else tuple(kept))


def frozen_row(row: Row) -> tuple[Hashable, ...]:
    """A row that can be counted: equal rows are equal in this form, NaN included."""
    return tuple([cell if cell.__class__ in _PLAIN else frozen_cell(cell) for cell in row])


def frozen_cell(cell: Any) -> Hashable:
    """A cell that can be counted."""
    if isinstance(cell, float):
        return "\0nan" if math.isnan(cell) else cell
    if isinstance(cell, Decimal):
        return "\0nan" if cell.is_nan() else cell
    if isinstance(cell, Json):
        return ("\0json", json.dumps(cell.value, sort_keys=True, default=str))
    if isinstance(cell, list | tuple):
        return tuple(map(frozen_cell, cell))
    if isinstance(cell, dict):
        return ("\0map", json.dumps(cell, sort_keys=True, default=str))
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell  # type: ignore[no-any-return]


def close(one: Hashable, other: Hashable) -> bool:
    """Whether two frozen cells are equal, floats up to the noise of their last digits."""
    if one == other:
        return True
    numbers = (int, float, Decimal)
    if isinstance(one, numbers) and isinstance(other, numbers) and (isinstance(one, float) or isinstance(other, float)):
        return math.isclose(float(one), float(other), rel_tol=FLOAT_TOLERANCE)
    return False
