"""Rows of tables from CSV and Parquet files, for tables that a setup script makes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nl2sql_gate.dataset.csv_cells import is_header, literal_cells, plain_cells
from nl2sql_gate.dataset.csv_rows import CsvFault, CsvRow, read_rows
from nl2sql_gate.dataset.inferred_tables import parquet_table
from nl2sql_gate.dataset.problems import capped
from nl2sql_gate.dataset.table_outlines import Outline, parents_first, table_key
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Place, TableData


def read_tables(files: Mapping[str, Path], *, dialect: str, known: Mapping[str, Outline]) -> tuple[TableData, ...]:
    """The rows of every file, tables that others refer to first.

    Raises one `ProvisionError` for all lines that cannot be read.
    """
    wrong: list[str] = []
    tables: dict[str, TableData] = {}
    readable = {table: _bits_as_text(outline) for table, outline in known.items()} if dialect == "postgres" else known
    for table, path in files.items():
        if path.suffix.lower() != ".csv":
            tables[table] = parquet_table(table, path)
            continue
        text = read_text(path, error=ProvisionError, what=f"the data of table {table}").removeprefix("\ufeff")
        try:
            tables[table] = _table(table, list(read_rows(text)), path=path, outline=readable.get(table_key(table)), wrong=wrong)
        except CsvFault as fault:
            wrong.append(f"{path}:{fault.line}: {fault.message}")
    if wrong:
        raise ProvisionError(
            f"{len(wrong)} line{'s' if len(wrong) > 1 else ''} of CSV cannot be read",
            where=capped(wrong),
            meaning="A database with rows missing or shifted would give wrong scores, so nothing was started.",
            next_step="Correct these lines. Without a header each cell is an SQL literal; with one, cells are plain values.",
        )
    return tuple(tables[table] for table in parents_first(list(tables), known))


def _bits_as_text(outline: Outline) -> Outline:
    """PostgreSQL's BIT is a string of bits, where others' is a truth value."""
    columns = {name: "" if declared.startswith("bit") else declared for name, declared in outline.columns.items()}
    return Outline(columns, outline.parents)


def _table(table: str, rows: list[CsvRow], *, path: Path, outline: Outline | None, wrong: list[str]) -> TableData:
    columns = outline.columns if outline is not None and outline.columns else None
    if not rows:
        return TableData(table, (), (), Place(str(path), 1))
    has_header = is_header(rows[0], columns)
    names = tuple(cell.strip() for cell in rows[0].cells) if has_header else ()
    types = [(columns or {}).get(name.lower(), "") for name in names] if has_header else list((columns or {}).values())
    convert = plain_cells if has_header else literal_cells
    data = rows[1:] if has_header else rows
    width = len(rows[0].cells)
    cells = []
    for row in data:
        if len(row.cells) != width:
            count = len(row.cells)
            wrong.append(f"{path}:{row.line}: {count} cell{'s' if count > 1 else ''} where line {rows[0].line} has {width}")
            continue
        try:
            cells.append(convert(row, types))
        except CsvFault as fault:
            wrong.append(f"{path}:{fault.line}: {fault.message}")
    return TableData(table, names, tuple(cells), Place(str(path), data[0].line if data else rows[0].line))
