"""Whether two results are equal, by the rules of execution accuracy; the kernel that scorers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nl2sql_gate.records import FREE_ORDER, ResultSet, Row, RowOrder
from nl2sql_gate.scorers.cell_equality import equal_cells
from nl2sql_gate.scorers.column_order import find_columns
from nl2sql_gate.scorers.row_matching import equal_multisets, equal_rows


def equal_results(golden: ResultSet, generated: ResultSet, *, order: RowOrder = FREE_ORDER, columns: str = "position") -> bool:
    """Whether `generated` is the same table as `golden`; names of columns never count.

    Rows are a multiset, in order where `order` says so: rows with equal keys may change places. `columns`: `position` (the same
    number in the same order, also without rows), `any_order` (the same columns in any order), `superset` (golden's columns in
    any order, others may be added). Raises `SearchLimitError` where look-alike columns cannot be told apart in time.
    """
    if len(golden.rows) != len(generated.rows):
        return False
    ours, theirs = len(golden.columns), len(generated.columns)
    if ours == theirs and equal_in_order(golden.rows, generated.rows, order):
        return True
    if columns == "position" or theirs < ours or (columns == "any_order" and ours != theirs):
        return False
    return matching_columns(golden.rows, generated.rows, order=order) is not None if golden.rows else True


def matching_columns(golden: Sequence[Row], generated: Sequence[Row], *, order: RowOrder) -> tuple[int, ...] | None:
    """For each golden column a generated column such that the rows are equal, or `None`. Equally many rows, at least one."""
    labels: list[int] | None = None
    if order.kind != "free":
        labels = [group for group, (start, stop) in enumerate(tie_groups(order, len(golden))) for _ in range(start, stop)]

    def check(choice: tuple[int, ...]) -> bool:
        return equal_in_order(golden, [tuple(row[c] for c in choice) for row in generated], order)

    return find_columns(golden, generated, labels=labels, check=check)


def equal_in_order(golden: Sequence[Row], generated: Sequence[Row], order: RowOrder) -> bool:
    """Whether rows are equal as a multiset or, for an ordered result, group by group of rows that tie."""
    if len(golden) != len(generated):
        return False
    if order.kind == "free":
        return equal_multisets(golden, generated)
    for start, stop in tie_groups(order, len(golden)):
        if stop - start == 1:
            if not equal_rows(golden[start], generated[start]):
                return False
        elif not equal_multisets(golden[start:stop], generated[start:stop]):
            return False
    return True


def tie_groups(order: RowOrder, rows: int) -> Iterator[tuple[int, int]]:
    """Runs of golden rows `(start, stop)` within which the order is free.

    Keys that differ only by the noise of binary floats tie. Without one key a row, each row stands alone.
    """
    if order.kind == "free":
        yield (0, rows)
        return
    keys = order.keys if order.kind == "keys" and len(order.keys) == rows else None
    start = 0
    for stop in range(1, rows + 1):
        if stop < rows and keys is not None and equal_rows(keys[stop - 1], keys[stop]):
            continue
        yield (start, stop)
        start = stop


__all__ = ["equal_cells", "equal_in_order", "equal_results", "matching_columns", "tie_groups"]
