"""Pairs among rows that differ in binary floats only, by less than the tolerance."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_equality import (
    cell_key,
    close_numbers,
    close_to_neighbour,
    holds_float,
    skeleton,
    uuid_text_key,
)

MAX_DENSE = 2_000
"""Distinct rows in a group of near-equal rows beyond which pairs are taken in sorted order, not by a maximum matching."""

_HASHED = frozenset({type(None), bool, int, float, str, bytes, date, Decimal})
"""Kinds of cells that are equal by our rules, tolerance aside, exactly when Python says so; NaN excepted."""


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """What kinds of cells a column holds on either side: whether Python compares them right, any floats, any UUIDs."""

    plain: bool
    floats: bool
    uuids: bool


def column_kinds(golden: Sequence[Row], generated: Sequence[Row]) -> list[ColumnKinds] | None:
    """The kinds of each column of two sides that are equally wide; `None` where rows are not."""
    if len({len(row) for rows in (golden, generated) for row in rows}) != 1:
        return None
    found = []
    for ours, theirs in zip(zip(*golden, strict=True), zip(*generated, strict=True), strict=True):
        kinds = set(map(type, ours)) | set(map(type, theirs))
        plain = kinds <= _HASHED and not (kinds & {float, Decimal} and any(map(_is_nan, itertools.chain(ours, theirs))))
        floats = float in kinds or (not plain and any(map(holds_float, itertools.chain(ours, theirs))))
        found.append(ColumnKinds(plain, floats, UUID in kinds))
    return found


def _is_nan(cell: Any) -> bool:
    return bool(cell != cell)  # noqa: PLR0124 - only NaN differs from itself


def leave_close(missing: list[Row], extra: list[Row], kinds: Sequence[ColumnKinds]) -> tuple[list[Row], list[Row]]:
    """What is left of both sides once rows that differ in floats by less than the tolerance have paired up."""
    if not any(kind.floats for kind in kinds):
        return missing, extra
    (ours, alone_here), (theirs, alone_there) = _with_partners(missing, extra, kinds)
    groups: dict[Hashable, _Group] = defaultdict(_Group)
    for side, rows in enumerate((ours, theirs)):
        for row in rows:
            numbers: list[Any] = []
            key = tuple(
                skeleton(cell, numbers) if kind.floats else uuid_text_key(cell) if kind.uuids else cell_key(cell)
                for cell, kind in zip(row, kinds, strict=True)
            )
            groups[key].sides[side].append((tuple(numbers), row))
    for group in groups.values():
        left, right = _pair_close(*group.sides)
        alone_here += left
        alone_there += right
    return alone_here, alone_there


def _with_partners(
    missing: list[Row], extra: list[Row], kinds: Sequence[ColumnKinds]
) -> tuple[tuple[list[Row], list[Row]], tuple[list[Row], list[Row]]]:
    """Each side as the rows whose cells beside the floats stand on the other side too, and the rows that are alone in that."""
    exact = [c for c, kind in enumerate(kinds) if not kind.floats and kind.plain]
    if not exact:
        return (missing, []), (extra, [])
    part = operator.itemgetter(*exact)
    common = set(map(part, missing)) & set(map(part, extra))

    def parted(rows: list[Row]) -> tuple[list[Row], list[Row]]:
        return [row for row in rows if part(row) in common], [row for row in rows if part(row) not in common]

    return parted(missing), parted(extra)


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
    flow = maximum_flow([len(rows) for rows in golden.values()], [len(rows) for rows in generated.values()], edges)
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


def maximum_flow(supply: list[int], demand: list[int], edges: list[list[int]]) -> list[dict[int, int]]:
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
