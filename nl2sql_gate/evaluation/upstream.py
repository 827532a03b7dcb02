"""What SQLMorph's own program computes where it falls short of its description, for `compat="sqlmorph"`.

Only its numbers: where it crashes, the corrected rules answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_codes import encode_rows
from nl2sql_gate.scorers.column_pairing import THRESHOLD, Pairs
from nl2sql_gate.scorers.row_matching import unequal_rows


def greedy_cells(ground_truth: Sequence[Row], predicted: Sequence[Row]) -> tuple[int, int]:
    """Cells of equal rows, and of rows paired greedily: again and again the first pair that agrees in the most cells.

    The rows left over are sorted first where they can be, since that decides which of equally good pairs comes first.
    """
    left, right = unequal_rows(ground_truth, predicted)
    equal = len(ground_truth) - len(left)
    if not left or not right:
        return equal * (len(ground_truth[0]) if ground_truth else 0), 0
    for rows in (left, right):
        try:
            rows.sort()
        except TypeError:  # NULL beside a value, text beside a number: upstream stops here
            continue
    ours, theirs = encode_rows(left, right, close=False)
    agreeing = [[int((one == other).sum()) for other in theirs] for one in ours]
    ranked = sorted((-cells, i, j) for i, row in enumerate(agreeing) for j, cells in enumerate(row) if cells)
    used_left: set[int] = set()
    used_right: set[int] = set()
    partial = 0
    for cells, i, j in ranked:
        if i not in used_left and j not in used_right:
            used_left.add(i)
            used_right.add(j)
            partial -= cells
    return equal * len(ground_truth[0]), partial


def misread_pairs(matrix: Sequence[Sequence[float]]) -> Pairs:
    """Column pairs as upstream reads them off the assignment: its n-th pair is taken for the n-th predicted column's."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not matrix or not matrix[0]:
        return ()
    similar = np.asarray(matrix, dtype=np.float64)
    _, columns = linear_sum_assignment(similar, maximize=True)
    return tuple((int(i), j) for j, i in enumerate(columns) if similar[j, i] > THRESHOLD)


def misaligned(pairs: Pairs) -> tuple[list[int], list[int]]:
    """Upstream projects each side on its matched columns in its own order, so that reordered columns never meet."""
    return sorted({i for i, _ in pairs}), sorted({j for _, j in pairs})
