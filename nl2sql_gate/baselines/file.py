"""A baseline in a file, usually kept in the repository."""

from __future__ import annotations

from pathlib import Path

from nl2sql_gate.errors import BaselineError
from nl2sql_gate.runfile import MAX_BYTES, write_atomically


class FileStore:
    """The file named after `file:`, relative to the working directory."""

    def __init__(self, location: str, *, gate: str = "nl2sql") -> None:
        del gate
        self._path = Path(location)

    def fetch(self) -> bytes | None:
        """The file's content, or `None` where there is no such file yet. Raises `BaselineError` where it cannot be read."""
        try:
            if self._path.stat().st_size > MAX_BYTES:
                raise _unreadable(
                    self._path, f"it has {self._path.stat().st_size / 1e6:.0f} MB, the limit is {MAX_BYTES / 1e6:.0f}"
                )
            return self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(self._path, error.strerror or str(error)) from error

    def store(self, content: bytes, *, message: str) -> str:
        """Write the file whole; `message` has no place in a file. Raises `BaselineError` where it cannot be written."""
        del message
        try:
            write_atomically(self._path, content)
        except OSError as error:
            raise BaselineError(
                "the baseline cannot be written",
                where=[str(self._path), error.strerror or str(error)],
                meaning="The old baseline, if there was one, still stands.",
                next_step="Give the process leave to write there, or name another file under `baseline`.",
            ) from error
        return f"the file {self._path}"


def _unreadable(path: Path, detail: str) -> BaselineError:
    return BaselineError(
        "the baseline cannot be read",
        where=[str(path), detail],
        meaning="There is nothing to compare with: a regression would not be seen.",
        next_step="Name a run.json or baseline.json of nl2sql-gate; `nl2sql-gate bless` writes one from a finished run.",
    )
