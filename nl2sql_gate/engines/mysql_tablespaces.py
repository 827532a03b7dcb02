"""Tables copied as files: on a server of ours InnoDB takes over the file of another table many times faster than its rows."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

_WORTH_BYTES = 1 << 20  # below, rows are as fast
_PLAIN_NAME = re.compile(r"[a-z0-9_]+\Z")
# Files do not hold all of these; and CHECKSUM TABLE gives another number each time where a column is virtual.
_UNLIKE = re.compile(
    r"\b(?:FULLTEXT|SPATIAL|GENERATED|PARTITION|SYSTEM\s+VERSIONING|ENCRYPT\w*|PAGE_COMPRESS\w*|COMPRESS\w*|KEY_BLOCK_SIZE|DATA\s+DIRECTORY"
    r"|TABLESPACE|TEMPORARY)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Exported:
    """What the server wrote about a table for its import elsewhere, and its file's size and time, which never change again."""

    configuration: bytes
    size: int
    written_ns: int


class Tablespaces:
    """The large tables of the database `source` as files in the server's folder `data`.

    `give` makes a file the server's own. A table whose first copy differs from it by checksum is never copied this way again.
    """

    def __init__(self, source: str, data: Path, give: Callable[[Path], None]) -> None:
        self._source = source
        self._data = data
        self._give = give
        self._exported: dict[str, _Exported] = {}
        self._checked: set[str] = set()

    def export(self, connection: pymysql.Connection[Any], tables: Mapping[str, str]) -> None:
        """Look which of `tables` (name → definition) can be copied as files, and have the server describe them."""
        wanted = [name for name, text in tables.items() if _PLAIN_NAME.match(name) and not _UNLIKE.search(text)]
        wanted = [name for name in wanted if self._size(name) >= _WORTH_BYTES]
        if not wanted:
            return
        with suppress(pymysql.MySQLError, OSError), connection.cursor() as cursor:
            listed = ", ".join(f"`{self._source}`.`{name}`" for name in wanted)
            cursor.execute(f"FLUSH TABLES {listed} FOR EXPORT")
            try:
                for name in wanted:
                    about = self._file(self._source, name).stat()
                    described = self._file(self._source, name, "cfg").read_bytes()
                    self._exported[name] = _Exported(described, about.st_size, about.st_mtime_ns)
            finally:
                cursor.execute("UNLOCK TABLES")

    def has(self, name: str) -> bool:
        """Whether `name` can be copied as a file."""
        return name in self._exported

    def copy(self, cursor: Any, name: str, database: str) -> bool:
        """Fill the empty table `name` of `database`, where `cursor` is; `False` where it must be made anew, with its rows."""
        exported = self._exported.get(name)
        if exported is None:
            return False
        source = self._file(self._source, name)
        try:
            about = source.stat()
            if (about.st_size, about.st_mtime_ns) == (exported.size, exported.written_ns):
                cursor.execute(f"ALTER TABLE `{name}` DISCARD TABLESPACE")
                self._place(source, exported, name, database)
                cursor.execute(f"ALTER TABLE `{name}` IMPORT TABLESPACE")
                self._file(database, name, "cfg").unlink(missing_ok=True)
                if self._is_like(cursor, name, database):
                    return True
        except (pymysql.MySQLError, OSError):
            pass
        self._exported.pop(name, None)
        return False

    def _place(self, source: Path, exported: _Exported, name: str, database: str) -> None:
        target, described = self._file(database, name), self._file(database, name, "cfg")
        shutil.copyfile(source, target)
        described.write_bytes(exported.configuration)
        self._give(target)
        self._give(described)

    def _is_like(self, cursor: Any, name: str, database: str) -> bool:
        if name in self._checked:
            return True
        cursor.execute(f"CHECKSUM TABLE `{self._source}`.`{name}`, `{database}`.`{name}`")
        (_, one), (_, other) = cursor.fetchall()
        if one is None or one != other:
            return False
        self._checked.add(name)
        return True

    def _size(self, name: str) -> int:
        with suppress(OSError):
            return self._file(self._source, name).stat().st_size
        return 0

    def _file(self, database: str, name: str, kind: str = "ibd") -> Path:
        return self._data / database / f"{name}.{kind}"
