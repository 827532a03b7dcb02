"""Private databases for writing: a transaction that is rolled back where nothing can end it, else a clone that is thrown away.

Clones are made ahead by a background thread, so that an item waits for a connection and not for a copy.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from nl2sql_gate.engines.background import BackgroundWork
from nl2sql_gate.engines.postgres_cluster import Cluster
from nl2sql_gate.engines.postgres_session import lost
from nl2sql_gate.engines.postgres_state import FORCED_STATISTICS_SINCE

_OUTER = "nl2sql_gate_outer"
_DOUBTFUL = re.compile(
    r"\b(?:begin|end|commit|rollback|abort|start|savepoint|release|prepare|vacuum|concurrently|database|tablespace|system|cluster|reindex|do|call"
    r"|procedure|discard|listen|notify|subscription|role|user|group|dblink|set_config|reset|add\s+value|set\s+(?:session|local|\w+\s*(?:=|to)))\b",
    re.IGNORECASE,
)
# DISCARD ALL must stand alone, and would cost another turn to the server.
_DISCARD_ALL = (
    "CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; DEALLOCATE ALL; UNLISTEN *;"
    " DISCARD PLANS; DISCARD TEMP; DISCARD SEQUENCES"
)
_SEQUENCES = "SELECT c.oid::int8, pg_sequence_last_value(c.oid) FROM pg_class c WHERE c.relkind = 'S' ORDER BY 1"
_RESTORE_SEQUENCE = "SELECT setval(%s::oid::regclass, coalesce(%s, (SELECT seqstart FROM pg_sequence WHERE seqrelid = %s)), %s)"


def can_roll_back(statements: Sequence[str]) -> bool:
    """Whether nothing in `statements` can end a transaction or refuses to run in one."""
    # Words alone tell what is safe; what they make doubtful (GROUP BY, DO NOTHING, SET a=1) is read as SQL.
    if not any(_DOUBTFUL.search(text) for text in statements):
        return True
    from nl2sql_gate.sqltext import transaction_control

    return not any(transaction_control(text, "postgres") for text in statements)


@dataclass
class Clone:
    """One private database and the connection to it."""

    database: str
    connection: psycopg.Connection[Any]
    sequences: Sequence[tuple[Any, ...]] = ()


class Clones:
    """All private copies of one template. As many are kept ready as were asked for and not there, up to `ahead`."""

    def __init__(self, cluster: Cluster, template: str, *, ahead: int, work: BackgroundWork, one_at_a_time: bool) -> None:
        self._cluster = cluster
        self._template = template
        self._most_ahead = ahead
        self._ahead = 0
        self._work = work
        self._lock = threading.Lock()
        self._spare: list[Clone] = []
        self._coming = 0
        self._kept: list[Clone] = []
        # A large database is cloned once, and its items take turns.
        self._turn = threading.Lock() if one_at_a_time else None

    @contextmanager
    def lend(self, statements: Sequence[str]) -> Iterator[tuple[psycopg.Connection[Any], bool]]:
        """A connection as the writing role, and whether it is in a transaction of ours."""
        if self._turn is not None:
            self._turn.acquire()
        try:
            with self._transaction() if can_roll_back(statements) else self._throw_away() as connection:
                yield connection
        except psycopg.Error as error:
            raise lost(error) from error
        finally:
            if self._turn is not None:
                self._turn.release()

    @contextmanager
    def _transaction(self) -> Iterator[tuple[psycopg.Connection[Any], bool]]:
        clone = self._take_kept()
        connection = clone.connection
        clean = False
        try:
            # Deferred constraints would only be checked at a COMMIT that never comes.
            connection.execute(f"BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT {_OUTER}")
            yield connection, True
            clean = self._roll_back(clone)
        finally:
            if clean:
                with self._lock:
                    self._kept.append(clone)
            else:
                self._discard(clone)

    @contextmanager
    def _throw_away(self) -> Iterator[tuple[psycopg.Connection[Any], bool]]:
        clone = self._take_spare()
        try:
            yield clone.connection, False
        finally:
            self._discard(clone)

    def _roll_back(self, clone: Clone) -> bool:
        """Whether the clone is as it was; the savepoint is gone where the SQL has ended the transaction."""
        connection = clone.connection
        if (
            connection is None
            or connection.closed
            or connection.info.transaction_status not in {TransactionStatus.INTRANS, TransactionStatus.INERROR}
        ):
            return False
        try:
            now_there = _last_rows(connection.execute(self._tidying(connection.info.server_version)))
            for before, now in zip(clone.sequences, now_there, strict=True):
                # Sequences do not roll back, and both sides must get the same numbers.
                if before != now:
                    connection.execute(_RESTORE_SEQUENCE, (before[0], before[1], before[0], before[1] is not None))
        except (psycopg.Error, ValueError):
            return False
        return True

    def _tidying(self, version: int) -> str:
        """All that makes a session and its copy as they were, sent at once; its last rows are the sequences."""
        words = [f"ROLLBACK TO SAVEPOINT {_OUTER}; ROLLBACK", _DISCARD_ALL]
        if not self._cluster.superuser:
            # Where we are superuser nobody can take such a lock, nor call this.
            words.append("SELECT pg_advisory_unlock_all()")
        if version >= FORCED_STATISTICS_SINCE:
            # Which tables a transaction touched is read from counts that would go on from this one's.
            words.append("SELECT pg_stat_force_next_flush()")
        return "; ".join((*words, _SEQUENCES))

    def _take_kept(self) -> Clone:
        with self._lock:
            clone = self._kept.pop() if self._kept else None
        if clone is None:
            clone = self._clone()
            clone.sequences = clone.connection.execute(_SEQUENCES).fetchall()
        return clone

    def _take_spare(self) -> Clone:
        with self._lock:
            clone = self._spare.pop() if self._spare else None
            if clone is None and self._turn is None:
                self._ahead = min(self._ahead + 1, self._most_ahead)
            missing = max(0, self._ahead - len(self._spare) - self._coming)
            self._coming += missing
        for _ in range(missing):
            self._work.put(self._make_spare)
        return clone or self._clone()

    def _make_spare(self) -> None:
        clone = None
        # The item that needs one makes it itself, and tells why it cannot.
        with suppress(psycopg.Error):
            clone = self._clone()
        with self._lock:
            self._coming -= 1
            if clone is not None:
                self._spare.append(clone)

    def _clone(self) -> Clone:
        name = self._cluster.new_name()
        self._cluster.create_database(name, template=self._template)
        self._cluster.let_in(name, self._cluster.writer, "CONNECT, CREATE, TEMPORARY")
        return Clone(name, self._cluster.connect(name, role=self._cluster.writer))

    def _discard(self, clone: Clone) -> None:
        with suppress(psycopg.Error):
            clone.connection.close()

        def drop() -> None:
            with suppress(psycopg.Error):
                self._cluster.drop_database(clone.database)
                self._cluster.reset_role(self._cluster.writer)

        if self._turn is not None:
            drop()
        else:
            self._work.put(drop)

    def close(self) -> None:
        """Close kept connections; the databases go with the run."""
        with self._lock:
            kept, self._kept, self._spare = [*self._kept, *self._spare], [], []
        for clone in kept:
            with suppress(psycopg.Error):
                clone.connection.close()


def _last_rows(cursor: psycopg.Cursor[Any]) -> Sequence[tuple[Any, ...]]:
    """The rows of the last of several statements that were sent together."""
    while cursor.nextset():
        pass
    return cursor.fetchall()
