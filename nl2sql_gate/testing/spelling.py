"""Sessions that are told the tests' SQL in the dialect's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from nl2sql_gate.protocols import Database, Session
from nl2sql_gate.records import Execution, Schema, State
from nl2sql_gate.testing.under_test import Spelling


def respelled(text: str, spelling: Sequence[Spelling]) -> str:
    """What a test says, in the dialect's words: every rule in turn."""
    for rule in spelling:
        text = re.sub(rule.pattern, rule.replacement, text, flags=re.DOTALL)
    return text


class RespelledSession:
    """A session that is told the dialect's words."""

    def __init__(self, inner: Session, spelling: Sequence[Spelling]) -> None:
        self._inner = inner
        self._spelling = spelling

    def execute(self, sql: str) -> Execution:
        """Run what `sql` says."""
        return self._inner.execute(respelled(sql, self._spelling))

    def state(self) -> State:
        """The state as the session sees it."""
        return self._inner.state()

    def protect(self) -> None:
        """Refuse writes from now on."""
        self._inner.protect()

    def set_clock(self, instant: datetime | None) -> None:
        """Let the clock stand, or run again."""
        self._inner.set_clock(instant)


class RespelledDatabase:
    """A database whose sessions are told the dialect's words."""

    def __init__(self, inner: Database, spelling: Sequence[Spelling]) -> None:
        self.name = inner.name
        self.digest = inner.digest
        self._inner = inner
        self._spelling = spelling

    def schema(self, *, sample_values: int) -> Schema:
        """The schema, as it is."""
        return self._inner.schema(sample_values=sample_values)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A reading session."""
        with self._inner.reading() as session:
            yield RespelledSession(session, self._spelling)

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy, announced in the dialect's words too."""
        with self._inner.writing([respelled(statement, self._spelling) for statement in statements]) as session:
            yield RespelledSession(session, self._spelling)

    def dsn(self) -> str:
        """The URL, as it is."""
        return self._inner.dsn()
