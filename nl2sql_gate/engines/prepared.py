"""Data directories that were initialised ahead, in an image say: copying one takes a fraction of making it.

`python -m nl2sql_gate.engines.prepared FOLDER` makes one for each server that is installed. They are looked for in the folder
that `NL2SQL_GATE_PREPARED` names.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nl2sql_gate.engines.server_process import ServerProcess

DEFAULT = "/usr/local/share/nl2sql-gate/prepared"
_OTHER = re.compile(r"[^A-Za-z0-9.]+")


def prepared_data(binary: Path) -> Path | None:
    """The directory that was prepared for exactly this build of a server; `None` where there is none."""
    folder = Path(os.environ.get("NL2SQL_GATE_PREPARED", DEFAULT))
    if not folder.is_dir():
        return None
    found = folder / build_name(binary)
    return found if found.is_dir() else None


def build_name(binary: Path) -> str:
    """What a server says that it is, as a file name."""
    said = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=20, check=True)  # noqa: S603 -- found
    return _OTHER.sub("-", said.stdout.strip().removeprefix(str(binary))).strip("-")


def fill(process: ServerProcess, data: Path, prepared: Path) -> None:
    """Copy a prepared directory, as the server's own user."""
    process.run(["cp", "-R", str(prepared), str(data)])


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
