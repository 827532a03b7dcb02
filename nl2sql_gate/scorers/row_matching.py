"""Which rows of two results are the same, as multisets: by hashing and counting, in time linear in the rows.

Rows that are equal as they stand pair up first. What is left is read by the rules of `cell_equality`, and last,
rows whose binary floats lie within the tolerance pair up by a maximum matching.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_equality import (
    cell_key,
    close_numbers,
    close_to_neighbour,
    equal_cells,
    holds_float,
    skeleton,
    uuid_text_key,
)

MAX_SMALL = 128
"""Pairs of unmatched rows up to which they are compared one by one, which is faster than preparing to do better."""
MAX_DENSE = 2_000
"""Distinct rows in a group of near-equal rows beyond which pairs are taken in sorted order, not by a maximum matching."""


@dataclass(frozen=True, slots=True)
class RowMatch:
    """How many rows pair up, and the rows that do not: `missing` of the golden result, `extra` of the generated one."""

    matched: int
    missing: list[Row]
    extra: list[Row]

    @property
    def equal(self) -> bool:
        """Whether every row has its partner."""
        return not self.missing and not self.extra


def match_rows(golden: Sequence[Row], generated: Sequence[Row]) -> RowMatch:
    """Pair the rows of two results as multisets, columns by position."""
    missing, extra = unequal_rows(golden, generated)
    if missing and extra:
        if len(missing) * len(extra) <= MAX_SMALL:
            missing, extra = _leave_alike(missing, extra)
        else:
            missing, extra = _leave_close(*_leave_same_keys(missing, extra))
    return RowMatch(len(golden) - len(missing), missing, extra)


def equal_multisets(golden: Sequence[Row], generated: Sequence[Row]) -> bool:
    """Whether all rows of two results pair up."""
    if len(golden) != len(generated):
        return False
    missing, extra = unequal_rows(golden, generated)
    if not missing:
        return True
    # One row without any partner settles it, and is found long before all others have theirs.
    if not any(equal_rows(missing[0], other) for other in extra):
        return False
    return match_rows(missing, extra).equal


def unequal_rows(golden: Sequence[Row], generated: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What is left on each side once rows that are equal for Python have paired up as multisets."""
    counts: dict[Row, int] = {}
    extra = []
    try:
        for row in golden:
            counts[row] = counts.get(row, 0) + 1
        for row in generated:
            count = counts.get(row, 0)
            if count:
                counts[row] = count - 1
            else:
                extra.append(row)
    except TypeError:  # arrays and documents do not hash
        return list(golden), list(generated)
    if len(generated) - len(extra) == len(golden):
        return [], extra
    return [row for row, count in counts.items() if count for _ in range(count)], extra


def equal_rows(golden: Row, generated: Row) -> bool:
    """Whether two rows hold the same values, column by column."""
    return len(golden) == len(generated) and all(map(equal_cells, golden, generated))


def row_keys(golden: Sequence[Row], generated: Sequence[Row]) -> tuple[list[Hashable], list[Hashable]]:
    """One hashable key a row and side: equal for rows that are equal without tolerance."""
    widths = {len(row) for rows in (golden, generated) for row in rows}
    if len(widths) != 1:
        return _plain_keys(golden), _plain_keys(generated)
    width = widths.pop()
    uuids = {c for rows in (golden, generated) for row in rows for c in range(width) if isinstance(row[c], UUID)}
    if not uuids:
        return _plain_keys(golden), _plain_keys(generated)
    readers = [uuid_text_key if c in uuids else cell_key for c in range(width)]

    def read(rows: Sequence[Row]) -> list[Hashable]:
        return [tuple(reader(cell) for reader, cell in zip(readers, row, strict=True)) for row in rows]

    return read(golden), read(generated)


def _plain_keys(rows: Sequence[Row]) -> list[Hashable]:
    return [tuple(map(cell_key, row)) for row in rows]


