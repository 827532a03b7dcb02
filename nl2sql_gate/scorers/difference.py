"""Why two results differ, in the words a reviewer needs: the smallest true statement first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nl2sql_gate.records import Cell, Json, Reason, ResultSet, Row, RowOrder
from nl2sql_gate.scorers.cell_codes import encode_cells
from nl2sql_gate.scorers.column_order import SearchLimitError
from nl2sql_gate.scorers.result_equality import matching_columns
from nl2sql_gate.scorers.row_matching import RowMatch, match_rows, row_keys

SHOWN_ROWS = 3
SHOWN_COLUMNS = 12
SHOWN_CHARACTERS = 120
DIFFERING_CELLS = 200_000
SEARCH_CELLS = 2_000_000
"""Cells beyond which such reasons are not searched for: a reason is a courtesy, the score is not."""


def describe_difference(golden: ResultSet, generated: ResultSet, *, order: RowOrder) -> Reason:
    """What differs between two results that are not equal.

    `detail` is plain JSON: counts of rows, names of columns, and the first rows missing and extra, cut to size.
    """
    same_width = len(golden.columns) == len(generated.columns)
    match = match_rows(golden.rows, generated.rows) if same_width else RowMatch(0, list(golden.rows), list(generated.rows))
    code, message, columns = (
        _row_reason(golden, generated, match, order) if same_width else _width_reason(golden, generated, order)
    )
    return Reason(code, message, _detail(golden, generated, match, columns))


def _width_reason(golden: ResultSet, generated: ResultSet, order: RowOrder) -> tuple[str, str, list[str]]:
    ours, theirs = len(golden.columns), len(generated.columns)
    if theirs > ours:
        chosen = _columns(golden.rows, generated.rows, order)
        if chosen is not None:
            names = [name for c, name in enumerate(generated.columns) if c not in chosen]
            return "extra_columns", f"only {_count(len(names), 'extra column')}: {_names(names)}", names
        return "column_count", f"{theirs} columns where golden has {ours}", []
    chosen = _columns(generated.rows, golden.rows, order)
    if chosen is not None:
        names = [name for c, name in enumerate(golden.columns) if c not in chosen]
        return "missing_columns", f"only {_count(len(names), 'column')} missing: {_names(names)}", names
    return "column_count", f"{theirs} columns where golden has {ours}", []


def _row_reason(golden: ResultSet, generated: ResultSet, match: RowMatch, order: RowOrder) -> tuple[str, str, list[str]]:
    missing, extra = len(match.missing), len(match.extra)
    if match.equal:
        return "row_order", "only the order of the rows", []
    if not generated.rows:
        return "empty", f"no rows where golden has {len(golden.rows)}", []
    if not golden.rows:
        return "not_empty", f"{_count(len(generated.rows), 'row')} where golden has none", []
    if not _new_rows(golden.rows, match.extra) and not _new_rows(generated.rows, match.missing):
        return "duplicates", f"only duplicates: {_both(missing, extra, 'too few', 'too many')}", []
    if missing == extra:
        # Where most rows are right as they stand, another order of the columns is not what is wrong.
        chosen = _columns(golden.rows, generated.rows, order) if match.matched <= missing else None
        if chosen is not None:
            names = [generated.columns[c] for c in chosen]
            return "column_order", f"only the order of the columns: golden's are {_names(names)} here", names
        columns = _differing_columns(match.missing, match.extra)
        if columns:
            names = [golden.columns[c] for c in columns]
            return "values", f"values differ in {_names(names)} in {_count(missing, 'row')} of {len(golden.rows)}", names
    if not extra:
        return "rows_missing", f"{_count(missing, 'row')} missing of {len(golden.rows)}", []
    if not missing:
        return "rows_extra", f"{_count(extra, 'extra row')} beside all {len(golden.rows)} of golden", []
    return "rows", f"{_both(missing, extra, 'missing', 'extra')}, {match.matched} of {len(golden.rows)} right", []


def _columns(golden: Sequence[Row], generated: Sequence[Row], order: RowOrder) -> tuple[int, ...] | None:
    """Golden's columns among the generated ones, where a choice of them makes the results equal."""
    if not golden and not generated:
        return None
    if len(golden) != len(generated) or len(golden) * (len(golden[0]) + len(generated[0])) > SEARCH_CELLS:
        return None
    if not _holds_values_of(golden[0], generated):
        return None
    try:
        return matching_columns(golden, generated, order=order)
    except SearchLimitError:
        return None


