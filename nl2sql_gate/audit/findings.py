"""The findings of an audit: what there is to find, how grave it is, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nl2sql_gate.records import Item, Place

Severity = Literal["error", "warning", "note"]
NOWHERE = Place()
GRAVITY: dict[str, int] = {"error": 2, "warning": 1, "note": 0}


@dataclass(frozen=True, slots=True)
class Kind:
    """One thing that an audit looks for. `advice` is what to do about it; `docs/audit.md` has a section of the same id."""

    severity: Severity
    title: str
    advice: str


CATALOGUE: dict[str, Kind] = {
    "golden-error": Kind("error", "golden SQL fails", "Mend the golden SQL, its setup_sql or its eval_query."),
    "golden-unstable": Kind("error", "golden SQL gives other rows when it runs again", "Order it, or select what does not vary."),
    "golden-order": Kind("error", "golden rows depend on the physical order of the data", "Add keys to its ORDER BY."),
    "golden-settings": Kind(
        "warning", "golden rows depend on a session setting", "Name the time zone, or avoid what depends on it."
    ),
    "golden-clock": Kind(
        "warning", "golden SQL depends on today's date", "Compare with a fixed date, or let the question name one."
    ),
    "golden-empty": Kind(
        "warning", "golden result is empty", "Add rows that the question finds: any wrong query that finds nothing passes."
    ),
    "golden-all-null": Kind("warning", "golden result holds only NULL", "Add rows that give a value."),
    "limit-tie": Kind("error", "a LIMIT cuts through a tie", "Add a key that breaks the tie, or give the alternatives."),
    "limit-unordered": Kind("error", "LIMIT without an order", "Order the rows, or any of them would be right."),
    "null-order": Kind("warning", "NULL among sort keys", "Filter NULLs, or say NULLS FIRST or LAST: engines differ."),
    "numeric-text": Kind("warning", "numbers sorted as text", "Cast the key: '10' sorts before '9'."),
    "dialects-disagree": Kind(
        "error", "goldens of one item disagree across dialects", "One of them is wrong, or the data differ."
    ),
    "alternatives-disagree": Kind(
        "note", "alternative goldens give different rows, columns beside them apart", "Meant where several answers are right."
    ),
    "effect-unseen": Kind("warning", "eval_query does not see the golden's effect", "Query what the statement changes."),
    "no-effect": Kind("warning", "golden SQL changes nothing", "A statement that changes nothing tests nothing."),
    "type-contradicts": Kind("warning", "query_type contradicts the SQL", "Correct query_type."),
    "foreign-literal": Kind("error", "SQL names a project or a temporary database", "Use {{dataset}} or plain table names."),
    "similar-questions": Kind("note", "two questions are nearly the same", "Keep one: they are flipped together."),
    "golden-in-prompt": Kind(
        "error", "the prompt holds the golden SQL", "Take it out of the template, the evidence or the schema."
    ),
    "dataset-warning": Kind("note", "the file was odd", "See the message."),
}
"""Finding id → what it is."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: its id in the catalogue, the item (and dialect, where it is of one), and the smallest evidence in words."""

    id: str
    item: str
    message: str
    dialect: str = ""
    place: Place = NOWHERE
    waived: str = ""

    @property
    def severity(self) -> Severity:
        """How grave it is; a waived finding is a note."""
        return "note" if self.waived else CATALOGUE[self.id].severity


def found(kind: str, item: Item, message: str, dialect: str = "") -> Finding:
    """A finding about `item`."""
    return Finding(kind, item.id, message, dialect, item.place)
