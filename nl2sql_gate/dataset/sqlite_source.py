"""SQLite files as sources: the file as it is for SQLite, its tables and rows for every other dialect."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from nl2sql_gate.dataset.column_types import TEXT, ColumnType, inferred, type_of
from nl2sql_gate.dataset.table_shapes import ColumnShape, ForeignKey, TableShape, statements_for, usable_keys
from nl2sql_gate.dataset.translated_scripts import Translation
from nl2sql_gate.errors import ProvisionError
from nl2sql_gate.records import Cell, Place, SetupStatement, TableData

_MAGIC = b"SQLite format 3\x00"
_CHUNK = 1 << 20
_INTEGERS = frozenset({"smallint", "integer", "bigint"})
_REALS = frozenset({"real", "double", "decimal", "money"})
_TIMES = frozenset({"date", "timestamp", "timestamptz"})
_TEXTS = frozenset({"varchar", "char", "text", ""})


def file_digest(path: Path) -> str:
    """sha256 over the file. Raises `ProvisionError` where it is no SQLite file, or where rows lie in a log beside it."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
            digest.update(head)
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        log = path.with_name(f"{path.name}-wal")
        is_open = log.is_file() and log.stat().st_size > 0
    except OSError as error:
        raise _unusable(path, error.strerror or str(error), "Point at a file that this user may read.") from error
    if head != _MAGIC:
        raise _unusable(path, "it does not begin as a SQLite file does", "Give a SQLite 3 file, or SQL that builds the database.")
    if is_open:
        next_step = f"Close what has it open, or run: sqlite3 {path.name} 'PRAGMA wal_checkpoint(TRUNCATE)'"
        raise _unusable(path, f"rows that are not in it yet lie in {log.name}", next_step)
    return digest.hexdigest()


def translate_file(path: Path, *, target: str) -> Translation:
    """The tables of a SQLite file for another dialect, columns typed by what they hold.

    SQLite keeps any value in any column: a column declared as a number that holds a text becomes text. Views and triggers are
    left out, with a warning; so are foreign keys that the rows break. Raises `ProvisionError`.
    """
    place = Place(str(path))
    left_out: list[str] = []
    try:
        with _opened(path) as connection:
            found = connection.execute(
                "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'"
            ).fetchall()
            names = [name for kind, name in found if kind == "table"]
            left_out += [f"{kind} {name} of {path.name}" for kind, name in found if kind in {"view", "trigger"}]
            shapes, tables = [], []
            for name in names:
                shape, rows = _table(connection, name, left_out)
                shapes.append(shape)
                tables.append(TableData(shape.label(target), tuple(column.name for column in shape.columns), rows, place))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _unusable(path, str(error), "Check it with: sqlite3 FILE 'PRAGMA integrity_check'") from error
    for shape in shapes:
        usable = usable_keys(shape, shapes)
        if len(usable) < len(shape.foreign_keys):
            left_out.append(f"{len(shape.foreign_keys) - len(usable)} foreign keys of {shape.name}, whose parents are not unique")
        shape.foreign_keys = usable
    before, after = statements_for(shapes, target)
    return Translation(
        setup=tuple(SetupStatement(sql, place) for sql in before),
        tables=tuple(table for table in tables if table.rows),
        post=tuple(SetupStatement(sql, place) for sql in after),
        left_out=tuple(left_out),
    )


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    # Read-only and immutable: a file in a dataset is never written, nor is a journal made beside it.
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        yield connection