def _holds_values_of(wanted: Row, rows: Sequence[Row]) -> bool:
    """Whether some row has all texts and integers of `wanted` wherever they stand: without one no order of columns helps."""
    values = {cell for cell in wanted if isinstance(cell, str | int)}
    if not values:
        return True
    rarest = max(values, key=lambda value: len(str(value)))
    return any(rarest in row and all(value in row for value in values) for row in rows)


def _new_rows(rows: Sequence[Row], suspects: list[Row]) -> bool:
    """Whether any of `suspects` is a row that `rows` does not hold at all, tolerance aside."""
    try:
        if set(suspects) <= set(rows):
            return False
    except TypeError:  # arrays and documents do not hash
        pass
    if len(rows) * len(suspects[0] if suspects else ()) > DIFFERING_CELLS:
        return True
    keys, wanted = row_keys(rows, suspects)
    return not set(wanted) <= set(keys)


def _differing_columns(missing: list[Row], extra: list[Row]) -> list[int]:
    """The columns that must be left out for the unmatched rows to be equal; empty where rows differ beyond repair."""
    width = len(missing[0])
    if width == 1:
        return [0]
    if len(missing) * width > DIFFERING_CELLS:
        return []
    codes = encode_cells([cell for rows in (missing, extra) for row in rows for cell in row], close=True)
    size = len(missing) * width
    ours, theirs = ([part[c::width] for c in range(width)] for part in (codes[:size], codes[size:]))

    def rest_equal(left_out: set[int]) -> bool:
        kept = [c for c in range(width) if c not in left_out]
        one, other = (Counter(zip(*(side[c] for c in kept), strict=True)) for side in (ours, theirs))
        return one == other

    unequal = {c for c in range(width) if Counter(ours[c]) != Counter(theirs[c])}
    if len(unequal) == width:
        return []
    if unequal:
        return sorted(unequal) if rest_equal(unequal) else []
    return next(([c] for c in range(width) if rest_equal({c})), [])


def _detail(golden: ResultSet, generated: ResultSet, match: RowMatch, columns: list[str]) -> Mapping[str, Any]:
    return {
        "golden_rows": len(golden.rows),
        "generated_rows": len(generated.rows),
        "matched_rows": match.matched,
        "missing_rows": len(match.missing),
        "extra_rows": len(match.extra),
        "columns": columns[:SHOWN_COLUMNS],
        "golden_columns": list(golden.columns[:SHOWN_COLUMNS]),
        "generated_columns": list(generated.columns[:SHOWN_COLUMNS]),
        "missing": [shown_row(row) for row in match.missing[:SHOWN_ROWS]],
        "extra": [shown_row(row) for row in match.extra[:SHOWN_ROWS]],
    }


def shown_row(row: Row) -> list[Any]:
    """A row for a report: plain JSON, wide rows and long cells cut and marked with `…`."""
    cells = [shown_cell(cell) for cell in row[:SHOWN_COLUMNS]]
    return cells if len(row) <= SHOWN_COLUMNS else [*cells, "…"]


def shown_cell(cell: Cell) -> Any:
    """A cell for a report: NULL, booleans and small numbers as they are, all else as text."""
    if cell is None or isinstance(cell, bool) or (isinstance(cell, int) and abs(cell) < 2**53):
        return cell
    if isinstance(cell, float) and cell == cell and abs(cell) != float("inf"):  # noqa: PLR0124 - NaN is no JSON
        return cell
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"0x{bytes(cell[: SHOWN_CHARACTERS // 2]).hex()}" + ("…" if len(cell) > SHOWN_CHARACTERS // 2 else "")
    if isinstance(cell, str):
        text = cell[: SHOWN_CHARACTERS + 1]
    elif isinstance(cell, Json):
        text = repr(cell.value)
    else:
        text = str(cell)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _both(missing: int, extra: int, less: str, more: str) -> str:
    parts = [f"{_count(missing, 'row')} {less}"] if missing else []
    return " and ".join([*parts, f"{_count(extra, 'row')} {more}"] if extra else parts)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN_COLUMNS])
    return shown if len(names) <= SHOWN_COLUMNS else f"{shown}, … ({len(names)})"
