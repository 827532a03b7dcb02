"""Data directories that were initialised ahead: copying one takes a fraction of making it.

`python -m nl2sql_gate.engines.prepared FOLDER` makes one for each server that is installed, for an image say; they are looked
for in the folder that `NL2SQL_GATE_PREPARED` names. Elsewhere a run keeps the first that it makes in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from nl2sql_gate.engines.server_process import ServerProcess

DEFAULT = "/usr/local/share/nl2sql-gate/prepared"
VARIABLE = "NL2SQL_GATE_PREPARED"
_OTHER = re.compile(r"[^A-Za-z0-9.]+")

Initialise = Callable[[ServerProcess, Path], None]


def make_data(process: ServerProcess, data: Path, binary: Path, initialise: Initialise, *, recipe: str) -> None:
    """Fill `data`: from a directory prepared for this build, or by `initialise`, whose result is kept for the next run.

    `recipe` is what `initialise` does beyond the build: a kept directory of another recipe is not taken. Raises `ServiceError`.
    """
    try:
        name = build_name(binary)
    except (OSError, subprocess.SubprocessError):
        # What is wrong with it is told best by itself.
        initialise(process, data)
        return
    folder = kept_folder(os.environ)
    kept = None if folder is None else folder / f"{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    source = prepared_data(name) or (kept if kept is not None and kept.is_dir() else None)
    if source is not None:
        process.take(source, data)
        return
    initialise(process, data)
    if kept is not None:
        _keep(data, kept)


def kept_folder(environment: Mapping[str, str]) -> Path | None:
    """Where this user's directories are kept; `None` where `NL2SQL_GATE_PREPARED` is set, if only to nothing."""
    if VARIABLE in environment:
        return None
    root = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME") or "~").expanduser() / ".cache")
    return Path(root) / "nl2sql-gate" / "prepared"


def prepared_data(name: str) -> Path | None:
    """The directory that was prepared for the build called `name`; `None` where there is none."""
    folder = os.environ.get(VARIABLE, DEFAULT)
    found = Path(folder) / name
    return found if folder and found.is_dir() else None


def build_name(binary: Path) -> str:
    """What a server says that it is, as a file name."""
    said = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=20, check=True)  # noqa: S603 -- found
    return _OTHER.sub("-", said.stdout.strip().removeprefix(str(binary))).strip("-")


def _keep(data: Path, target: Path) -> None:
    """Keep a copy of `data`, whole or not at all; a cache that cannot be written costs nothing but time."""
    with suppress(OSError, subprocess.SubprocessError):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as folder:
            copy = Path(folder) / "data"
            subprocess.run(["cp", "-R", str(data), str(copy)], check=True, capture_output=True)  # noqa: S603, S607 -- from PATH
            copy.rename(target)


def prepare(folder: Path) -> list[str]:
    """Initialise a directory for every server installed here; returns their names."""
    from nl2sql_gate.engines import mysql_server, postgres_server

    made = []
    if postgres_server.has_binaries():
        binaries = postgres_server.find_binaries()
        made.append(_prepare(folder, binaries / "postgres", partial(postgres_server.initialise, binaries)))
    for product in mysql_server.PREFIXES:
        if mysql_server.has_binary(product):
            binary = mysql_server.find_binary(product)
            made.append(_prepare(folder, binary, partial(mysql_server.initialise, product, binary)))
    return made


def _prepare(folder: Path, binary: Path, initialise: Callable[[ServerProcess, Path], None]) -> str:
    name = build_name(binary)
    process = ServerProcess("nl2sql-gate-prepare-", users=("postgres", "mysql"))
    try:
        data = process.folder / "data"
        initialise(process, data)
        target = folder / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(data, target)
        # There is no secret in it, and another user copies it.
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    finally:
        process.stop(ask=signal.SIGTERM)
    return name


if __name__ == "__main__":
    for prepared_name in prepare(Path(sys.argv[1])):
        sys.stdout.write(f"{prepared_name}\n")
