"""Recorded replies: JSON lines `{"id", "dialect"?, "database"?, "trial"?, "reply"}`, as users and the journal keep them.

What a line leaves out holds for all: a reply without `dialect` answers in every dialect, one without `trial` in every trial.
`finish`, `model`, `tokens_in`, `tokens_out`, `cost` and `latency_s` are taken where a line has them; other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from nl2sql_gate.dialects import canonical, lookup_order
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.generators.stored import completion_of
from nl2sql_gate.records import Completion, Place

Slot = tuple[str, str | None, str | None, int | None]
"""What a line answers: id, dialect, database, trial; `None` is any."""


@dataclass(frozen=True, slots=True)
class Replies:
    """The recorded replies of one file. `digest` is sha256 over the file's bytes."""

    path: str
    digest: str
    by_slot: Mapping[Slot, Completion]

    def find(self, item_id: str, *, dialects: Iterable[str], database: str | None, trial: int | None) -> Completion | None:
        """The most specific reply for a case, or none.

        `dialects` in order of preference. Where the trial is not known, the first recorded one answers.
        """
        turns = (trial, None) if trial is not None else (None, *self.trials)
        for dialect in (*dialects, None):
            for place in dict.fromkeys((database, None)):
                for turn in turns:
                    found = self.by_slot.get((item_id, dialect, place, turn))
                    if found is not None:
                        return found
        return None

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials that lines name, in order."""
        return tuple(sorted({slot[3] for slot in self.by_slot if slot[3] is not None}))

    def dialects_of(self, item_id: str) -> tuple[str, ...]:
        """The dialects that lines of this id name, in file order."""
        return tuple(dict.fromkeys(slot[1] for slot in self.by_slot if slot[0] == item_id and slot[1] is not None))

    def __len__(self) -> int:
        """How many replies there are."""
        return len(self.by_slot)


def dialects_to_try(service: str, dialect: str) -> tuple[str, ...]:
    """Names under which a case's reply may be recorded: its service, its dialect, the dialect whose material it may use."""
    return tuple(dict.fromkeys((canonical(service), *lookup_order(canonical(dialect)))))


def read_replies(path: str | Path) -> Replies:
    """The replies in a file. Raises `DatasetError` with file and line for the first line that is not one."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DatasetError(
            "the recorded replies cannot be read",
            where=[f"{path}: {error.strerror or error}"],
            meaning="No question was asked.",
            next_step="Correct replies: in the settings, or --replies.",
        ) from error
    by_slot: dict[Slot, Completion] = {}
    lines: dict[Slot, int] = {}
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        place = Place(str(path), number)
        entry = _entry(raw, place)
        slot = _slot(entry, place)
        if slot in by_slot:
            raise _broken(place, f"a second reply for {_described(slot)}; the first is on line {lines[slot]}")
        by_slot[slot] = _completion(entry, place)
        lines[slot] = number
    if not by_slot:
        raise _broken(Place(str(path)), "the file holds no reply")
    return Replies(str(path), sha256(content).hexdigest(), by_slot)


def _entry(raw: bytes, place: Place) -> dict[str, Any]:
    try:
        entry = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise _broken(place, f"not UTF-8: byte {error.start + 1} of the line") from error
    except json.JSONDecodeError as error:
        raise _broken(place, f"not JSON: {error.msg}, column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise _broken(place, f"not usable: {error}") from error
    if not isinstance(entry, dict):
        raise _broken(place, f"an object is needed, this is {_kind(entry)}")
    return entry


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the key {twice!r} stands twice in an object"
        raise ValueError(message)
    return entry


def _slot(entry: Mapping[str, Any], place: Place) -> Slot:
    identifier, dialect, database, trial = (entry.get(name) for name in ("id", "dialect", "database", "trial"))
    if "id" not in entry:
        raise _broken(place, "'id' is missing")
    if isinstance(identifier, bool) or not isinstance(identifier, int | str) or not str(identifier).strip():
        raise _broken(place, f"'id' must be text or an integer, not {_kind(identifier)}")
    for name, value in (("dialect", dialect), ("database", database)):
        if value is not None and not isinstance(value, str):
            raise _broken(place, f"{name!r} must be text, not {_kind(value)}")
    if trial is not None and (isinstance(trial, bool) or not isinstance(trial, int)):
        raise _broken(place, f"'trial' must be an integer, not {_kind(trial)}")
    return (str(identifier).strip(), canonical(dialect) if dialect else None, database or None, trial)


def _completion(entry: Mapping[str, Any], place: Place) -> Completion:
    if "reply" not in entry:
        raise _broken(place, "'reply' is missing")
    try:
        return completion_of(entry)
    except ValueError as error:
        raise _broken(place, str(error)) from error


def _described(slot: Slot) -> str:
    identifier, dialect, database, trial = slot
    named = [f"id {identifier!r}", dialect and f"dialect {dialect}", database and f"database {database}"]
    return ", ".join([name for name in named if name] + ([f"trial {trial}"] if trial is not None else []))


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


def _broken(place: Place, problem: str) -> DatasetError:
    return DatasetError(
        "the recorded replies are broken",
        where=[f"{place}: {problem}"],
        meaning="No question was asked: a reply that is lost would look like a question that was not answered.",
        next_step='A line is one object: {"id": ..., "dialect": ..., "trial": ..., "reply": "..."}; all but id and reply may go.',
    )
