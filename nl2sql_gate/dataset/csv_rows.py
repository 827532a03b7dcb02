"""CSV as RFC 4180 has it, with the line of each row and with quoted and unquoted empty cells told apart.

Python's `csv` reads `a,,""` as two equal empty cells before 3.12, and to a database they are NULL and the empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTED = re.compile(r'"((?:[^"]++|"")*+)"')
_BARE = re.compile(r"[^,\r\n]*+(?:\r(?!\n)[^,\r\n]*+)*+")


@dataclass(frozen=True, slots=True)
class CsvRow:
    """The cells of one row, and which of them stood in double quotes; `line` is where the row begins."""

    line: int
    cells: tuple[str, ...]
    quoted: frozenset[int] = frozenset()


class CsvFault(Exception):
    """The text is not CSV at `line`. Becomes an error with the file's name where that is known."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_rows(text: str, *, forgiven: list[CsvFault] | None = None) -> Iterator[CsvRow]:
    """The rows in order; blank lines are none. Raises `CsvFault` at a quote that is not closed or stands where none may.

    With `forgiven`, text that follows a closing quote belongs to the cell, as Python's and pandas' readers have it, and the fault
    is added there.
    """
    if "\n" not in text and "\r" in text:
        text = text.replace("\r", "\n")
    at, line, size = 0, 1, len(text)
    while at < size:
        end = text.find("\n", at)
        end = size if end < 0 else end
        raw = text[at:end].removesuffix("\r")
        if '"' not in raw:
            if raw.strip():
                yield CsvRow(line, tuple(raw.split(",")))
            at, line = end + 1, line + 1
            continue
        row, after = _quoted_row(text, at, line, forgiven)
        yield row
        line += text.count("\n", at, after)
        at = after


def _quoted_row(text: str, at: int, line: int, forgiven: list[CsvFault] | None) -> tuple[CsvRow, int]:
    """A row with at least one double quote, and where the next one begins."""
    cells: list[str] = []
    quoted: set[int] = set()
    start, size = at, len(text)
    while True:
        here = line + text.count("\n", start, at)
        if text.startswith('"', at):
            found = _QUOTED.match(text, at)
            if not found:
                raise CsvFault(f"the double quote of cell {len(cells) + 1} is not closed", here)
            quoted.add(len(cells))
            cells.append(found.group(1).replace('""', '"'))
        else:
            found = _BARE.match(text, at)
            cell = found.group() if found else ""
            if cell.lstrip().startswith('"'):
                raise CsvFault(f"cell {len(cells) + 1} has blanks before its double quote", here)
            cells.append(cell)
        at = found.end() if found else at
        if forgiven is not None and at < size and text[at] not in ",\r\n":
            forgiven.append(_misplaced(text, at, len(cells), line + text.count("\n", start, at)))
            more = _BARE.match(text, at)
            cells[-1] += more.group() if more else ""
            at = more.end() if more else at
        if text.startswith(",", at):
            at += 1
            continue
        if at == len(text) or text.startswith(("\n", "\r\n"), at):
            at += len(text[at : at + 2]) if text.startswith("\r\n", at) else 1
            return CsvRow(line, tuple(cells), frozenset(quoted)), at
        raise _misplaced(text, at, len(cells), line + text.count("\n", start, at))


def _misplaced(text: str, at: int, cell: int, line: int) -> CsvFault:
    return CsvFault(f"after the double quotes of cell {cell} comes {text[at : at + 10]!r} instead of a comma", line)
