"""CSV and Parquet files as documents: one object a row, its keys the names of the columns, its values text or plain JSON."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

from nl2sql_gate.dataset.csv_rows import CsvFault, read_rows
from nl2sql_gate.dataset.documents import Document, Oddity, unreadable
from nl2sql_gate.dataset.problems import capped, listed
from nl2sql_gate.errors import DatasetError


def read_csv(text: str, *, file: str, strict: bool) -> Document:
    """The rows under the header. A cell that goes on after its closing quote is read as most readers do, and is an oddity.

    Raises `DatasetError` with all rows that are longer or shorter than the header, and where `strict` with all oddities.
    """
    correct = "Correct the file: a cell with a comma, a quote or a line break stands in double quotes."
    forgiven: list[CsvFault] = []
    try:
        rows = list(read_rows(text.removeprefix("\ufeff"), forgiven=None if strict else forgiven))
    except CsvFault as fault:
        where = [f"{file}:{fault.line}: {fault.message}"]
        raise unreadable(file, kind="CSV", where=where, next_step=correct) from fault
    if not rows:
        return Document((), (), is_list=True)
    header = [cell.strip() for cell in rows[0].cells]
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        where = [f"{file}:{rows[0].line}: the header names {listed(repeated)} twice"]
        raise unreadable(file, kind="CSV with a header", where=where, next_step="Give every column a name of its own.")
    wrong = [
        f"{file}:{row.line}: {len(row.cells)} cells where the header has {len(header)}"
        for row in rows[1:]
        if len(row.cells) != len(header)
    ]
    if wrong:
        raise unreadable(file, kind="CSV", where=capped(wrong), next_step=correct)
    values = tuple(dict(zip(header, row.cells, strict=True)) for row in rows[1:])
    oddities = tuple(Oddity("csv_quote", fault.message, fault.line, 0) for fault in forgiven)
    return Document(values, tuple(row.line for row in rows[1:]), is_list=True, oddities=oddities)


def read_parquet(path: Path) -> Document:
    """The rows of a Parquet file in file order; `line` is the row's number. Raises `DatasetError`."""
    import duckdb

    if not path.is_file():
        raise DatasetError(
            "the dataset does not exist",
            where=[f"{path}: no such file"],
            meaning="Nothing was read and no model was called.",
            next_step="Correct the path; it is relative to the working directory.",
        )
    try:
        with duckdb.connect() as connection:
            found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
            names = [column[0] for column in found.description or []]
            rows = found.fetchall()
    except duckdb.Error as error:
        where = [f"{path}: {' '.join(str(error).split())}"]
        raise unreadable(str(path), kind="Parquet", where=where, next_step="Correct the file.") from error
    values = tuple({name: _plain(cell) for name, cell in zip(names, row, strict=True)} for row in rows)
    return Document(values, tuple(range(1, len(values) + 1)), is_list=True)


def _plain(cell: Any) -> Any:
    """A cell as JSON has it: what JSON cannot hold becomes text."""
    if isinstance(cell, list | tuple):
        return [_plain(each) for each in cell]
    if isinstance(cell, dict):
        return {str(key): _plain(value) for key, value in cell.items()}
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else str(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    return cell if cell is None or isinstance(cell, str | int | float | bool) else str(cell)
