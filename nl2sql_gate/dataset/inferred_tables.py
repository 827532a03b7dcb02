"""Tables that come as CSV or Parquet files alone: their columns' types are declared in setup.yml, or what all cells allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nl2sql_gate.dataset.column_types import TEXT, ColumnType, converted, inferred, type_of
from nl2sql_gate.dataset.csv_cells import is_header
from nl2sql_gate.dataset.csv_rows import CsvFault, CsvRow, read_rows
from nl2sql_gate.dataset.problems import capped, did_you_mean
from nl2sql_gate.dataset.setup_options import SetupOptions
from nl2sql_gate.dataset.table_shapes import ColumnShape, TableShape, statements_for
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.dataset.translated_scripts import Translation
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Cell, Place, SetupStatement, TableData

Rows = tuple[tuple[Cell, ...], ...]


def infer_tables(files: Mapping[str, Path], *, options: SetupOptions, target: str) -> Translation:
    """The tables of the files, one a file, by name. Raises one `ProvisionError` for all that cannot be read."""
    wrong: list[str] = []
    shapes: list[TableShape] = []
    tables: list[TableData] = []
    for table, path in sorted(files.items()):
        declared = options.types.get(table.lower(), {})
        read = _parquet if path.suffix.lower() in {".parquet", ".pq"} else _csv
        try:
            columns, rows, line = read(path, declared)
        except CsvFault as fault:
            wrong.append(f"{path}:{fault.line}: {fault.message}")
            continue
        names = [column.name for column in columns]
        unknown = [name for name in declared if name not in {each.lower() for each in names}]
        wrong += [f"{path}: setup.yml declares {table}.{name}, which is not there{did_you_mean(name, names)}" for name in unknown]
        shapes.append(TableShape(table, columns=columns, primary_key=options.primary_keys.get(table.lower(), ())))
        tables.append(TableData(table, tuple(names), rows, Place(str(path), line)))
    if wrong:
        raise ProvisionError(
            f"{len(wrong)} fault{'s' if len(wrong) > 1 else ''} in the tables",
            where=capped(wrong),
            meaning="A database with rows missing or of another type would give wrong scores, so nothing was started.",
            next_step="Correct these files, or declare the column's type in setup.yml.",
        )
    before, _ = statements_for(shapes, target)
    place = Place(str(next(iter(files.values()))))
    setup = tuple(SetupStatement(sql, place) for sql in before)
    return Translation(setup, tuple(table for table in tables if table.rows), (), ())


def parquet_table(table: str, path: Path) -> TableData:
    """The rows of a Parquet file for a table that a setup script makes. Raises `ProvisionError`."""
    columns, rows, line = _parquet(path, {})
    return TableData(table, tuple(column.name for column in columns), rows, Place(str(path), line))


def _csv(path: Path, declared: Mapping[str, str]) -> tuple[list[ColumnShape], Rows, int]:
    text = read_text(path, error=ProvisionError, what=f"the data of table {path.stem}").removeprefix("\ufeff")
    rows = list(read_rows(text))
    if not rows or not is_header(rows[0], None):
        message = "the first row does not name the columns, and no setup script does"
        raise CsvFault(message, rows[0].line if rows else 1)
    header = [cell.strip() for cell in rows[0].cells]
    for row in rows[1:]:
        if len(row.cells) != len(header):
            raise CsvFault(f"{len(row.cells)} cells where the header has {len(header)}", row.line)
    cells = [_texts(row) for row in rows[1:]]
    types = [
        type_of(declared[name.lower()]) if name.lower() in declared else inferred(row[index] for row in cells)
        for index, name in enumerate(header)
    ]
    columns = [ColumnShape(name, wanted) for name, wanted in zip(header, types, strict=True)]
    values = tuple(_values(row, texts, columns) for row, texts in zip(rows[1:], cells, strict=True))
    return columns, values, rows[1].line if len(rows) > 1 else rows[0].line


def _texts(row: CsvRow) -> list[str | None]:
    """The cells; an empty one without quotes is NULL."""
    return [None if cell == "" and index not in row.quoted else cell for index, cell in enumerate(row.cells)]


def _values(row: CsvRow, texts: Sequence[str | None], columns: Sequence[ColumnShape]) -> tuple[Cell, ...]:
    cells = []
    for text, column in zip(texts, columns, strict=True):
        try:
            cells.append(converted(text, column.type))
        except ValueError as error:
            message = f"column {column.name}: {text!r} is no {column.type.kind}"
            raise CsvFault(message, row.line) from error
    return tuple(cells)


def _parquet(path: Path, declared: Mapping[str, str]) -> tuple[list[ColumnShape], Rows, int]:
    import duckdb

    try:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
            types = [type_of(declared.get(row[0].lower(), row[1])) for row in described]
            names = [row[0] for row in described]
            # What no dialect shares (lists, structs) is read as its text.
            listed = ", ".join(_selected(name, wanted) for name, wanted in zip(names, types, strict=True))
            rows = connection.execute(f"SELECT {listed} FROM read_parquet(?)", [str(path)]).fetchall()
    except duckdb.Error as error:
        raise ProvisionError(
            "a Parquet file cannot be read",
            where=[f"{path}: {' '.join(str(error).split())}"],
            meaning="The database cannot be built, so nothing was started.",
            next_step="Correct the file.",
        ) from error
    columns = [ColumnShape(name, wanted if wanted.kind else TEXT) for name, wanted in zip(names, types, strict=True)]
    return columns, tuple(rows), 1


def _selected(name: str, wanted: ColumnType) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return quoted if wanted.kind and wanted.kind not in {"timestamptz", "uuid", "text"} else f"CAST({quoted} AS VARCHAR)"
