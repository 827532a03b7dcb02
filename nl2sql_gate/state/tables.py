"""The rows of one table at one moment, read when they are first asked for."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import uuid
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice
from typing import Any

from nl2sql_gate.records import Json, Row

MAX_ROWS = 200_000
"""Larger tables are compared by count and digest alone."""

_MODULUS = 2**127 - 1
_HASHABLE = frozenset({int, str, bytes, bool, type(None), float, Decimal, dt.date, dt.datetime, dt.time, dt.timedelta, uuid.UUID})
_PLAIN = frozenset({int, str, bytes, bool, type(None)})
FLOAT_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Content:
    """All rows of a table. `rows` is `None` beyond `MAX_ROWS`: then a digest that ignores their order stands for them."""

    count: int
    rows: tuple[Row, ...] | None
    digest: int = 0

    def counted(self) -> Counter[Hashable]:
        """How often each row stands in the table, in hashable form; empty beyond `MAX_ROWS`."""
        rows = self.rows or ()
        return Counter(rows if _countable(rows) else map(frozen_row, rows))


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
            self._counted = self.content.counted()
        return self._counted

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TableState):
            return NotImplemented
        if self.columns != other.columns or self.key != other.key:
            return False
        ours, theirs = self.content, other.content
        if ours.count != theirs.count or (ours.rows is None) != (theirs.rows is None):
            return False
        return ours.digest == theirs.digest if ours.rows is None else self.counted == other.counted

    def __hash__(self) -> int:
        return hash((self.columns, self.key))

    def __repr__(self) -> str:
        """Without reading the rows."""
        return f"TableState({', '.join(self.columns)})"


def content_of(rows: Iterable[Row]) -> Content:
    """Rows as they come, kept up to `MAX_ROWS`."""
    left = iter(rows)
    kept = tuple(islice(left, MAX_ROWS + 1))
    if len(kept) <= MAX_ROWS:
        return Content(len(kept), kept)
    count = digest = 0
    for row in chain(kept, left):
        count += 1
        digest = (digest + hash(tuple(map(_stable, frozen_row(row))))) % _MODULUS
    return Content(count, None, digest)


def _stable(cell: Hashable) -> int:
    """A hash that is the same in every process, and for equal numbers of whatever type."""
    if isinstance(cell, int | float | Decimal):
        return hash(cell)
    text = cell if isinstance(cell, bytes) else repr(cell).encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())


def _countable(rows: Sequence[Row]) -> bool:
    """Whether equal rows are equal as they stand; found out by columns, since one look at every cell would cost more."""
    kinds = set(map(type, chain.from_iterable(rows)))
    if not kinds <= _HASHABLE:
        return False
    if float not in kinds and Decimal not in kinds:
        return True
    # A sum is NaN where a cell is; infinities of both signs give one too, and then the slow way is taken for nothing.
    numbers = (sum(float(cell) for cell in column if isinstance(cell, float | Decimal)) for column in zip(*rows, strict=True))
    return not any(map(math.isnan, numbers))


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
