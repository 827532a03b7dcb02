"""Whether one result is another with its columns reordered, or with columns added; exact, and never by trying all orders.

Equal numbers of columns: columns and rows are told apart by refinement (what a row holds tells its columns apart, and the other
way round) until nothing changes; columns that still look alike are tried one by one. Every answer "yes" is checked on the rows
themselves, every answer "no" is a proven difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_codes import encode_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.uint64]

MAX_STEPS = 20_000
"""Columns tried before a search gives up; real results need a few more steps than they have columns."""

Check = Callable[[tuple[int, ...]], bool]


class SearchLimitError(Exception):
    """The columns look so much alike that `MAX_STEPS` did not decide; not seen on results that were not made for it."""


def find_columns(
    golden: Sequence[Row], generated: Sequence[Row], *, labels: Sequence[int] | None, check: Check, close: bool = True
) -> tuple[int, ...] | None:
    """For each golden column the generated column that takes its place, or `None` where no choice makes the rows equal.

    Both sides have the same number of rows, at least one; the generated side has at least as many columns. `labels`, one a row
    and the same for both sides, hold rows to their group in an ordered result. `check` says whether a choice makes the results
    equal; it is asked only about choices that survive every cheaper test. `close` joins numbers within the tolerance.
    Raises `SearchLimitError`.
    """
    ours, theirs = _encode(golden, generated, close=close)
    tags = _tags(labels, len(golden))
    if len(golden[0]) == len(generated[0]):
        return _permutation(_Colouring(ours, tags), _Colouring(theirs, tags), check, itertools.count())
    return _injection(ours, theirs, tags, check)


def _encode(golden: Sequence[Row], generated: Sequence[Row], *, close: bool) -> tuple[Codes, Codes]:
    """Both results as matrices of well-mixed 64-bit codes, equal where cells are (or may be) equal."""
    import numpy as np

    cells = list(itertools.chain(itertools.chain.from_iterable(golden), itertools.chain.from_iterable(generated)))
    codes = _mix(np.array(encode_cells(cells, close=close), dtype=np.uint64))
    size = len(golden) * len(golden[0])
    return codes[:size].reshape(len(golden), -1), codes[size:].reshape(len(generated), -1)


def _tags(labels: Sequence[int] | None, rows: int) -> Codes:
    import numpy as np

    return _mix(np.zeros(rows, dtype=np.uint64) if labels is None else np.asarray(labels, dtype=np.uint64))


def _mix(values: Codes) -> Codes:
    """Spread the bits of 64-bit words (a bijection, so nothing is joined)."""
    import numpy as np

    values = (values ^ (values >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    values = (values ^ (values >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (values ^ (values >> np.uint64(32))) + np.uint64(0x632BE59BD9B4E019)


class _Colouring:
    """A matrix of codes with a colour for each column, which refinement makes as different as the rows allow."""

    def __init__(self, codes: Codes, tags: Codes, colours: Codes | None = None) -> None:
        import numpy as np

        self.codes = codes
        self.tags = tags
        self.colours = _mix(np.zeros(codes.shape[1], dtype=np.uint64)) if colours is None else colours

    def refine(self) -> None:
        """One round: colour the rows by their cells and columns, then the columns by their cells and rows."""
        # A sum of products over 64-bit words is a fingerprint of the multiset of pairs; a clash could only hide a difference
        # for a while, since the rows themselves are compared at the end.
        rows = _mix(self.codes @ self.colours + self.tags)
        self.colours = _mix(rows @ self.codes + self.colours)

    def with_colour(self, column: int, colour: np.uint64) -> _Colouring:
        """A copy in which one column is told apart from all others."""
        colours = self.colours.copy()
        colours[column] = colour
        return _Colouring(self.codes, self.tags, colours)


def _permutation(ours: _Colouring, theirs: _Colouring, check: Check, steps: itertools.count[int]) -> tuple[int, ...] | None:
    import numpy as np

    if next(steps) > MAX_STEPS:
        raise SearchLimitError
    kinds = 0
    while True:
        ours.refine()
        theirs.refine()
        golden = np.sort(ours.colours)
        if not np.array_equal(golden, np.sort(theirs.colours)):
            return None
        found = 1 + int(np.count_nonzero(golden[1:] != golden[:-1]))
        if found == kinds or found == len(golden):
            break
        kinds = found
    if found == len(golden):
        choice = np.argsort(theirs.colours)[np.argsort(np.argsort(ours.colours))]
        columns = tuple(choice.tolist())
        return columns if check(columns) else None
    colour = golden[1:][golden[1:] == golden[:-1]][0]
    column = int(np.flatnonzero(ours.colours == colour)[0])
    mark = _mix(np.asarray([len(golden) + found], dtype=np.uint64))[0]
    tried = set()
    for candidate in np.flatnonzero(theirs.colours == colour).tolist():
        content = theirs.codes[:, candidate].tobytes()
        if content in tried:  # columns of the same content stand for each other
            continue
        tried.add(content)
        columns_found = _permutation(ours.with_colour(column, mark), theirs.with_colour(candidate, mark), check, steps)
        if columns_found is not None:
            return columns_found
    return None


def _injection(ours: Codes, theirs: Codes, tags: Codes, check: Check) -> tuple[int, ...] | None:
    """Choose generated columns one golden column at a time; a choice stands while the rows built so far are the same multiset."""
    import numpy as np

    profiles = [np.sort(_mix(theirs[:, c] + tags)).tobytes() for c in range(theirs.shape[1])]
    candidates = []
    for c in range(ours.shape[1]):
        profile = np.sort(_mix(ours[:, c] + tags)).tobytes()
        candidates.append([j for j, other in enumerate(profiles) if other == profile])
    order = sorted(range(ours.shape[1]), key=lambda c: len(candidates[c]))
    chosen: dict[int, int] = {}
    steps = itertools.count()

    def extend(depth: int, golden: Codes, generated: Codes) -> bool:
        if depth == len(order):
            return check(tuple(chosen[c] for c in range(len(order))))
        column = order[depth]
        golden = _mix(golden + ours[:, column])
        target = np.sort(golden)
        tried = set()
        for j in candidates[column]:
            content = theirs[:, j].tobytes()
            if j in chosen.values() or content in tried:
                continue
            tried.add(content)
            if next(steps) > MAX_STEPS:
                raise SearchLimitError
            rows = _mix(generated + theirs[:, j])
            if np.array_equal(target, np.sort(rows)):
                chosen[column] = j
                if extend(depth + 1, golden, rows):
                    return True
                del chosen[column]
        return False

    return tuple(chosen[c] for c in range(len(order))) if extend(0, tags, tags) else None
