"""Standard output and error that cannot change an exit code: a reader that goes away, a full disk, a narrow encoding."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


def make_lasting() -> None:
    """Put streams that never fail in the place of `sys.stdout` and `sys.stderr`; one that is closed goes nowhere.

    What they say is said in files too, while a failed write would end the process with a code that stands for a verdict.
    """
    sys.stdout = _lasting(sys.stdout, 1)
    sys.stderr = _lasting(sys.stderr, 2)


def _lasting(stream: Any, descriptor: int) -> Any:
    if stream is None:
        # Closed by the caller: the next file that is opened would get its number, and what is printed would go there.
        _silence(descriptor)
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - as long as the process
    buffered = io.BufferedWriter(_Lasting(stream.fileno(), "wb", closefd=False))
    # A character that the encoding lacks, and half a surrogate pair from a model, are shown by their number.
    return io.TextIOWrapper(
        buffered,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=True,
        write_through=stream.write_through,
    )


class _Lasting(io.FileIO):
    def write(self, data: Any) -> int:
        """The bytes written; all of them where nobody can take them any more."""
        try:
            return super().write(data)
        except OSError:
            _silence(self.fileno())
            return len(data)


def _silence(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
