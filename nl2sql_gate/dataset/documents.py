"""A parsed file before anyone asks what its items mean: values, the line of each, and what was odd about the text."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from nl2sql_gate.errors import DatasetError

MAX_DEPTH = 100
"""Levels of nesting. Items need six; the limit keeps a hostile file from exhausting the stack."""

MOST_ODDITIES = 20


@dataclass(frozen=True, slots=True)
class Oddity:
    """A deviation that the tolerant reader forgave. `line` and `column` count from 1; a column of 0 is unknown."""

    code: str
    message: str
    line: int
    column: int

    def __str__(self) -> str:
        """`line 3, column 7: message`."""
        return f"line {self.line}{f', column {self.column}' if self.column else ''}: {self.message}"


@dataclass(frozen=True, slots=True)
class Document:
    """The top-level values of a file with their lines. `is_list` is false where the file holds one bare value."""

    values: tuple[Any, ...]
    lines: tuple[int, ...]
    is_list: bool
    oddities: tuple[Oddity, ...] = ()


class Positions:
    """Lines and columns of offsets in one text."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def of(self, offset: int) -> tuple[int, int]:
        """(line, column) of `offset`, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class SyntaxFault(Exception):
    """The text stops making sense at `offset`. Becomes a `DatasetError` where the file's name is known."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def unreadable(file: str, *, kind: str, where: list[str], next_step: str) -> DatasetError:
    """The error for a file that is not the `kind` of text that it should be."""
    return DatasetError(
        f"{file} is not {kind}",
        where=where,
        meaning="No item was read and no model was called.",
        next_step=next_step,
    )


def too_deep(file: str, line: int) -> DatasetError:
    """The error for a file that nests beyond `MAX_DEPTH`."""
    return DatasetError(
        f"{file} nests lists and objects more than {MAX_DEPTH} levels deep",
        where=[f"{file}, line {line}: in the value that begins here"],
        meaning="No item of a dataset needs more than a few levels; the file is damaged or is not a dataset. Nothing was read.",
        next_step="Correct the file, or point dataset: at the right one.",
    )


def is_too_deep(value: Any) -> bool:
    """Whether `value` nests beyond `MAX_DEPTH`, found without recursion."""
    waiting = [(value, 1)] if isinstance(value, dict | list) else []
    while waiting:
        outer, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return True
        inner = outer.values() if isinstance(outer, dict) else outer
        waiting.extend((one, depth + 1) for one in inner if isinstance(one, dict | list))
    return False