def _leave_alike(missing: list[Row], extra: list[Row]) -> tuple[list[Row], list[Row]]:
    edges = [[j for j, other in enumerate(extra) if equal_rows(row, other)] for row in missing]
    if not any(edges):
        return missing, extra
    flow = _maximum_flow([1] * len(missing), [1] * len(extra), edges)
    taken = {j for outgoing in flow for j, amount in outgoing.items() if amount}
    left = [row for row, outgoing in zip(missing, flow, strict=True) if not any(outgoing.values())]
    return left, [row for j, row in enumerate(extra) if j not in taken]


def _leave_same_keys(missing: list[Row], extra: list[Row]) -> tuple[list[Row], list[Row]]:
    golden_keys, generated_keys = row_keys(missing, extra)
    waiting: dict[Hashable, list[Row]] = defaultdict(list)
    for key, row in zip(golden_keys, missing, strict=True):
        waiting[key].append(row)
    rest = []
    for key, row in zip(generated_keys, extra, strict=True):
        partners = waiting.get(key)
        if partners:
            partners.pop()
        else:
            rest.append(row)
    return [row for rows in waiting.values() for row in rows], rest


def _leave_close(missing: list[Row], extra: list[Row]) -> tuple[list[Row], list[Row]]:
    """Pair rows that differ in binary floats only, by less than the tolerance."""
    if not missing or not extra:
        return missing, extra
    width = len(missing[0])
    if any(len(row) != width for rows in (missing, extra) for row in rows):
        return missing, extra
    floats = [any(holds_float(row[c]) for rows in (missing, extra) for row in rows) for c in range(width)]
    if not any(floats):
        return missing, extra
    uuids = [any(isinstance(row[c], UUID) for rows in (missing, extra) for row in rows) for c in range(width)]
    groups: dict[Hashable, _Group] = defaultdict(_Group)
    for side, rows in enumerate((missing, extra)):
        for row in rows:
            numbers: list[Any] = []
            key = tuple(
                skeleton(cell, numbers) if is_float else uuid_text_key(cell) if is_uuid else cell_key(cell)
                for cell, is_float, is_uuid in zip(row, floats, uuids, strict=True)
            )
            groups[key].sides[side].append((tuple(numbers), row))
    rest: tuple[list[Row], list[Row]] = ([], [])
    for group in groups.values():
        for side, rows in enumerate(_pair_close(*group.sides)):
            rest[side].extend(rows)
    return rest


Vector = tuple[tuple[Any, ...], Row]


class _Group:
    """Rows of both sides that agree but for their numbers."""

    __slots__ = ("sides",)

    def __init__(self) -> None:
        self.sides: tuple[list[Vector], list[Vector]] = ([], [])


def _pair_close(golden: list[Vector], generated: list[Vector]) -> tuple[list[Row], list[Row]]:
    missing: list[Row] = []
    extra: list[Row] = []
    pending = [(golden, generated, 0, 0)]
    while pending:
        ours, theirs, dimension, settled = pending.pop()
        if not ours or not theirs:
            missing += [row for _, row in ours]
            extra += [row for _, row in theirs]
            continue
        dimensions = len(ours[0][0])
        if settled == dimensions:
            left, right = _match_component(ours, theirs)
            missing += left
            extra += right
            continue
        parts = _split(ours, theirs, dimension)
        settled = settled + 1 if len(parts) == 1 else 1
        pending += [(one, other, (dimension + 1) % dimensions, settled) for one, other in parts]
    return missing, extra


def _split(ours: list[Vector], theirs: list[Vector], dimension: int) -> list[tuple[list[Vector], list[Vector]]]:
    """Cut both sides wherever two neighbouring values of one dimension lie further apart than the tolerance."""
    line = sorted(
        [(vector[0][dimension], 0, vector) for vector in ours] + [(vector[0][dimension], 1, vector) for vector in theirs],
        key=lambda entry: entry[0],
    )
    parts: list[tuple[list[Vector], list[Vector]]] = [([], [])]
    before = line[0][0]
    for value, side, vector in line:
        if not close_to_neighbour(before, value):
            parts.append(([], []))
        parts[-1][side].append(vector)
        before = value
    return parts


