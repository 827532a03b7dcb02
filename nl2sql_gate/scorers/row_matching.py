"""Which rows of two results are the same, as multisets: by hashing and counting, in time linear in the rows.

Rows that are equal as they stand pair up first. What is left is read by the rules of `cell_equality`, and last,
rows whose binary floats lie within the tolerance pair up by a maximum matching.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from uuid import UUID

from nl2sql_gate.records import Row
from nl2sql_gate.scorers.cell_equality import (
    cell_key,
    equal_cells,
    uuid_text_key,
)
from nl2sql_gate.scorers.near_rows import column_kinds, leave_close, maximum_flow

MAX_SMALL = 128
"""Pairs of unmatched rows up to which they are compared one by one, which is faster than preparing to do better."""


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
            missing, extra = _leave_by_rule(missing, extra)
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


def _leave_by_rule(missing: list[Row], extra: list[Row]) -> tuple[list[Row], list[Row]]:
    kinds = column_kinds(missing, extra)
    if kinds is None or not all(kind.plain for kind in kinds):
        missing, extra = _leave_same_keys(missing, extra)
    return leave_close(missing, extra, kinds) if missing and extra and kinds is not None else (missing, extra)


def _leave_alike(missing: list[Row], extra: list[Row]) -> tuple[list[Row], list[Row]]:
    edges = [[j for j, other in enumerate(extra) if equal_rows(row, other)] for row in missing]
    if not any(edges):
        return missing, extra
    flow = maximum_flow([1] * len(missing), [1] * len(extra), edges)
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
