"""A database that answers to its name in the dataset, whatever the copy is called on which SQL runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nl2sql_gate.protocols import Database, Session
from nl2sql_gate.records import DatabaseSource, Execution
from nl2sql_gate.sqltext import without_database


def addressed(source: DatabaseSource) -> DatabaseSource:
    """`source` with scripts that do without its name."""
    pre, setup, post = (
        tuple(replace(one, text=without_database(one.text, source.dialect, source.name)) for one in statements)
        for statements in (source.pre, source.setup, source.post)
    )
    return replace(source, pre=pre, setup=setup, post=post)


class Addressed:
    """`database` for SQL that may write `shop.customer` for `customer`. All else is the database's own."""

    def __init__(self, database: Database, dialect: str) -> None:
        self._database = database
        self._dialect = dialect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """As the database does."""
        with self._database.reading() as session:
            yield self._addressed(session)

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """As the database does, by what will run."""
        with self._database.writing([self._plain(text) for text in statements]) as session:
            yield self._addressed(session)

    def _plain(self, sql: str) -> str:
        return without_database(sql, self._dialect, self._database.name)

    def _addressed(self, session: Session) -> Any:
        return _AddressedSession(session, self._dialect, self._database.name)


class _AddressedSession:
    def __init__(self, session: Session, dialect: str, name: str) -> None:
        self._session = session
        self._dialect = dialect
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def execute(self, sql: str) -> Execution:
        """As the session does."""
        return self._session.execute(without_database(sql, self._dialect, self._name))
