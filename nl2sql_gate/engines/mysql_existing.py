"""A MySQL or MariaDB database of the user's own: questions only, in read-only transactions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pymysql

from nl2sql_gate.engines.mysql_catalogue import MysqlTemplate, read_schema
from nl2sql_gate.engines.mysql_server import MysqlAddress, connect
from nl2sql_gate.engines.mysql_session import HANG_S, MysqlSession, lost
from nl2sql_gate.engines.pulse import Pulse
from nl2sql_gate.engines.statements import surely_reads
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Execution, Limits, Schema, SqlError

_HARMLESS = frozenset({"SELECT", "USAGE", "SHOW VIEW", "SHOW DATABASES", "PROCESS", "REFERENCES"})
_GRANT = re.compile(r"GRANT (.*?) ON (.*?) TO ", re.IGNORECASE)


class ExistingMysql:
    """One database that the user has, read as the URL's user."""

    digest = "unknown"

    def __init__(
        self, *, source: DatabaseSource, address: MysqlAddress, limits: Limits, pulse: Pulse, may_write: bool = False
    ) -> None:
        self.name = source.name
        self._pulse = pulse
        self._dialect = source.dialect
        self._address = address
        self._limits = limits
        self._may_write = may_write
        self._template = MysqlTemplate(self._connect, dialect=source.dialect, alone=True)

    def version(self) -> str:
        """What the server says that it is."""
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            return str(cursor.fetchone()[0])

    def look_at_powers(self, service: str, *, insist: bool) -> bool:
        """Whether the URL's user may do more than read. Raises `SettingsError` where he may and nobody insists."""
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SHOW GRANTS")
            grants = [_GRANT.match(str(row[0])) for row in cursor.fetchall()]
        powers = [
            f"{right} on {grant[2]}"
            for grant in grants
            if grant
            for right in (re.sub(r"\s*\(.*?\)", "", part).strip().upper() for part in grant[1].split(","))
            if right not in _HARMLESS
        ]
        if powers and not insist:
            raise SettingsError(
                f"services.{service}: the user {self._address.user} can do more than read the existing database",
                where=powers[:5],
                meaning="Generated SQL is untrusted: on an existing database it runs as a user who can only read.",
                next_step="Give a user with SELECT alone, or say insist: true to rely on read-only transactions.",
            )
        return bool(powers)

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments; sample values only as far as asked for."""
        try:
            with closing(self._connect()) as connection:
                return read_schema(connection, self.name, self._dialect, sample_values=sample_values)
        except (pymysql.MySQLError, OSError) as error:
            raise lost(error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session of its own in read-only transactions that are rolled back."""
        self._pulse.check()
        try:
            connection = self._connect()
        except (pymysql.MySQLError, OSError) as error:
            raise lost(error) from error
        kind = _QueriesOnly if self._may_write else MysqlSession
        session = kind(
            connection,
            limits=self._limits,
            kill=self._kill,
            take_state=lambda _: self._template.state(),
            mode="read only",
            dialect=self._dialect,
        )
        try:
            yield session
        finally:
            session.let_go()
            with suppress(pymysql.MySQLError, OSError):
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
        """Nothing is kept open."""

    def _connect(self) -> pymysql.Connection[Any]:
        parameters = self._address.parameters(database=self._address.database)
        return connect(parameters, read_timeout_s=self._limits.statement_s + HANG_S)

    def _kill(self, thread: int) -> None:
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute(f"KILL QUERY {thread}")


class _QueriesOnly(MysqlSession):
    """A session of a user who could write. MariaDB commits a read-only transaction before DROP TABLE, and drops."""

    def execute(self, sql: str) -> Execution:
        """Run `sql` where it surely reads."""
        if not surely_reads(sql, self._dialect):
            return SqlError("only queries run on an existing database that its user may write to", reason="refused")
        return super().execute(sql)
