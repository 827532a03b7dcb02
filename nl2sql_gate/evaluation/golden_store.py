"""Golden results kept on disk between runs, under the digest of the database's file and the text of the query."""

from __future__ import annotations

import hashlib
import marshal
import os
import sqlite3
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from nl2sql_gate.records import ResultSet

_FORMAT = f"1 {marshal.version} {sys.version_info[0]}.{sys.version_info[1]} {sqlite3.sqlite_version}"
"""What must agree for a kept result to be read: the form it is written in, and the program that computed it."""


class GoldenStore:
    """One file a database, read whole at its first query and written whole by `save`.

    A golden whose SQL names a clock or chance is never kept. What cannot be read is as good as absent.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digests: dict[str, str] = {}

    def get(self, db_path: str, sql: str) -> ResultSet | None:
        """The kept result of `sql` on the database as its file is now."""
        try:
            columns, rows = marshal.loads(self._file(db_path, sql).read_bytes())  # noqa: S302 - written below, under our digest
        except (OSError, ValueError, EOFError, TypeError):
            return None
        return ResultSet(columns, rows)

    def put(self, db_path: str, sql: str, result: ResultSet) -> None:
        """Keep a result, unless it will be another tomorrow."""
        from nl2sql_gate.sqltext import names_clock_or_random

        if names_clock_or_random(sql, "sqlite"):
            return
        file = self._file(db_path, sql)
        # A store that cannot be written saves no time, and costs no score.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=file.parent)
            with os.fdopen(number, "wb") as out:
                out.write(marshal.dumps((result.columns, result.rows)))
            Path(name).replace(file)

    def _file(self, db_path: str, sql: str) -> Path:
        digest = self._digests.get(db_path)
        if digest is None:
            digest = self._digests[db_path] = hashlib.sha256(_FORMAT.encode() + Path(db_path).read_bytes()).hexdigest()
        return self._folder / digest[:32] / hashlib.sha256(sql.encode("utf-8", "surrogatepass")).hexdigest()[:32]
