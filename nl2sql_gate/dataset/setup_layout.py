"""Where in a setup directory the material for one database lies, in every layout that datasets come in.

| Layout | Material |
|---|---|
| `<database>/<dialect>/{pre_setup,setup,post_setup}.sql`, `<database>[/<dialect>]/data/<table>.csv` | EvalBench's |
| `<database>/<database>.sqlite`, `<database>.sqlite` (also `.sqlite3`, `.db`) | BIRD's, Spider's: a SQLite file |
| `<database>.sql`, alone or below `<database>/`, `<dialect>/`, `<database>/<dialect>/` | one script or dump |
| `<database>/data/<table>.{csv,parquet}`, `<database>/<table>.{csv,parquet}` and no script at all | tables with types inferred |

Scripts may be compressed (`.sql.gz`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nl2sql_gate.dataset.dialect_names import PRODUCTS, is_known
from nl2sql_gate.dialects import canonical

SCRIPTS = ("pre_setup.sql", "setup.sql", "post_setup.sql")
TABLES = (".csv", ".parquet", ".pq")
_SQLITE = (".sqlite", ".sqlite3", ".db")
_ZIPPED = (".sql", ".sql.gz")


@dataclass(frozen=True, slots=True)
class Material:
    """What builds the database in one dialect. `dialect` is empty where the folder does not say it.

    `path` is a folder for `scripts` and `tables`, else a file. `tables` are the files with rows.
    """

    kind: Literal["scripts", "script", "sqlite", "tables"]
    dialect: str
    path: Path
    tables: Mapping[str, Path] = field(default_factory=dict)


def materials(root: Path, database: str) -> list[Material]:
    """All that there is for the database, the more particular layouts first."""
    folder = root / database
    found = [*_dialect_folders(folder, database), *_dialect_files(root, database)]
    found += [Material("sqlite", "sqlite", path) for path in _first(folder, root, database, _SQLITE)]
    found += [Material("script", "", path) for path in _first(folder, root, database, _ZIPPED)]
    if not found:
        files = table_files(folder / "data") or table_files(folder)
        if files:
            found.append(Material("tables", "", folder, files))
    return found


def databases_in(root: Path) -> list[str]:
    """Names of the databases that the directory seems to hold, for messages."""
    names = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")}
    for path in root.iterdir():
        for ending in (*_SQLITE, *_ZIPPED):
            if path.name.endswith(ending):
                names.add(path.name.removesuffix(ending))
    return sorted(names)


def script_in(folder: Path, name: str) -> Path | None:
    """The script `name` of a folder, compressed or not."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def table_files(folder: Path) -> dict[str, Path]:
    """The file of each table in a folder, by name."""
    if not folder.is_dir():
        return {}
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in TABLES and path.is_file()}


def folders(parent: Path) -> list[str]:
    """Names of the folders in a folder that are not hidden."""
    if not parent.is_dir():
        return []
    return sorted(entry.name for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def is_defogs(material: Material) -> bool:
    """Whether a script lies as in defog's data: beside a description of its tables. Those are PostgreSQL, for all dialects."""
    import json

    description = material.path.with_name(material.path.name.partition(".")[0] + ".json")
    if material.kind != "script" or not description.is_file():
        return False
    try:
        found = json.loads(description.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "table_metadata" in found


def _dialect_folders(folder: Path, database: str) -> Iterator[Material]:
    """Folders of dialects below the database's: by own name, other spellings, products."""
    named = [name for name in folders(folder) if name != "data"]
    for name in sorted(named, key=lambda name: (name != canonical(name), name.lower() in PRODUCTS, name)):
        own = table_files(folder / name / "data")
        if own or any(script_in(folder / name, script) for script in SCRIPTS):
            lowered = {table.lower() for table in own}
            # A dialect's own file takes the place of the common one, whatever its letter case.
            common = {table: path for table, path in table_files(folder / "data").items() if table.lower() not in lowered}
            yield Material("scripts", canonical(name), folder / name, {**common, **own})
        elif path := script_in(folder / name, f"{database}.sql"):
            yield Material("script", canonical(name), path)


def _dialect_files(root: Path, database: str) -> Iterator[Material]:
    """`<dialect>/<database>.sql`: all databases of one dialect in one folder."""
    for name in folders(root):
        path = script_in(root / name, f"{database}.sql") if is_known(canonical(name)) else None
        if path:
            yield Material("script", canonical(name), path)


def _first(folder: Path, root: Path, database: str, endings: tuple[str, ...]) -> list[Path]:
    """The file of the database with one of the endings: in its own folder, else in the root."""
    candidates = (parent / f"{database}{ending}" for parent in (folder, root) for ending in endings)
    return [path for path in candidates if path.is_file()][:1]
