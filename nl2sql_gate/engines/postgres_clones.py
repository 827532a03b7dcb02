"""Private databases for writing: a transaction that is rolled back where nothing can end it, else a clone that is thrown away.

Clones are made ahead by a background thread, so that an item waits for a connection and not for a copy.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus

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
_SEQUENCES = """
SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S' AND c.relpersistence <> 't' ORDER BY 1
"""
_FIRST_COPY_S = 0.5  # what a copy takes, before one was made
_MOST_NAMED = 200  # sequences in one statement; its rows have room for 1,600 columns


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
    sequences: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    """The last value of each sequence by its quoted name, and whether it was given out."""


class Clones:
    """All private copies of one template. As many are kept ready as were asked for and not there, up to `ahead`."""

    def __init__(self, cluster: Cluster, template: str, *, ahead: int, work: BackgroundWork, one_at_a_time: bool) -> None:
        self._cluster = cluster
        self._template = template
        self._most_ahead = ahead
        self._ahead = 0
        self._work = work
        self._lock = threading.Condition()
        self._spare: list[Clone] = []
        self._coming = 0
        self._kept: list[Clone] = []
        self._lent = 0  # of those that are kept
        self._closed = False
        self._waited_s = 0.0
        self._copy_s = _FIRST_COPY_S
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
            _at_once(connection, f"BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT {_OUTER}")
            yield connection, True
            clean = self._roll_back(clone)
        finally:
            with self._lock:
                self._lent -= 1
                clean = clean and not self._closed
                self._kept += [clone] if clean else []
                self._lock.notify()
            if not clean:
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
            _at_once(connection, self._tidying(connection.info.server_version))
            if clone.sequences:
                _restore_sequences(clone)
        except psycopg.Error:
            return False
        return True

    def _tidying(self, version: int) -> str:
        """All that makes a session and its copy as they were, but for sequences, sent at once."""
        words = [f"ROLLBACK TO SAVEPOINT {_OUTER}; ROLLBACK", _DISCARD_ALL]
        if not self._cluster.superuser:
            # Where we are superuser nobody can take such a lock, nor call this.
            words.append("SELECT pg_advisory_unlock_all()")
        if version >= FORCED_STATISTICS_SINCE:
            # Which tables a transaction touched is read from counts that would go on from this one's.
            words.append("SELECT pg_stat_force_next_flush()")
        return "; ".join(words)

    def _take_kept(self) -> Clone:
        with self._lock:
            if not self._kept and self._lent:
                # Items of a few milliseconds may share a copy; once they have waited as long as it takes to make one, it is made.
                began = time.monotonic()
                self._lock.wait_for(lambda: self._kept or not self._lent or self._closed, max(0.0, self._copy_s - self._waited_s))
                self._waited_s += time.monotonic() - began
            clone = self._kept.pop() if self._kept else None
            self._lent += 1
        if clone is not None:
            return clone
        try:
            began = time.monotonic()
            clone = self._clone()
            names = [name for (name,) in clone.connection.execute(_SEQUENCES).fetchall()]
            clone.sequences = _values(clone.connection, names)
        except BaseException:
            with self._lock:
                self._lent -= 1
                self._lock.notify()
            raise
        with self._lock:
            self._copy_s, self._waited_s = time.monotonic() - began, 0.0
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
            if clone is not None and not self._closed:
                self._spare.append(clone)
                clone = None
        if clone is not None:
            clone.connection.close()

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
            self._closed = True
            self._lock.notify_all()
        for clone in kept:
            with suppress(psycopg.Error):
                clone.connection.close()


def _at_once(connection: psycopg.Connection[Any], statements: str) -> None:
    """Run our own statements in one turn to the server, without a cursor, which takes as long again. Raises `psycopg.Error`."""
    result = connection.pgconn.exec_(statements.encode())
    if result.status not in {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}:
        raise psycopg.OperationalError(result.get_error_message())


def _restore_sequences(clone: Clone) -> None:
    """Sequences do not roll back, and both sides must get the same numbers."""
    now = _values(clone.connection, list(clone.sequences))
    moved = {name: before for name, before in clone.sequences.items() if now[name] != before}
    for name, before in moved.items():
        clone.connection.execute("SELECT setval(%s::regclass, %s, %s)", (name, *before))
    if moved:
        # Else currval would know of it.
        clone.connection.execute("DISCARD SEQUENCES")


def _values(connection: psycopg.Connection[Any], names: Sequence[str]) -> dict[str, tuple[int, bool]]:
    found: dict[str, tuple[int, bool]] = {}
    for start in range(0, len(names), _MOST_NAMED):
        part = names[start : start + _MOST_NAMED]
        columns = (f"(SELECT ARRAY[last_value, is_called::int] FROM {name})" for name in part)
        row = connection.execute(f"SELECT {', '.join(columns)}").fetchone() or ()
        found |= {name: (pair[0], bool(pair[1])) for name, pair in zip(part, row, strict=True)}
    return found
