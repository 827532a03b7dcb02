"""Sources from material: scripts, one script, a SQLite file, tables; translated where it is written in another dialect."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nl2sql_gate.dataset.setup_layout import SCRIPTS, Material, script_in
from nl2sql_gate.dataset.setup_options import SetupOptions
from nl2sql_gate.dataset.setup_scripts import read_dump, read_script
from nl2sql_gate.dataset.table_files import read_tables
from nl2sql_gate.dataset.table_outlines import outlines
from nl2sql_gate.dialects import lookup_order
from nl2sql_gate.records import DatabaseSource, Place, SetupStatement, TableData, Warned

_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """The material, the dialect that it is written in, and what setup.yml says."""

    material: Material
    written_in: str
    options: SetupOptions


def build_source(chosen: Chosen, database: str, dialect: str) -> DatabaseSource:
    """The source of `database` in `dialect`. Raises `ProvisionError` for a file that cannot be read or translated."""
    digest = hashlib.sha256(f"source/1\0{database}\0{dialect}\0".encode())
    return _BUILDERS[chosen.material.kind](chosen, database, dialect, digest)


def _from_scripts(chosen: Chosen, database: str, dialect: str, digest: hashlib._Hash) -> DatabaseSource:
    material, source = chosen.material, chosen.written_in
    scripts: list[tuple[SetupStatement, ...]] = []
    for name in SCRIPTS:
        path = script_in(material.path, name)
        text, statements = read_script(path, dialect=source) if path else ("", ())
        digest.update(f"{name}\0{len(text)}\0{text}\0".encode())
        scripts.append(statements)
    known = outlines(statement.text for script in scripts for statement in script)
    tables = read_tables(material.tables, dialect=source, known=known)
    for table in sorted(tables, key=lambda table: table.table):
        _add_table(digest, table)
    if not _is_for(source, dialect):
        return _translated([one for script in scripts for one in script], chosen, database, dialect, digest, tables=tables)
    pre, setup, post = scripts
    return DatabaseSource(database, dialect, digest.hexdigest(), pre=pre, setup=setup, tables=tables, post=post)


def _from_script(chosen: Chosen, database: str, dialect: str, digest: hashlib._Hash) -> DatabaseSource:
    source = chosen.written_in
    is_own = _is_for(source, dialect)
    text, statements, left_out = read_dump(chosen.material.path, dialect=source, batches=is_own)
    digest.update(f"script\0{text}".encode())
    warnings = _warnings("database_statements", left_out, database, chosen.material.path)
    if not is_own:
        return _translated(statements, chosen, database, dialect, digest, warnings=warnings)
    return DatabaseSource(database, dialect, digest.hexdigest(), setup=statements, warnings=warnings)


def _from_sqlite(chosen: Chosen, database: str, dialect: str, digest: hashlib._Hash) -> DatabaseSource:
    from nl2sql_gate.dataset.sqlite_source import file_digest, translate_file

    path = chosen.material.path
    digest.update(f"sqlite\0{file_digest(path)}".encode())
    if dialect == "sqlite":
        return DatabaseSource(database, dialect, digest.hexdigest(), sqlite_file=str(path.resolve()))
    found = translate_file(path, target=dialect)
    warnings = (_marked(chosen, database, dialect), *_warnings("not_translated", found.left_out, database, path))
    return DatabaseSource(
        database,
        dialect,
        digest.hexdigest(),
        setup=found.setup,
        tables=found.tables,
        post=found.post,
        transpiled_from="sqlite",
        warnings=warnings,
    )


def _from_tables(chosen: Chosen, database: str, dialect: str, digest: hashlib._Hash) -> DatabaseSource:
    from nl2sql_gate.dataset.inferred_tables import infer_tables

    found = infer_tables(chosen.material.tables, options=chosen.options, target=dialect)
    for statement in found.setup:
        digest.update(f"{statement.text}\0".encode())
    for table in found.tables:
        _add_table(digest, table)
    return DatabaseSource(database, dialect, digest.hexdigest(), setup=found.setup, tables=found.tables)


_BUILDERS = {"scripts": _from_scripts, "script": _from_script, "sqlite": _from_sqlite, "tables": _from_tables}


def _translated(
    statements: Sequence[SetupStatement],
    chosen: Chosen,
    database: str,
    dialect: str,
    digest: hashlib._Hash,
    *,
    tables: Sequence[TableData] = (),
    warnings: tuple[Warned, ...] = (),
) -> DatabaseSource:
    """The source after translation; the digest stays that of what was written, since clocks in it give other rows every day."""
    from nl2sql_gate.dataset.translated_scripts import translate

    found = translate(statements, source=chosen.written_in, target=dialect, database=database)
    path = chosen.material.path
    return DatabaseSource(
        database,
        dialect,
        digest.hexdigest(),
        setup=found.setup,
        tables=(*found.tables, *tables),
        post=found.post,
        transpiled_from=chosen.written_in,
        warnings=(
            _marked(chosen, database, dialect),
            *warnings,
            *_warnings("not_translated", found.left_out, database, path),
        ),
    )


def _is_for(source: str, dialect: str) -> bool:
    return source in lookup_order(dialect)


def _marked(chosen: Chosen, database: str, dialect: str) -> Warned:
    message = f"database {database} is transpiled from {chosen.written_in} to {dialect}"
    return Warned("transpiled", message, subject=database, place=Place(str(chosen.material.path)))


def _warnings(code: str, left_out: Sequence[str], database: str, path: Path) -> tuple[Warned, ...]:
    more = len(left_out) - _MOST_NAMED
    words = [*left_out[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]
    return tuple(Warned(code, f"left out: {text}", subject=database, place=Place(str(path))) for text in words)


def _add_table(digest: hashlib._Hash, table: TableData) -> None:
    digest.update(f"{table.table}\0{table.columns!r}\0{len(table.rows)}\0".encode())
    for row in table.rows:
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
