"""JSON lines: one item a line, each read strictly first and tolerantly second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2sql_gate.dataset.documents import MOST_ODDITIES, Document, Oddity
from nl2sql_gate.dataset.problems import Problems
from nl2sql_gate.dataset.tolerant_json import read_json
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Place


def read_json_lines(text: str, *, file: str, strict: bool) -> Document:
    """One value for each line that is not blank. Raises `DatasetError` with all lines that cannot be read."""
    problems = Problems(file)
    values: list[Any] = []
    lines: list[int] = []
    oddities: list[Oddity] = []
    # Not splitlines(): it would also cut at U+2028 and the like, which may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = read_json(line.rstrip("\r"), file=file, strict=strict, first_line=number)
        except DatasetError as error:
            problems.errors.extend(error.where)
            continue
        if found.is_list:
            problems.refuse(Place(file, number), "", "a list stands here; JSON lines have one object a line")
            continue
        values.extend(found.values)
        lines.extend(found.lines)
        oddities.extend(found.oddities)
    problems.raise_errors(
        meaning="Each line must be one JSON object. No item was read and no model was called.",
        next_step="Correct these lines, or set format: evalbench if the file is one JSON list.",
    )
    return Document(tuple(values), tuple(lines), is_list=True, oddities=tuple(_summed_up(oddities)))


def _summed_up(oddities: list[Oddity]) -> list[Oddity]:
    """Of each kind the first few, then how many more there are."""
    kinds: dict[str, list[Oddity]] = {}
    for oddity in oddities:
        kinds.setdefault(oddity.code, []).append(oddity)
    found: list[Oddity] = []
    for same in kinds.values():
        found += same[:MOST_ODDITIES]
        if len(same) > MOST_ODDITIES:
            message = f"{len(same) - MOST_ODDITIES} more of this kind, the last here"
            found.append(replace(same[-1], message=message))
    return found


def looks_like_json_lines(text: str) -> bool:
    """Whether the first two lines that are not blank each hold one whole object."""
    import json

    first: list[str] = []
    for line in text[:1_000_000].lstrip("\ufeff").split("\n"):
        if line.strip():
            first.append(line.strip())
        if len(first) == 2:  # noqa: PLR2004 (two lines tell a list of objects from one object)
            break
    try:
        return len(first) > 1 and all(isinstance(json.loads(line), dict) for line in first)
    except (ValueError, RecursionError):
        return False
