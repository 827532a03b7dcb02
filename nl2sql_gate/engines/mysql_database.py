"""One database of MySQL or MariaDB: the template for reading, its copies for writing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pymysql

from nl2sql_gate.engines.mysql_catalogue import MysqlTemplate, read_schema
from nl2sql_gate.engines.mysql_clones import MysqlClones
from nl2sql_gate.engines.mysql_cluster import READING, MysqlCluster
from nl2sql_gate.engines.mysql_session import MysqlSession, lost
from nl2sql_gate.engines.pulse import Pulse
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Schema
from nl2sql_gate.sqltext import with_database_renamed


class MysqlDatabase:
    """The template itself for reading, and its copies for writing."""

    def __init__(
        self, *, source: DatabaseSource, database: str, cluster: MysqlCluster, clones: MysqlClones, alone: bool, pulse: Pulse
    ) -> None:
        self.name = source.name
        self.digest = source.digest
        self._dialect = source.dialect
        self._database = database
        self._cluster = cluster
        self._clones = clones
        self._pulse = pulse
        self._idle: list[tuple[pymysql.Connection[Any], str]] = []
        self._lock = threading.Lock()
        self._reader: tuple[str, str] | None = None
        self._template = MysqlTemplate(lambda: cluster.administrator(database), dialect=source.dialect, alone=alone)

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments and sample values, read from the catalogue."""
        try:
            with closing(self._cluster.administrator(self._database)) as connection:
                return read_schema(connection, self.name, self._dialect, sample_values=sample_values)
        except (pymysql.MySQLError, OSError) as error:
            raise lost(error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A read-only session of a user with SELECT on this database alone."""
        self._pulse.check()
        connection, user = self._take()
        session = MysqlSession(
            connection,
            limits=self._cluster.limits,
            kill=self._cluster.kill,
            take_state=lambda _: self._template.state(),
            dialect=self._dialect,
            owns_server=self._cluster.is_ours,
            rename=self._renames_to(self._database),
        )
        try:
            yield session
        finally:
            session.let_go()
            self._give_back(connection, user, clean=not (session.left_traces or session.clock_stands))

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy."""
        self._pulse.check()
        with self._clones.lend(statements) as clone:
            session = MysqlSession(
                clone.connection,
                limits=self._cluster.limits,
                kill=self._cluster.kill,
                take_state=lambda ran: (
                    self._template.after(clone.connection, ran, rolled_back=clone.rolls_back) if ran else self._template.state()
                ),
                mode="rolled back" if clone.rolls_back else "autocommit",
                dialect=self._dialect,
                owns_server=self._cluster.is_ours,
                rename=self._renames_to(clone.database),
            )
            try:
                yield session
            finally:
                session.let_go()
                clone.spoiled = session.committed or session.clock_stands

    def dsn(self) -> str:
        """A URL for a user who may only read."""
        from urllib.parse import quote

        with self._lock:
            if self._reader is None:
                self._reader = self._cluster.make_user(self._database, READING)
        user, password = self._reader
        address = self._cluster.address
        if address.socket:
            return f"mysql+pymysql://{user}:{password}@localhost/{self._database}?unix_socket={quote(address.socket, safe='')}"
        return f"mysql+pymysql://{user}:{password}@{address.host}:{address.port}/{self._database}"

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            with suppress(pymysql.MySQLError, OSError):
                connection.close()
        self._clones.close()

    def _renames_to(self, database: str) -> Callable[[str], str]:
        return lambda sql: with_database_renamed(sql, self._dialect, name=self.name, actual=database)

    def _take(self) -> tuple[pymysql.Connection[Any], str]:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            connection, user = self._cluster.enter(self._database, READING)
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
        except (pymysql.MySQLError, OSError) as error:
            raise lost(error) from error
        return connection, user

    def _give_back(self, connection: pymysql.Connection[Any], user: str, *, clean: bool) -> None:
        if clean and connection.open:
            with self._lock:
                self._idle.append((connection, user))
            return
        # Settings, variables, locks, handlers: a new connection has none of them.
        with suppress(pymysql.MySQLError, OSError):
            connection.close()
        with suppress(pymysql.MySQLError, OSError):
            self._cluster.drop_user(user)
            self._cluster.forget_prepared()
