"""How many cells of two results agree once their rows are paired in the best way, with the same number of columns on both sides.

Equal rows pair up first, which never costs anything: the number of unequal cells is a metric, so an equal pair and the pair of
the two others lose no cell against any other two pairs. Among what is left no pair can agree in more than all columns but one,
so a matching that pairs every row of the shorter side at that level is the best there is; it is looked for by hashing. Only
where it does not exist an assignment problem is solved, and where that would be too big, a lower and an upper bound are given.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.assignment import Pairs, best_pairs
from nl2sql_gate.scorers.cell_codes import CodedRow, coded_rows
from nl2sql_gate.scorers.row_matching import unequal_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Indices = NDArray[np.intp]


FEW = 20_000
"""Equal cells over all pairs of unmatched rows up to which a sparse method beats loading a numerical library."""
MAX_ASSIGNMENT = 4_000_000
"""Pairs of unmatched rows up to which the assignment problem is solved exactly: 2,000 rows on each side."""
MAX_COMPARED = 100_000_000
"""Pairs of unmatched rows up to which all are compared; beyond, only rows that differ in one cell find each other."""
MAX_PARTNERS = 16
"""Partners offered to a row for each column that may differ."""
BLOCK = 4_000_000
"""Pairs compared at a time, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class CellMatch:
    """Rows and cells that agree. `pairs` are unequal rows paired: (golden row, generated row, equal cells).

    `best` is a number of cells that no pairing exceeds: equal to `cells` unless the problem was too big to prove it.
    """

    equal_rows: int
    cells: int
    best: int
    pairs: tuple[tuple[Row, Row, int], ...] = ()

    @property
    def proven(self) -> bool:
        """Whether no other pairing of the rows agrees in more cells."""
        return self.cells >= self.best


def match_cells(golden: Sequence[Row], generated: Sequence[Row], *, close: bool, budget: int = MAX_ASSIGNMENT) -> CellMatch:
    """Pair the rows of two results, equally many cells in each row, so that as many cells as possible agree.

    Cells agree by Python's equality, arrays and documents by content; where `close`, by the rules of `cell_equality`, with
    numbers within the tolerance of a neighbour taken for one value. `budget` bounds the pairs of rows in an assignment problem.
    """
    left, right = unequal_rows(golden, generated)
    equal = len(golden) - len(left)
    width = len(golden[0]) if golden else 0
    if not left or not right or not width:
        return CellMatch(equal, equal * width, equal * width)
    ours, theirs = coded_rows(left, right, close=close)
    here, there = _leave_same_codes(ours, theirs)
    equal += len(left) - len(here)
    if not here or not there or width == 1:
        return CellMatch(equal, equal * width, equal * width)
    found, best = _pair([ours[i] for i in here], [theirs[j] for j in there], budget)
    pairs = tuple((left[here[i]], right[there[j]], agreeing) for i, j, agreeing in found)
    return CellMatch(equal, equal * width + sum(agreeing for _, _, agreeing in pairs), equal * width + best, pairs)


def _leave_same_codes(ours: list[CodedRow], theirs: list[CodedRow]) -> tuple[list[int], list[int]]:
    waiting: dict[CodedRow, list[int]] = {}
    for i, row in enumerate(ours):
        waiting.setdefault(row, []).append(i)
    right = []
    for j, row in enumerate(theirs):
        partners = waiting.get(row)
        if partners:
            partners.pop()
        else:
            right.append(j)
    return sorted(i for partners in waiting.values() for i in partners), right


