"""One database of PostgreSQL: a copy for reading, private ones for writing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from nl2sql_gate.engines.postgres_clones import Clones
from nl2sql_gate.engines.postgres_cluster import Cluster
from nl2sql_gate.engines.postgres_schema import read_schema
from nl2sql_gate.engines.postgres_session import PostgresSession, lost
from nl2sql_gate.engines.postgres_state import PostgresTemplate
from nl2sql_gate.engines.pulse import Pulse
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Schema

_READ_ONLY = ("default_transaction_read_only=on", "lock_timeout=5000")


class PostgresDatabase:
    """A database for reading, and the template of the copies for writing.

    A template can only be copied while nobody is connected to it, so that reading needs a copy too; it is made in the background.
    """

    def __init__(self, *, name: str, digest: str, copy: Future[str], cluster: Cluster, clones: Clones, pulse: Pulse) -> None:
        self.name = name
        self.digest = digest
        self._copy = copy
        self._cluster = cluster
        self._clones = clones
        self._pulse = pulse
        self._template = PostgresTemplate(self._connect)
        self._idle: list[psycopg.Connection[Any]] = []
        self._lock = threading.Lock()

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments and sample values, read from the catalogue."""
        try:
            with self._connect() as connection:
                return read_schema(connection, self.name, sample_values=sample_values)
        except psycopg.Error as error:
            raise lost(error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A read-only session: a role that may only SELECT, in read-only transactions."""
        self._pulse.check()
        connection = self._take()
        session = PostgresSession(
            connection,
            limits=self._cluster.limits,
            take_state=lambda _: self._template.state(),
            memory_is_limited=self._cluster.memory_is_limited,
        )
        try:
            yield session
        finally:
            session.end_prepared_transactions()
            self._give_back(connection)

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy."""
        self._pulse.check()
        with self._clones.lend(statements) as (connection, in_transaction):
            session = PostgresSession(
                connection,
                limits=self._cluster.limits,
                take_state=lambda used: (
                    self._template.after(connection, in_transaction=in_transaction) if used else self._template.state()
                ),
                mode="rolled back" if in_transaction else "autocommit",
                memory_is_limited=self._cluster.memory_is_limited,
            )
            try:
                yield session
            finally:
                session.end_prepared_transactions()

    def dsn(self) -> str:
        """A URL for the reading role."""
        return self._cluster.url(self._copy.result(), self._cluster.reader)

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(psycopg.Error):
                connection.close()
        self._clones.close()

    def _take(self) -> psycopg.Connection[Any]:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except psycopg.Error as error:
            raise lost(error) from error

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            return self._cluster.connect(self._copy.result(), role=self._cluster.reader, options=_READ_ONLY)
        except CancelledError as error:
            raise EngineFault("the PostgreSQL service is stopping") from error

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        try:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.rollback()
            # Settings, prepared statements, cursors, locks, the role: as on the first day.
            connection.execute("DISCARD ALL")
        except psycopg.Error:
            with suppress(psycopg.Error):
                connection.close()
            return
        with self._lock:
            self._idle.append(connection)
