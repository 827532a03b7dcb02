"""How many values two results share once their rows are paired in the best way, whatever their columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_codes import encode_cells
from nl2sql_gate.scorers.cell_matching import MAX_ASSIGNMENT
from nl2sql_gate.scorers.precision_recall import CellCounts

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Tokens = frozenset[Hashable]


def value_tokens(golden: Sequence[Row], generated: Sequence[Row]) -> tuple[list[Tokens], list[Tokens]]:
    """Each row as the multiset of its typed values: the second 5 of a row is another token than the first."""
    cells = [cell for rows in (golden, generated) for row in rows for cell in row]
    codes = iter(encode_cells(cells, close=True))

    def read(rows: Sequence[Row]) -> list[Tokens]:
        tokens = []
        for row in rows:
            seen: Counter[int] = Counter()
            found: set[Hashable] = set()
            for _ in row:
                code = next(codes)
                found.add((code, seen[code]))
                seen[code] += 1
            tokens.append(frozenset(found))
        return tokens

    return read(golden), read(generated)


def text_tokens(rows: Sequence[Row]) -> list[Tokens]:
    """Each row as the set of the texts of its values (SQLMorph's rule: NULL reads None, and repeats collapse)."""
    return [frozenset(map(str, row)) for row in rows]


def match_tokens(golden: Sequence[Tokens], generated: Sequence[Tokens]) -> CellCounts:
    """Tokens that rows share under the pairing of rows that shares the most.

    Rows of equal tokens pair up first, which never costs a token. The rest is an assignment problem, solved exactly up to
    `MAX_ASSIGNMENT` pairs; beyond, greedily, with `best` as the bound.
    """
    left, right = _leave_equal(golden, generated)
    equal = sum(map(len, golden)) - sum(map(len, left))
    matched, best = _assign(left, right) if left and right else (0, 0)
    return CellCounts(equal + matched, sum(map(len, generated)), sum(map(len, golden)), equal + best)


def match_tokens_greedily(golden: Sequence[Tokens], generated: Sequence[Tokens]) -> CellCounts:
    """As upstream pairs rows: equal tokens first, then again and again the pair of the greatest Jaccard similarity."""
    left, right = _leave_equal(golden, generated)
    matched = sum(map(len, golden)) - sum(map(len, left))
    scored = [(i, j, len(a & b), len(a | b)) for i, a in enumerate(left) for j, b in enumerate(right)]
    scored = sorted((entry for entry in scored if entry[2]), key=lambda entry: (-entry[2] / entry[3], entry[0], entry[1]))
    used_left: set[int] = set()
    used_right: set[int] = set()
    for i, j, shared, _ in scored:
        if i not in used_left and j not in used_right:
            used_left.add(i)
            used_right.add(j)
            matched += shared
    return CellCounts.exactly(matched, generated=sum(map(len, generated)), golden=sum(map(len, golden)))


def _leave_equal(golden: Sequence[Tokens], generated: Sequence[Tokens]) -> tuple[list[Tokens], list[Tokens]]:
    waiting = Counter(golden)
    right = []
    for tokens in generated:
        if waiting[tokens]:
            waiting[tokens] -= 1
        else:
            right.append(tokens)
    left = []
    for tokens in golden:
        if waiting[tokens]:
            waiting[tokens] -= 1
            left.append(tokens)
    return left, right


def _assign(golden: list[Tokens], generated: list[Tokens]) -> tuple[int, int]:
    """Shared tokens of the best pairing, and a bound that is the same unless there were too many rows."""
    if len(golden) * len(generated) > MAX_ASSIGNMENT:
        return _assign_rarest(golden, generated), _bound(golden, generated)
    from scipy.optimize import linear_sum_assignment

    numbers: dict[Hashable, int] = {}
    ours, theirs = (
        [[numbers.setdefault(token, len(numbers)) for token in tokens] for tokens in side] for side in (golden, generated)
    )
    shared = (_incidence(ours, len(numbers)) @ _incidence(theirs, len(numbers)).T).toarray()
    rows, columns = linear_sum_assignment(shared, maximize=True)
    total = int(shared[rows, columns].sum())
    return total, total


def _incidence(rows: list[list[int]], width: int) -> csr_matrix:
    import numpy as np
    from scipy.sparse import csr_matrix

    columns = [number for numbers in rows for number in numbers]
    starts = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.ones(len(columns), dtype=np.int64), columns, starts), shape=(len(rows), width))


def _assign_rarest(golden: list[Tokens], generated: list[Tokens]) -> int:
    """Pair each golden row with the free row that shares most with it, looked for among the rows that share a rare token."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for j, tokens in enumerate(generated):
        for token in tokens:
            places[token].append(j)
    used: set[int] = set()
    matched = 0
    for tokens in golden:
        candidates: Counter[int] = Counter()
        for token in sorted((t for t in tokens if t in places), key=lambda t: len(places[t])):
            if len(places[token]) > _COMMON and candidates:
                break
            candidates.update(j for j in places[token][:_COMMON] if j not in used)
        shared, partner = max(((len(tokens & generated[j]), -j) for j in candidates), default=(0, 0))
        if shared:
            used.add(-partner)
            matched += shared
    return matched


_COMMON = 500


def _bound(golden: list[Tokens], generated: list[Tokens]) -> int:
    ours = Counter(token for tokens in golden for token in tokens)
    theirs = Counter(token for tokens in generated for token in tokens)
    return (ours & theirs).total()
