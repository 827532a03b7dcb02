"""JSON read strictly first, then once more by a reader that forgives what people write by hand and says where.

Forgiven: trailing commas, `True`, `False`, `None`, comments (`//`, `#`, `/* */`), single quotes, bare keys, Python's escapes,
raw line breaks in strings, a byte order mark, a key given twice with the same value. Never forgiven: NaN, Infinity, a missing
comma, a key given twice with different values.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from nl2sql_gate.dataset.documents import (
    MAX_DEPTH,
    Document,
    Oddity,
    Positions,
    SyntaxFault,
    is_too_deep,
    too_deep,
    unreadable,
)

_BLANK = re.compile(r"[ \t\r\n]*")


def read_json(text: str, *, file: str, strict: bool, first_line: int = 1) -> Document:
    """The list (or the one value) that `text` holds, with the line of each item.

    Raises `DatasetError` with line and column where no reader understands it, or where `strict` and only the tolerant one does.
    """
    try:
        return _read_strictly(text, file=file, first_line=first_line)
    except (SyntaxFault, json.JSONDecodeError) as fault:
        return _read_again(text, file=file, strict=strict, first_line=first_line, strict_fault=fault)


def _read_again(text: str, *, file: str, strict: bool, first_line: int, strict_fault: Exception) -> Document:
    """What the tolerant reader makes of a text that is not strict JSON, or the error that says why nothing can be made of it."""
    from nl2sql_gate.dataset.tolerant_reader import TolerantReader

    positions = Positions(text)
    reader = TolerantReader(text, first_line=first_line)
    try:
        starts, values, is_list = reader.read()
    except SyntaxFault as fault:
        line, column = positions.of(fault.offset)
        where = [f"{file}, line {line + first_line - 1}, column {column}: {fault.message}"]
        if fault.message.startswith("nested"):
            raise too_deep(file, line + first_line - 1) from fault
        raise unreadable(file, kind="JSON", where=where, next_step="Correct the file at that place.") from fault
    placed = [(code, message, *positions.of(offset)) for code, message, offset in reader.found()]
    oddities = tuple(Oddity(code, message, line + first_line - 1, column) for code, message, line, column in placed)
    if strict:
        where = [f"{file}, {oddity}" for oddity in oddities]
        raise unreadable(
            file,
            kind="strict JSON",
            where=where or [f"{file}: {strict_fault}"],
            next_step="Correct the file, or leave strict: false, and it loads with these as warnings.",
        )
    lines = tuple(positions.of(offset)[0] + first_line - 1 for offset in starts)
    return Document(tuple(values), lines, is_list, oddities)


def _read_strictly(text: str, *, file: str, first_line: int) -> Document:
    """Item by item through the standard library's scanner, which is how each item's line is known without a second pass."""
    decoder = json.JSONDecoder(
        parse_constant=_refuse_constant, parse_float=_finite_float, parse_int=_whole_number, object_pairs_hook=_pairs
    )
    at = _skip(text, 0)
    is_list = text.startswith("[", at)
    values: list[Any] = []
    lines: list[int] = []
    line, counted = first_line, 0
    at = _skip(text, at + 1) if is_list else at
    while not (is_list and not values and text.startswith("]", at)):
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError as error:
            raise too_deep(file, line) from error
        if text.count("[", at, end) + text.count("{", at, end) > MAX_DEPTH and is_too_deep(value):
            raise too_deep(file, line)
        values.append(value)
        lines.append(line)
        at = _skip(text, end)
        if not is_list or text.startswith("]", at):
            break
        if not text.startswith(",", at):
            raise SyntaxFault("a comma is missing", at)
        at = _skip(text, at + 1)
    at = _skip(text, at + 1) if is_list else at
    if at != len(text):
        raise SyntaxFault("there is more text after the end", at)
    return Document(tuple(values), tuple(lines), is_list)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless a key comes twice: the standard library would keep the last without a word."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise SyntaxFault("a key comes twice", 0)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise SyntaxFault(f"{name} is no JSON value", 0)


def _finite_float(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise SyntaxFault(f"{text} is too large a number", 0)
    return value


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:  # thousands of digits, which Python refuses to convert
        raise SyntaxFault("a number has too many digits", 0) from error
