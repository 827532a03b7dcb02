"""Which recorded reply a request is for.

The header `X-Nl2sql-Gate-Case` says it. Where a client does not send it, the longest question of the dataset that stands in the
last user message names the item, and the messages name database and dialect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nl2sql_gate.generators import case_header
from nl2sql_gate.generators.recorded import Replies, dialects_to_try
from nl2sql_gate.prompt import NAMES
from nl2sql_gate.records import Completion, Item

Message = tuple[str, str]
"""Role and text."""


class Matcher:
    """Recorded replies, found by what a request says."""

    def __init__(self, replies: Replies, items: Sequence[Item]) -> None:
        self._replies = replies
        self._questions = _by_question(items)

    def find(self, header: str, texts: Sequence[Message]) -> tuple[str, Completion | str]:
        """The item that a request is about (empty where unknown), and its recorded reply or why there is none."""
        named = case_header.case_of(header)
        if named is not None:
            key, dialect = named
            dialects = dialects_to_try(key.dialect, dialect)
            reply = self._replies.find(key.id, dialects=dialects, database=key.database, trial=key.trial)
            return key.id, reply or f"no recorded reply for id {key.id}, {dialect}, database {key.database}, trial {key.trial}"
        asked = next((text for role, text in reversed(texts) if role == "user"), "")
        items = _longest_match(self._questions, asked)
        if not items:
            return (
                "",
                f"no question of the dataset stands in the last user message, and no header {case_header.NAME} names the case",
            )
        whole = "\n".join(text for _, text in texts)
        found: dict[str, Completion] = {}
        for item in _of_named_database(items, whole):
            recorded = self._replies.dialects_of(item.id)
            dialects = _by_mention(whole, recorded) or (recorded if len(recorded) == 1 else ())
            reply = self._replies.find(item.id, dialects=dialects, database=item.database, trial=None)
            if reply is not None:
                found[item.id] = reply
        if len(found) > 1:
            return "", f"several items ask this question: {', '.join(found)}; the header {case_header.NAME} tells them apart"
        return next(iter(found.items()), (items[0].id, f"no recorded reply for {' or '.join(item.id for item in items)}"))


def _by_question(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Items by their question, the longest first: the question of one item may stand inside that of another."""
    found: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: -len(_squeezed(item.question))):
        if _squeezed(item.question):
            found.setdefault(_squeezed(item.question), []).append(item)
    return found


def _longest_match(questions: Mapping[str, list[Item]], asked: str) -> list[Item]:
    squeezed = _squeezed(asked)
    return next((items for question, items in questions.items() if question in squeezed), [])


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _of_named_database(items: Sequence[Item], text: str) -> Sequence[Item]:
    """Of items with the same question, those whose database the messages name; all, where none is named."""
    return [item for item in items if _position(text, item.database) is not None] or items


def _by_mention(text: str, dialects: Sequence[str]) -> tuple[str, ...]:
    """Those of the dialects that the messages name, the first named first."""
    found = []
    for dialect in dialects:
        spellings = (dialect, NAMES.get(dialect, dialect).partition(" (")[0])
        positions = [position for name in spellings if (position := _position(text, name)) is not None]
        if positions:
            found.append((min(positions), dialect))
    return tuple(dialect for _, dialect in sorted(found))


def _position(text: str, name: str) -> int | None:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) if name else None
    return found.start() if found else None
