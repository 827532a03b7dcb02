"""Rows of a foreign format, translated into EvalBench's keys and then read by its reader: one set of checks for all formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from nl2sql_gate.dataset.documents import Document
from nl2sql_gate.dataset.evalbench import ItemReader
from nl2sql_gate.dataset.problems import Problems, listed
from nl2sql_gate.dataset.shapes import shape_of, title_of
from nl2sql_gate.dataset.sql_fields import kind_of
from nl2sql_gate.records import Item, Place

OWN_KEYS = ("dialects", "eval_query", "setup_sql", "cleanup_sql", "columns", "golden_mode", "state", "row_order")
"""Keys of EvalBench's format that a row of any format may carry: they mean there what they mean here."""


class ForeignRow:
    """One row while it is translated. What `take` never asked for is found by `rest`, so that nothing is lost."""

    def __init__(self, raw: Mapping[str, Any], *, position: int, place: Place, problems: Problems) -> None:
        self.raw = raw
        self.position = position
        self.place = place
        self.subject = f"item number {position + 1}"
        self._problems = problems
        self._taken: set[str] = set()

    def take(self, *keys: str) -> Any:
        """The value of the first of `keys` that is there and not null."""
        self._taken.update(keys)
        return next((self.raw[key] for key in keys if self.raw.get(key) is not None), None)

    def text(self, *keys: str) -> str:
        """As `take`, for a text; the empty text where there is none. Another kind of value is an error."""
        value = self.take(*keys)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.refuse(next(key for key in keys if self.raw.get(key) is not None), f"expected text, found {kind_of(value)}")
            return ""
        return value

    def own(self) -> dict[str, Any]:
        """The row's keys of `OWN_KEYS`, as they are."""
        self._taken.update(OWN_KEYS)
        return {key: self.raw[key] for key in OWN_KEYS if self.raw.get(key) is not None}

    def rest(self) -> dict[str, Any]:
        """The keys that were not taken, with what stands under `other` already."""
        other = self.take("other")
        kept = dict(other) if isinstance(other, dict) else {} if other is None else {"other": other}
        return {**kept, **{key: value for key, value in self.raw.items() if key not in self._taken}}

    def refuse(self, field: str, message: str) -> None:
        """Add an error about this row."""
        self._problems.refuse(self.place, self.subject, f"{field}: {message}")

    def warn(self, code: str, message: str) -> None:
        """Add a warning about this row."""
        self._problems.warn(code, self.place, self.subject.removeprefix("item "), message)


Translate = Callable[[ForeignRow], dict[str, Any]]


def read_rows_as(
    name: str,
    document: Document,
    problems: Problems,
    translate: Translate,
    *,
    labels: Mapping[str, str],
    any_shape: bool = False,
) -> list[Item]:
    """The items of `document`, each row through `translate` and then through EvalBench's reader.

    `labels` are the format's own words for our keys, for messages. An id that comes twice is numbered, with a warning: published
    files have such, and whoever runs them cannot correct them. `any_shape`: the format is told by nothing in its rows.
    """
    reader = ItemReader(problems, labels=labels)
    items: list[Item] = []
    uses: Counter[str] = Counter()
    for position, (raw, line) in enumerate(zip(document.values, document.lines, strict=True)):
        place = Place(problems.file, line)
        if not isinstance(raw, dict):
            problems.refuse(place, f"item number {position + 1}", f"expected an object, found {kind_of(raw)}")
            continue
        shape = shape_of(raw)
        if shape is not None and shape.name != name and not any_shape:
            message = f"looks like an item of {shape.title}, not of {title_of(name)}; one file has one format"
            problems.refuse(place, f"item number {position + 1}", message)
            continue
        row = ForeignRow(raw, position=position, place=place, problems=problems)
        standard = translate(row)
        standard["id"] = _numbered(standard["id"], uses, row)
        item = reader.read(standard, position=position + 1, line=line)
        if item is not None:
            items.append(item)
    return items


def warn_of_keys(document: Document, problems: Problems, keys: tuple[str, ...], *, code: str, why: str) -> None:
    """One warning for the file that names which of `keys` its rows have, and why they are not used."""
    found = [
        key for key in keys if any(isinstance(raw, dict) and raw.get(key) not in (None, [], {}, "") for raw in document.values)
    ]
    if found:
        problems.warn(code, Place(problems.file), problems.file, f"{listed(found)}: {why}")


def _numbered(raw: Any, uses: Counter[str], row: ForeignRow) -> Any:
    """The id, with `#2` and so on behind one that other items have already."""
    if not isinstance(raw, str | int) or isinstance(raw, bool):
        return raw
    name = str(raw).strip()
    uses[name] += 1
    if uses[name] == 1:
        return raw
    own = f"{name}#{uses[name]}"
    uses[own] += 1
    row.warn("id_numbered", f"id: {name} is a duplicate id; this item is {own}")
    return own
