"""A SQL Server database of the user's own: questions only, in transactions that are rolled back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pyodbc

from nl2sql_gate.engines.sqlserver_address import SqlServerAddress
from nl2sql_gate.engines.sqlserver_batches import run_to_end
from nl2sql_gate.engines.sqlserver_cluster import SESSION, Connect
from nl2sql_gate.engines.sqlserver_errors import connection_lost
from nl2sql_gate.engines.sqlserver_fetch import text_size
from nl2sql_gate.engines.sqlserver_schema import read_schema
from nl2sql_gate.engines.sqlserver_session import SqlServerSession
from nl2sql_gate.engines.sqlserver_state import SqlServerTemplate
from nl2sql_gate.engines.statements import surely_reads
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Execution, Limits, Schema, SqlError

_POWERS = """
SELECT IS_SRVROLEMEMBER('sysadmin'), IS_ROLEMEMBER('db_owner'), HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'CREATE TABLE'),
  (SELECT MIN(o.name) FROM sys.tables AS o
   WHERE HAS_PERMS_BY_NAME(QUOTENAME(SCHEMA_NAME(o.schema_id)) + N'.' + QUOTENAME(o.name), 'OBJECT', 'INSERT') = 1
      OR HAS_PERMS_BY_NAME(QUOTENAME(SCHEMA_NAME(o.schema_id)) + N'.' + QUOTENAME(o.name), 'OBJECT', 'UPDATE') = 1
      OR HAS_PERMS_BY_NAME(QUOTENAME(SCHEMA_NAME(o.schema_id)) + N'.' + QUOTENAME(o.name), 'OBJECT', 'DELETE') = 1)
"""


class ExistingSqlServer:
    """One database that the user has, read as the URL's user."""

    digest = "unknown"

    def __init__(
        self, *, name: str, address: SqlServerAddress, limits: Limits, connect: Connect, may_write: bool = False
    ) -> None:
        self.name = name
        self._address = address
        self._limits = limits
        self._open = connect
        self._may_write = may_write
        self._template = SqlServerTemplate(self._connect)

    def look_at_powers(self, service: str, *, insist: bool) -> bool:
        """Whether the URL's user may write. Raises `SettingsError` where he may and nobody insists."""
        with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
            sysadmin, owner, creates, writable = cursor.execute(_POWERS).fetchone()
        problems = ["it is a system administrator"] if sysadmin else []
        problems += ["it owns the database"] if owner and not sysadmin else []
        problems += ["it may create tables"] if creates and not (sysadmin or owner) else []
        problems += [f"it may write to table {writable}"] if writable and not (sysadmin or owner) else []
        if problems and not insist:
            raise SettingsError(
                f"services.{service}: the user {self._address.user} can write to the existing database",
                where=problems,
                meaning="Generated SQL is untrusted: on an existing database it runs as a user who can only read.",
                next_step="Give a user with SELECT alone, or say insist: true to rely on transactions that are rolled back.",
            )
        return bool(problems)

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments; sample values only as far as asked for."""
        try:
            with closing(self._connect()) as connection:
                return read_schema(connection, self.name, sample_values=sample_values)
        except pyodbc.Error as error:
            raise connection_lost(error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session whose every text runs in a transaction that is rolled back."""
        try:
            connection = self._connect()
        except pyodbc.Error as error:
            raise connection_lost(error) from error
        try:
            session = SqlServerSession(
                connection, limits=self._limits, take_state=lambda _: self._template.state(), kill=connection.close
            )
            yield _RolledBack(session, connection, careful=self._may_write)
        finally:
            with suppress(pyodbc.Error):
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

    def _connect(self) -> Any:
        connection = self._open(self._address, database=self._address.database)
        run_to_end(connection, SESSION.format(text_size(self._limits)))
        return connection


class _RolledBack:
    """A session of which nothing stays. `careful` takes only SQL that surely reads, for a user who could write."""

    def __init__(self, session: SqlServerSession, connection: Any, *, careful: bool) -> None:
        self._session = session
        self._connection = connection
        self._careful = careful
        self.state = session.state
        self.protect = self._nothing
        self.set_clock = session.set_clock

    def execute(self, sql: str) -> Execution:
        """Run `sql` and undo what it did."""
        if self._careful and not surely_reads(sql, "sqlserver"):
            return SqlError("only queries run on an existing database that its user may write to", reason="refused")
        try:
            run_to_end(self._connection, "BEGIN TRANSACTION")
            try:
                return self._session.execute(sql)
            finally:
                run_to_end(self._connection, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION")
        except pyodbc.Error as error:
            raise connection_lost(error) from error

    def _nothing(self) -> None:
        """It is protected already."""
