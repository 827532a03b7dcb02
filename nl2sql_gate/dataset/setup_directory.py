"""The material of a setup directory as the source of one database in one dialect.

Where the material lies is in `setup_layout`. A database in a dialect that has none of its own is translated from another's where
the directory says so (`setup.yml`), or where its layout does (defog's).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from nl2sql_gate.dataset.filters import effective_dialects
from nl2sql_gate.dataset.problems import capped, listed, nearest
from nl2sql_gate.dataset.setup_layout import SCRIPTS, Material, databases_in, folders, is_defogs, materials, script_in
from nl2sql_gate.dataset.setup_options import SetupOptions, read_setup_options
from nl2sql_gate.dataset.source_builders import Chosen, build_source
from nl2sql_gate.dataset.sql_fields import database_fault
from nl2sql_gate.dialects import canonical, lookup_order
from nl2sql_gate.errors import DatasetError, ProvisionError, UsageError
from nl2sql_gate.records import DatabaseSource, Item

_TRANSLATED_FIRST = {dialect: at for at, dialect in enumerate(("postgres", "duckdb", "sqlite", "mysql", "mariadb", "sqlserver"))}
"""Where several dialects could be translated, the one of which least is lost."""

_NOT_BUILT = "The database cannot be built, so nothing was started."


def read_source(setup_directory: str | os.PathLike[str], database: str, dialect: str) -> DatabaseSource:
    """All that builds `database` in `dialect`. Folders are found by the dialect, then by its other names; MariaDB takes MySQL's.

    Tables come parents first where setup.sql shows who refers to whom, else by name. The digest covers names, texts, rows and
    SQLite files, not line ends and times. Raises `DatasetError` where there is nothing to build from, `ProvisionError` for a file
    that cannot be read or translated.
    """
    root = Path(setup_directory)
    dialect = canonical(dialect)
    _refuse_no_place(root, database)
    options = read_setup_options(root, database)
    found = materials(root, database)
    chosen = _chosen(root, found, database=database, dialect=dialect, options=options)
    _refuse_outside(root, chosen.material)
    return build_source(chosen, database, dialect)


def _chosen(root: Path, found: Sequence[Material], *, database: str, dialect: str, options: SetupOptions) -> Chosen:
    """The material to build from: the dialect's own, else one that may stand in, else one that may be translated."""
    known = [Chosen(material, _written_in(material, options), options) for material in found]
    for wanted in lookup_order(dialect):
        for each in known:
            if each.written_in in {wanted, ""}:
                return Chosen(each.material, dialect, options) if not each.written_in else each
    for each in sorted(known, key=lambda each: _TRANSLATED_FIRST.get(each.written_in, len(_TRANSLATED_FIRST))):
        if options.may_transpile(dialect) or is_defogs(each.material):
            return each
    if not known:
        _refuse_absent(root, database)
    has = [name for name in folders(root / database) if name != "data"]
    folder = root / database
    where = f"{folder / dialect}: no {', '.join(SCRIPTS)}; {folder} has {listed(has) or 'no folder for any dialect'}"
    step = f"Add {folder / dialect / 'setup.sql'}, or leave {dialect} out of filters.dialects"
    ways = f"{step}, or say `transpile: [{dialect}]` in {root / 'setup.yml'}." if known else f"{step}."
    raise DatasetError(
        f"the setup directory has nothing for database {database} in {dialect}",
        where=[where, *(f"{each.material.path}: for {each.written_in}" for each in known)],
        meaning=_NOT_BUILT,
        next_step=ways,
    )


def _written_in(material: Material, options: SetupOptions) -> str:
    """The dialect of a material; empty where it suits every dialect (tables, SQL without marks of any)."""
    if material.kind != "script" or material.dialect:
        return material.dialect
    if options.dialect:
        return options.dialect
    if is_defogs(material):
        return "postgres"
    from nl2sql_gate.dataset.script_dialect import dialect_of_script
    from nl2sql_gate.dataset.setup_scripts import read_head

    return dialect_of_script(read_head(material.path))


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


def _refuse_no_place(root: Path, database: str) -> None:
    """Stop at names that are paths, and where there is no directory."""
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


def _refuse_absent(root: Path, database: str) -> None:
    """Stop where nothing at all is there for the database; an empty folder is told from none."""
    if (root / database).is_dir():
        return
    there = databases_in(root)
    near = nearest(database, there, most=1)
    raise DatasetError(
        f"there is no database {database} in the setup directory",
        where=[f"{root / database}: no such folder; {root} has {listed(there) or 'no folders'}"],
        meaning=_NOT_BUILT,
        next_step=f"Did you mean {near[0]!r}?" if near else "Add the folder, or correct database: of the items.",
    )


def _refuse_outside(root: Path, material: Material) -> None:
    """Stop at a link out of both the setup and the working directory: its text would end up in databases and logs."""
    paths = [*material.tables.values(), *_scripts_of(material)]
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


def _scripts_of(material: Material) -> Iterable[Path]:
    if material.kind == "scripts":
        return [path for name in SCRIPTS if (path := script_in(material.path, name))]
    return [] if material.kind == "tables" else [material.path]