def _table(connection: sqlite3.Connection, name: str, left_out: list[str]) -> tuple[TableShape, tuple[tuple[Cell, ...], ...]]:
    described = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
    columns = [(row[1], str(row[2]), bool(row[3]), row[5]) for row in described if row[6] != 1]
    listed = ", ".join(_quoted(column[0]) for column in columns)
    rows = connection.execute(f"SELECT {listed} FROM {_quoted(name)}").fetchall()
    shape = TableShape(name)
    for index, (column, declared, is_required, _) in enumerate(columns):
        wanted = _held(declared, [row[index] for row in rows])
        if _family(wanted.kind) != _family(type_of(declared).kind) and declared:
            left_out.append(f"the type {declared} of {name}.{column}, which holds other values and becomes {wanted.kind}")
        shape.columns.append(ColumnShape(column, wanted, is_nullable=not is_required))
    keys = [column[0] for column in sorted((c for c in columns if c[3]), key=lambda c: int(c[3]))]
    if keys and all(row[at] is not None for row in rows for at in _positions(columns, keys)):
        shape.primary_key = tuple(keys)
    for index in connection.execute(f"PRAGMA index_list({_quoted(name)})").fetchall():
        if index[2] and index[3] == "u":
            parts = connection.execute(f"PRAGMA index_info({_quoted(index[1])})").fetchall()
            shape.unique.append(tuple(part[2] for part in parts))
    broken = _breaks_keys(connection, name)
    keys_by_number: dict[int, list[tuple[str, str, str | None]]] = {}
    for key in connection.execute(f"PRAGMA foreign_key_list({_quoted(name)})").fetchall():
        keys_by_number.setdefault(key[0], []).append((key[2], key[3], key[4]))
    if broken and keys_by_number:
        left_out.append(f"the foreign keys of {name}, which its rows break")
    else:
        shape.foreign_keys = [_foreign_key(parts) for _, parts in sorted(keys_by_number.items())]
    return shape, tuple(_converted(row, shape) for row in rows)


def _breaks_keys(connection: sqlite3.Connection, name: str) -> bool:
    try:
        return connection.execute(f"PRAGMA foreign_key_check({_quoted(name)})").fetchone() is not None
    except sqlite3.OperationalError:
        # SQLite takes a key to columns that are not unique, and only then says that it cannot be one.
        return True


def _foreign_key(parts: Sequence[tuple[str, str, str | None]]) -> ForeignKey:
    parents = tuple(parent for _, _, parent in parts if parent is not None)
    return ForeignKey(tuple(column for _, column, _ in parts), ("", parts[0][0]), parents)


def _positions(columns: Sequence[tuple[str, str, bool, int]], names: Sequence[str]) -> list[int]:
    return [index for index, column in enumerate(columns) if column[0] in names]


def _held(declared: str, cells: Sequence[Cell]) -> ColumnType:
    """The declared type where all values are of it, else one that holds them all."""
    kinds = {type(cell) for cell in cells if cell is not None}
    wanted = type_of(declared)
    if kinds <= {int} and (wanted.kind in _INTEGERS or not declared):
        return ColumnType("bigint")
    if kinds <= {int, float} and (wanted.kind in _REALS | _INTEGERS or not declared):
        return ColumnType("double")
    if kinds <= {int} and wanted.kind == "boolean" and {cell for cell in cells if cell is not None} <= {0, 1}:
        return wanted
    if kinds <= {str} and wanted.kind in _TIMES:
        # SQLite keeps dates as texts: they are dates where all of them can be read as such.
        found = inferred([cell for cell in cells if isinstance(cell, str)])
        return found if found.kind in _TIMES and kinds else wanted if not kinds else TEXT
    if kinds <= {str} and wanted.kind in _TEXTS | {"json"}:
        return ColumnType("json") if wanted.kind == "json" else TEXT
    if kinds <= {bytes} and kinds:
        return ColumnType("bytes")
    return _by_value(kinds)


def _family(kind: str) -> str:
    """Kinds between which nothing is lost share a family."""
    for name, kinds in (("integer", _INTEGERS), ("real", _REALS), ("time", _TIMES), ("text", _TEXTS)):
        if kind in kinds:
            return name
    return kind


def _by_value(kinds: set[type]) -> ColumnType:
    if kinds and kinds <= {int}:
        return ColumnType("bigint")
    return ColumnType("double") if kinds and kinds <= {int, float} else TEXT


def _converted(row: Sequence[Cell], shape: TableShape) -> tuple[Cell, ...]:
    """The row with each value as its column's type has it."""
    cells = []
    for cell, column in zip(row, shape.columns, strict=True):
        kind = column.type.kind
        if cell is None or kind == "bytes":
            cells.append(cell)
        elif kind == "text" and not isinstance(cell, str):
            cells.append(cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell))
        elif kind == "boolean":
            cells.append(bool(cell))
        else:
            cells.append(float(cell) if kind == "double" else cell)
    return tuple(cells)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unusable(path: Path, reason: str, next_step: str) -> ProvisionError:
    return ProvisionError(
        "a SQLite file cannot be used",
        where=[f"{path}: {reason}"],
        meaning="The database cannot be built, so nothing was started.",
        next_step=next_step,
    )