def _match_component(ours: list[Vector], theirs: list[Vector]) -> tuple[list[Row], list[Row]]:
    golden, generated = _counted(ours), _counted(theirs)
    if len(golden) > MAX_DENSE or len(generated) > MAX_DENSE:
        return _match_in_order(ours, theirs)
    edges = [[j for j, (other, _) in enumerate(generated) if all(map(close_numbers, one, other))] for one, _ in golden]
    flow = _maximum_flow([len(rows) for rows in golden.values()], [len(rows) for rows in generated.values()], edges)
    taken = [0] * len(generated)
    missing: list[Row] = []
    for rows, outgoing in zip(golden.values(), flow, strict=True):
        missing += rows[sum(outgoing.values()) :]
        for j, amount in outgoing.items():
            taken[j] += amount
    return missing, [row for rows, count in zip(generated.values(), taken, strict=True) for row in rows[count:]]


def _counted(vectors: list[Vector]) -> dict[tuple[tuple[Any, ...], tuple[type, ...]], list[Row]]:
    """Rows by their numbers and the kinds of these: 1 and 1.0 are equal, yet only the float has a tolerance."""
    counted: dict[tuple[tuple[Any, ...], tuple[type, ...]], list[Row]] = defaultdict(list)
    for numbers, row in vectors:
        counted[numbers, tuple(map(type, numbers))].append(row)
    return counted


def _maximum_flow(supply: list[int], demand: list[int], edges: list[list[int]]) -> list[dict[int, int]]:
    """A maximum flow from golden to generated vectors; only pairs in `edges` may pair up."""
    flow: list[dict[int, int]] = [{} for _ in supply]
    free = list(demand)
    for i, available in enumerate(supply):
        need = available
        for j in edges[i]:
            amount = min(need, free[j])
            if amount:
                flow[i][j] = flow[i].get(j, 0) + amount
                free[j] -= amount
                need -= amount
        while need and (path := _augmenting_path(i, flow, free, edges)):
            amount = min([need, free[path[-1][1]], *(flow[a][b] for (_, b), (a, _) in itertools.pairwise(path))])
            for (source, j), after in zip(path, [*path[1:], None], strict=True):
                flow[source][j] = flow[source].get(j, 0) + amount
                if after is not None:
                    flow[after[0]][j] -= amount
            free[path[-1][1]] -= amount
            need -= amount
    return flow


def _augmenting_path(start: int, flow: list[dict[int, int]], free: list[int], edges: list[list[int]]) -> list[tuple[int, int]]:
    """A path golden → generated → golden → … → generated with room left, as its forward steps; empty where there is none."""
    came: dict[int, tuple[int, int] | None] = {start: None}
    queue = [start]
    for i in queue:
        for j in edges[i]:
            if free[j]:
                path = [(i, j)]
                step = came[i]
                while step is not None:
                    path.append(step)
                    step = came[step[0]]
                return path[::-1]
            for a, carried in enumerate(flow):
                if a not in came and carried.get(j):
                    came[a] = (i, j)
                    queue.append(a)
    return []


def _match_in_order(ours: list[Vector], theirs: list[Vector]) -> tuple[list[Row], list[Row]]:
    """Pair two long runs of near-equal rows in sorted order: right for one number a row, a lower bound for several."""
    ours.sort(key=lambda vector: vector[0])
    theirs.sort(key=lambda vector: vector[0])
    missing: list[Row] = []
    extra: list[Row] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if all(map(close_numbers, ours[i][0], theirs[j][0])):
            i, j = i + 1, j + 1
        elif ours[i][0] < theirs[j][0]:
            missing.append(ours[i][1])
            i += 1
        else:
            extra.append(theirs[j][1])
            j += 1
    return missing + [row for _, row in ours[i:]], extra + [row for _, row in theirs[j:]]
