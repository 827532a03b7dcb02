"""Survivors that somebody has shown to mean the same as golden SQL, each with the reason.

A file of JSON lines, `{"id", "dialect"?, "sql", "reason"}`: the mutant's text as `mutate` writes it, blanks and a final semicolon
aside. Without a dialect the mark holds in all. A mark that no mutant has any more is named, so that the file does not rot.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nl2sql_gate.dialects import canonical, lookup_order
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.mutation_testing.fates import MutatedItem


@dataclass(frozen=True, slots=True)
class Mark:
    """One mutant that no data could tell from golden SQL, with the reason; `line` is where the file says so."""

    id: str
    sql: str
    reason: str
    dialect: str = ""
    line: int = 0

    def fits(self, item_id: str, dialect: str, sql: str) -> bool:
        """Whether this is about the mutant `sql` of an item in a dialect."""
        return self.id == item_id and self.dialect in {"", *lookup_order(dialect)} and self.sql == plain(sql)


@dataclass(frozen=True, slots=True)
class Equivalents:
    """All marks of a file."""

    marks: tuple[Mark, ...] = ()
    path: str = ""

    def reason(self, item_id: str, dialect: str, sql: str) -> str | None:
        """Why this mutant is equivalent, if it is marked."""
        return next((mark.reason for mark in self.marks if mark.fits(item_id, dialect, sql)), None)

    def idle(self, items: Iterable[MutatedItem]) -> tuple[Mark, ...]:
        """Marks that fit no mutant of these items, though their item is there."""
        tested = list(items)
        present = {(item.key.id, name) for item in tested for name in ("", *lookup_order(item.dialect))}
        used = {
            mark
            for item in tested
            for mark in self.marks
            for each in item.mutants
            if mark.fits(item.key.id, item.dialect, each.mutant.sql)
        }
        return tuple(mark for mark in self.marks if mark not in used and (mark.id, mark.dialect) in present)


def plain(sql: str) -> str:
    """The text with single blanks and without a final semicolon."""
    return " ".join(sql.split()).rstrip("; ")


def read_equivalents(path: Path) -> Equivalents:
    """The marks of a file. Raises `SettingsError` with the line that is none."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read", where=[str(error)], meaning="Nothing was mutated.") from error
    marks = [_mark(line, f"{path}:{number}", number) for number, line in enumerate(lines, start=1) if line.strip()]
    return Equivalents(tuple(marks), str(path))


def _mark(line: str, place: str, number: int) -> Mark:
    try:
        given = json.loads(line)
    except ValueError as error:
        raise _bad(place, str(error)) from error
    if not isinstance(given, dict):
        raise _bad(place, "not an object")
    for name in ("id", "sql", "reason"):
        if not isinstance(given.get(name), str | int) or not str(given[name]).strip():
            raise _bad(place, f"{name!r} is missing or empty")
    unknown = sorted(set(given) - {"id", "dialect", "sql", "reason"})
    if unknown:
        raise _bad(place, f"unknown keys: {', '.join(unknown)}")
    dialect = given.get("dialect") or ""
    return Mark(str(given["id"]), plain(str(given["sql"])), str(given["reason"]).strip(), canonical(str(dialect)), number)


def _bad(place: str, problem: str) -> SettingsError:
    return SettingsError(
        "a mark of an equivalent mutant cannot be used",
        where=[f"{place}: {problem}"],
        meaning="Nothing was mutated.",
        next_step='Each line is {"id": …, "dialect": …, "sql": the mutant, "reason": why no data tells it from golden SQL}.',
    )
