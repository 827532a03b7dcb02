"""EvalBench's setup directory: the scripts and tables that build one database in one dialect.

`<setup_directory>/<database>/<dialect>/{pre_setup,setup,post_setup}.sql`, `<setup_directory>/<database>/data/<table>.csv`, and
`<setup_directory>/<database>/<dialect>/data/<table>.csv`, which takes the place of the file of the same name for that dialect.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from nl2sql_gate.dataset.dialect_names import PRODUCTS
from nl2sql_gate.dataset.filters import effective_dialects
from nl2sql_gate.dataset.problems import capped, listed, nearest
from nl2sql_gate.dataset.setup_scripts import read_script
from nl2sql_gate.dataset.sql_fields import database_fault
from nl2sql_gate.dataset.table_files import read_tables
from nl2sql_gate.dataset.table_outlines import outlines
from nl2sql_gate.dialects import canonical, lookup_order
from nl2sql_gate.errors import DatasetError, ProvisionError, UsageError
from nl2sql_gate.records import DatabaseSource, Item, SetupStatement, TableData

SCRIPTS = ("pre_setup.sql", "setup.sql", "post_setup.sql")
_NOT_BUILT = "The database cannot be built, so nothing was started."


def read_source(setup_directory: str | os.PathLike[str], database: str, dialect: str) -> DatabaseSource:
    """All that builds `database` in `dialect`. Folders are found by the dialect, then by its other names; MariaDB takes MySQL's.

    Tables come parents first where setup.sql shows who refers to whom, else by name. The digest covers names, texts and rows,
    not line ends and times. Raises `DatasetError` where there is nothing to build from, `ProvisionError` for a file that
    cannot be read.
    """
    dialect = canonical(dialect)
    folder = _database_folder(Path(setup_directory), database)
    dialect_folder = _dialect_folder(folder, dialect, database)
    digest = hashlib.sha256(f"source/1\0{database}\0{dialect}\0".encode())
    files = _table_files(folder, dialect_folder)
    _refuse_outside(Path(setup_directory), [*(dialect_folder / name for name in SCRIPTS), *files.values()])
    scripts: list[tuple[SetupStatement, ...]] = []
    for name in SCRIPTS:
        path = dialect_folder / name
        text, statements = read_script(path, dialect=dialect) if path.is_file() else ("", ())
        digest.update(f"{name}\0{len(text)}\0{text}\0".encode())
        scripts.append(statements)
    known = outlines(statement.text for script in scripts for statement in script)
    tables = read_tables(files, dialect=dialect, known=known)
    for table in sorted(tables, key=lambda table: table.table):
        _add_table(digest, table)
    pre, setup, post = scripts
    return DatabaseSource(database, dialect, digest.hexdigest(), pre=pre, setup=setup, tables=tables, post=post)


def read_sources(
    setup_directory: str | os.PathLike[str], items: Iterable[Item], run_dialects: Sequence[str]
) -> dict[tuple[str, str], DatabaseSource]:
    """The source of each (database, dialect) that `items` need, in the order of the items.

    Raises one error for all that cannot be read, with the items that need it.
    """
    needed: dict[tuple[str, str], list[str]] = {}
    for item in items:
        for dialect in effective_dialects(item, run_dialects):
            needed.setdefault((item.database, dialect), []).append(item.id)
    found: dict[tuple[str, str], DatabaseSource] = {}
    failed: list[UsageError] = []
    where: list[str] = []
    for (database, dialect), ids in needed.items():
        try:
            found[database, dialect] = read_source(setup_directory, database, dialect)
        except (DatasetError, ProvisionError) as error:
            failed.append(error)
            where.append(f"database {database} in {dialect}, needed by {_items(ids)}: {error.what}")
            where.extend(line for line in error.where if line not in where)
    if failed:
        kind = DatasetError if any(isinstance(error, DatasetError) for error in failed) else ProvisionError
        count = len(failed)
        raise kind(
            f"{count} of {len(needed)} databases cannot be read from {os.fspath(setup_directory)}",
            where=capped(where),
            meaning="Items without their database cannot be measured, so nothing was started.",
            next_step=failed[0].next_step,
        ) from failed[0]
    return found


def _items(ids: Sequence[str]) -> str:
    return f"item{'s' if len(ids) > 1 else ''} {listed(ids, most=5)}"


def _database_folder(root: Path, database: str) -> Path:
    fault = database_fault(database)
    if fault:
        raise DatasetError(
            "a database's name cannot be used",
            where=[f"database: {fault}"],
            meaning="It would name a folder outside of the setup directory. Nothing was read.",
            next_step="Use the plain name of a folder in the setup directory.",
        )
    if not root.is_dir():
        raise DatasetError(
            f"the setup directory {root} {'is not a folder' if root.exists() else 'does not exist'}",
            where=[f"database {database}: {root / database}"],
            meaning=_NOT_BUILT,
            next_step="Set setup_directory: to the folder with <database>/<dialect>/setup.sql.",
        )
    folder = root / database
    if not folder.is_dir():
        there = _folders(root)
        near = nearest(database, there, most=1)
        raise DatasetError(
            f"there is no database {database} in the setup directory",
            where=[f"{folder}: no such folder; {root} has {listed(there) or 'no folders'}"],
            meaning=_NOT_BUILT,
            next_step=f"Did you mean {near[0]!r}?" if near else "Add the folder, or correct database: of the items.",
        )
    return folder


def _dialect_folder(folder: Path, dialect: str, database: str) -> Path:
    """The first folder that holds something: by own name, other spellings, products, then a dialect that may stand in."""
    there = _folders(folder)
    for wanted in lookup_order(dialect):
        named = [name for name in there if canonical(name) == wanted]
        for name in sorted(named, key=lambda name: (name != wanted, name.lower() in PRODUCTS, name)):
            if any((folder / name / script).is_file() for script in SCRIPTS) or _csv_files(folder / name / "data"):
                return folder / name
    has = [name for name in there if name != "data"]
    raise DatasetError(
        f"the setup directory has nothing for database {database} in {dialect}",
        where=[f"{folder / dialect}: no {', '.join(SCRIPTS)}; {folder} has {listed(has) or 'no folder for any dialect'}"],
        meaning=_NOT_BUILT,
        next_step=f"Add {folder / dialect / 'setup.sql'}, or leave {dialect} out of filters.dialects.",
    )


def _folders(parent: Path) -> list[str]:
    return sorted(entry.name for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _csv_files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    return {entry.stem: entry for entry in sorted(folder.iterdir()) if entry.suffix.lower() == ".csv" and entry.is_file()}


def _table_files(folder: Path, dialect_folder: Path) -> dict[str, Path]:
    """The CSV file of each table; a dialect's own file takes the place of the common one, whatever its letter case."""
    own = _csv_files(dialect_folder / "data")
    lowered = {table.lower() for table in own}
    common = {table: path for table, path in _csv_files(folder / "data").items() if table.lower() not in lowered}
    return {**common, **own}


def _refuse_outside(root: Path, paths: Iterable[Path]) -> None:
    """Stop at a link out of both the setup and the working directory: its text would end up in databases and logs."""
    allowed = [root.resolve(), Path.cwd()]
    for path in paths:
        target = path.resolve()
        if not any(target.is_relative_to(parent) for parent in allowed):
            raise DatasetError(
                "a file of the setup directory lies elsewhere",
                where=[f"{path}: links to {target}"],
                meaning="What lies outside of the setup directory and the working directory is not read.",
                next_step="Put the file itself there, or a link to a file within.",
            )


def _add_table(digest: hashlib._Hash, table: TableData) -> None:
    digest.update(f"{table.table}\0{table.columns!r}\0{len(table.rows)}\0".encode())
    for row in table.rows:
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