def _pair(ours: list[CodedRow], theirs: list[CodedRow], budget: int) -> tuple[Pairs, int]:
    """Pairs of unequal rows with their equal cells, and an upper bound for the sum of these."""
    width = len(ours[0])
    if len(ours) == len(theirs) == 1:
        cells = sum(map(operator.eq, ours[0], theirs[0]))
        return [(0, 0, cells)], cells
    if len(ours) * width <= FEW and len(theirs) * width <= FEW and (pairs := _each_one_cell_apart(ours, theirs)):
        return pairs, len(pairs) * (width - 1)
    if _agreements(ours, theirs) <= FEW:
        pairs = best_pairs(_weights(ours, theirs))
        return pairs, sum(cells for _, _, cells in pairs)
    import numpy as np

    golden, generated = np.array(ours), np.array(theirs)
    shorter = min(len(ours), len(theirs))
    rows, columns = _one_cell_apart(golden, generated)
    pairs = [(i, j, width - 1) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    if len(pairs) == shorter:
        return pairs, shorter * (width - 1)
    if len(ours) * len(theirs) <= budget:
        return _assign(golden, generated)
    return _approximate(golden, generated, pairs)


def _each_one_cell_apart(ours: list[CodedRow], theirs: list[CodedRow]) -> Pairs:
    """A partner one cell apart for every row of the shorter side, where there is no choice; else nothing."""
    width, shorter = len(ours[0]), min(len(ours), len(theirs))
    pairs: dict[int, int] = {}
    for c in range(width):
        places: dict[CodedRow, int] = {row[:c] + row[c + 1 :]: j for j, row in enumerate(theirs)}
        for i, row in enumerate(ours):
            j = places.get(row[:c] + row[c + 1 :])
            if j is not None and pairs.setdefault(i, j) != j:
                return []
    if len(pairs) < shorter or len(set(pairs.values())) < len(pairs):
        return []
    return [(i, j, width - 1) for i, j in pairs.items()]


def _agreements(ours: list[CodedRow], theirs: list[CodedRow]) -> int:
    """How many cells of one side agree with a cell of the other in the same column, counted over all pairs of rows."""
    total = 0
    for one, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        there = Counter(other)
        total += sum(count * there[value] for value, count in Counter(one).items() if value in there)
    return total


def _weights(ours: list[CodedRow], theirs: list[CodedRow]) -> list[dict[int, int]]:
    weights: list[dict[int, int]] = [{} for _ in ours]
    for one, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        places: dict[int, list[int]] = {}
        for j, value in enumerate(other):
            places.setdefault(value, []).append(j)
        for i, value in enumerate(one):
            row = weights[i]
            for j in places.get(value, ()):
                row[j] = row.get(j, 0) + 1
    return weights


def _one_cell_apart(ours: Codes, theirs: Codes) -> tuple[Indices, Indices]:
    """A maximum matching among the rows that differ in exactly one cell."""
    import numpy as np

    width = ours.shape[1]
    i, j = _join(_without_each(ours), _without_each(theirs))
    i, j = i // width, j // width
    agreeing = np.count_nonzero(ours[i] == theirs[j], axis=1) == width - 1  # two fingerprints may clash
    i, j = i[agreeing], j[agreeing]
    if len(i) <= 1 or (len(set(i.tolist())) == len(i) and len(set(j.tolist())) == len(j)):
        return i, j
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    graph = csr_matrix((np.ones(len(i), dtype=np.int8), (i, j)), shape=(len(ours), len(theirs)))
    partner = maximum_bipartite_matching(graph, perm_type="column")
    matched = np.flatnonzero(partner >= 0)
    return matched, partner[matched]


def _without_each(codes: Codes) -> Words:
    """For each row and column a word that tells all other cells of the row; row by row."""
    import numpy as np

    shift, factor = np.uint64(32), np.uint64(0xD6E8FEB86659FD93)
    columns = np.arange(1, codes.shape[1] + 1, dtype=np.uint64) * factor
    words: Words = codes.astype(np.uint64) + columns
    for _ in range(2):
        words = (words ^ (words >> shift)) * factor
    words ^= words >> shift
    rest: Words = (words.sum(axis=1, dtype=np.uint64)[:, None] - words) ^ columns
    return rest.ravel()


def _join(ours: Words, theirs: Words) -> tuple[Indices, Indices]:
    """All pairs of indices with equal words; where many rows of both sides share one, only as many pairs as can matter."""
    import numpy as np

    order = np.argsort(theirs, kind="stable")
    there = theirs[order]
    first, last = np.searchsorted(there, ours, "left"), np.searchsorted(there, ours, "right")
    counts = np.minimum(last - first, MAX_PARTNERS)
    i = np.repeat(np.arange(len(ours)), counts)
    offsets = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)
    # Rows that share a word start at different partners, so that a cut list of partners still offers all of them.
    rank = np.repeat(_rank(ours), counts)
    span = np.repeat(last - first, counts)
    return i, order[np.repeat(first, counts) + (offsets + rank) % np.maximum(span, 1)]


def _rank(words: Words) -> Indices:
    """For each word how many equal ones stand before it."""
    import numpy as np

    order = np.argsort(words, kind="stable")
    ordered = words[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.empty(len(words), dtype=np.intp)
    rank[order] = np.arange(len(words)) - np.repeat(starts, np.diff(np.r_[starts, len(words)]))
    return rank


def _assign(ours: Codes, theirs: Codes) -> tuple[Pairs, int]:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    agreeing = _agreeing(ours, theirs)
    rows, columns = linear_sum_assignment(agreeing.astype(np.float64), maximize=True)
    pairs = [(int(i), int(j), int(agreeing[i, j])) for i, j in zip(rows, columns, strict=True) if agreeing[i, j]]
    return pairs, sum(cells for _, _, cells in pairs)


def _agreeing(ours: Codes, theirs: Codes) -> NDArray[np.uint16]:
    import numpy as np

    agreeing = np.zeros((len(ours), len(theirs)), dtype=np.uint16)
    for c in range(ours.shape[1]):
        agreeing += ours[:, c, None] == theirs[None, :, c]
    return agreeing


def _approximate(ours: Codes, theirs: Codes, pairs: Pairs) -> tuple[Pairs, int]:
    """Keep the pairs at the highest level, pair the rest greedily block by block, and bound what was lost from above."""
    import numpy as np

    best = _column_bound(ours, theirs)
    free = np.ones(len(theirs), dtype=bool)
    free[[j for _, j, _ in pairs]] = False
    taken = {i for i, _, _ in pairs}
    rest = np.array([i for i in range(len(ours)) if i not in taken], dtype=np.intp)
    if len(rest) * int(free.sum()) > MAX_COMPARED:
        return pairs, best
    step = max(1, BLOCK // len(theirs))
    found = list(pairs)
    for start in range(0, len(rest), step):
        block, there = rest[start : start + step], np.flatnonzero(free)
        if not len(there):
            break
        agreeing = _agreeing(ours[block], theirs[there])
        for i in range(len(block)):
            j = int(agreeing[i].argmax())
            if agreeing[i, j]:
                found.append((int(block[i]), int(there[j]), int(agreeing[i, j])))
                free[there[j]] = False
                agreeing[:, j] = 0
    return found, best


def _column_bound(ours: Codes, theirs: Codes) -> int:
    """No pairing agrees in more cells of a column than both sides have values in common there, nor in a whole row."""
    import numpy as np

    common = 0
    for c in range(ours.shape[1]):
        one, count = np.unique(ours[:, c], return_counts=True)
        other, there = np.unique(theirs[:, c], return_counts=True)
        _, i, j = np.intersect1d(one, other, assume_unique=True, return_indices=True)
        common += int(np.minimum(count[i], there[j]).sum())
    return min(common, min(len(ours), len(theirs)) * (int(ours.shape[1]) - 1))
