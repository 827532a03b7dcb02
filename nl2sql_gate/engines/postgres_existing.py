"""A PostgreSQL database of the user's own: questions only, in transactions that cannot be made to write."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from nl2sql_gate.engines.postgres_cluster import connect
from nl2sql_gate.engines.postgres_schema import read_schema
from nl2sql_gate.engines.postgres_server import Address
from nl2sql_gate.engines.postgres_session import PostgresSession, lost
from nl2sql_gate.engines.postgres_state import PostgresTemplate
from nl2sql_gate.engines.pulse import Pulse
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Limits, Schema

_READ_ONLY = ("default_transaction_read_only=on", "lock_timeout=5000")

_POWERS = """
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       (SELECT pg_has_role(current_user, datdba, 'USAGE') FROM pg_database WHERE datname = current_database()),
       (SELECT min(c.oid::regclass::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
          AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
"""


class ExistingPostgres:
    """One database that the user has, read as the URL's user."""

    digest = "unknown"

    def __init__(self, *, name: str, address: Address, limits: Limits, pulse: Pulse) -> None:
        self.name = name
        self._pulse = pulse
        self._address = address
        self._limits = limits
        self._idle: list[psycopg.Connection[Any]] = []
        self._lock = threading.Lock()
        self._template = PostgresTemplate(self._connect)

    def refuse_powers(self, service: str) -> None:
        """Raise `SettingsError` where the URL's user may write."""
        with self._connect() as connection:
            row = connection.execute(_POWERS).fetchone()
        superuser, owner, writable = row or (True, True, "")
        problems = ["it is a superuser"] if superuser else []
        problems += ["it owns the database"] if owner and not superuser else []
        problems += [f"it may write to table {writable}"] if writable and not superuser else []
        if problems:
            raise SettingsError(
                f"services.{service}: the user {self._address.user} can write to the existing database",
                where=problems,
                meaning="Generated SQL is untrusted: on an existing database it runs as a user who can only read.",
                next_step="Give a user with SELECT alone, or say insist: true to rely on read-only transactions.",
            )

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments; sample values only as far as asked for."""
        try:
            with self._connect() as connection:
                return read_schema(connection, self.name, sample_values=sample_values)
        except psycopg.Error as error:
            raise lost(error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session in read-only transactions that are rolled back."""
        self._pulse.check()
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or self._connect()
        except psycopg.Error as error:
            raise lost(error) from error
        session = PostgresSession(connection, limits=self._limits, take_state=lambda _: self._template.state(), mode="read only")
        try:
            yield session
        finally:
            session.end_prepared_transactions()
            try:
                if connection.info.transaction_status != TransactionStatus.IDLE:
                    connection.rollback()
                connection.execute("DISCARD ALL")
                with self._lock:
                    self._idle.append(connection)
            except psycopg.Error:
                with suppress(psycopg.Error):
                    connection.close()

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """Refused: nothing is ever written to an existing database, and no copy of it is made."""
        del statements
        raise SettingsError(
            f"the existing database {self.name} is for questions only",
            meaning="Items of type dml and ddl, and items with setup_sql, need a database that the gate has built.",
            next_step="Leave them out with filters: {types: [dql]}, or give a setup directory instead of existing: true.",
        )
        yield  # type: ignore[unreachable]

    def dsn(self) -> str:
        """None: the user's own credentials are not handed on."""
        return ""

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(psycopg.Error):
                connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        return connect(self._address.parameters(), statement_s=self._limits.statement_s, options=_READ_ONLY)
