"""Cells as numbers: equal numbers for equal cells, over both sides of a comparison."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_equality import cell_key, close_numbers, is_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CodedRow = tuple[int, ...]


def encode_cells(cells: list[Any], *, close: bool) -> list[int]:
    """A number for each cell, equal for equal cells.

    Cells are equal by Python's equality, arrays and documents by content; where `close`, by the rules of `cell_equality`, with
    numbers within the tolerance of a neighbour taken for one value.
    """
    try:
        keys: dict[Hashable, int] = dict.fromkeys(cells, 0)
        plain = not close or (set(map(type, keys)) <= _PLAIN and all(key == key for key in keys))  # noqa: PLR0124 - NaN
    except TypeError:
        plain = False
    if not plain:
        cells = list(map(cell_key, cells))
        keys = dict.fromkeys(cells, 0)
    for code, key in enumerate(keys):
        keys[key] = code
    if close and any(type(key) is float for key in keys):
        join_close(keys)
    return list(map(keys.__getitem__, cells))


def join_close(keys: dict[Any, int]) -> None:
    """Give numbers within the tolerance of a neighbour the neighbour's code, where one of the two is a binary float."""
    numbers = [key for key in keys if type(key) in _NUMBERS]
    if any(type(key) is Decimal for key in keys):
        numbers = list(filter(is_number, keys))
    numbers.sort()
    for before, number in itertools.pairwise(numbers):
        if (type(before) is float or type(number) is float) and close_numbers(before, number):
            keys[number] = keys[before]


_NUMBERS = frozenset({int, float, bool})
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})


def coded_rows(golden: Sequence[Row], generated: Sequence[Row], *, close: bool) -> tuple[list[CodedRow], list[CodedRow]]:
    """Both sides with a number for each cell. Cells agree as in `encode_cells`."""
    codes = iter(encode_cells([cell for rows in (golden, generated) for row in rows for cell in row], close=close))
    # The same iterator as often as a row is wide cuts the codes into rows.
    rows = list(zip(*[codes] * len(golden[0]), strict=True))
    return rows[: len(golden)], rows[len(golden) :]


def encode_rows(golden: Sequence[Row], generated: Sequence[Row], *, close: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """As `coded_rows`, as matrices."""
    import numpy as np

    ours, theirs = coded_rows(golden, generated, close=close)
    return np.array(ours), np.array(theirs)
