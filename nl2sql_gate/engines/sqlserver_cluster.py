"""What we make on a SQL Server, ours or given: names with the run in them, two logins without powers, databases and copies."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyodbc

from nl2sql_gate.engines.sqlserver_address import SqlServerAddress, address_url
from nl2sql_gate.engines.sqlserver_batches import rows_of, run_to_end
from nl2sql_gate.engines.sqlserver_catalogue import bracketed
from nl2sql_gate.engines.sqlserver_fetch import literal, text_size
from nl2sql_gate.engines.sqlserver_removal import PREFIX, data_folder, drop, drop_run, folder_of, sweep, take_lock
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import Limits

Connect = Callable[..., Any]
_OLDEST = 13
_AZURE = 5

_REACH_OUT = (
    *("xp_dirtree", "xp_fileexist", "xp_fixeddrives", "xp_subdirs", "xp_getfiledetails", "xp_regread", "xp_instance_regread"),
    *("xp_readerrorlog", "xp_enumerrorlogs", "xp_msver", "xp_logevent"),
)
"""Procedures of the server's own that everybody may run and that look outside the database."""

_FACTS = """
SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), CAST(SERVERPROPERTY('EngineEdition') AS int),
  IS_SRVROLEMEMBER('sysadmin')
"""

SESSION = (
    "SET XACT_ABORT OFF; SET LOCK_TIMEOUT 5000; SET LANGUAGE us_english; SET DATEFORMAT mdy; SET DATEFIRST 7;"
    " SET ANSI_NULLS ON; SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; SET ARITHABORT ON; SET CONCAT_NULL_YIELDS_NULL ON;"
    " SET QUOTED_IDENTIFIER ON; SET NUMERIC_ROUNDABORT OFF; SET TEXTSIZE {}"
)

_WRITERS_RIGHTS = """
ALTER ROLE db_datareader ADD MEMBER {reader};
ALTER ROLE db_datareader ADD MEMBER {writer};
ALTER ROLE db_datawriter ADD MEMBER {writer};
ALTER ROLE db_ddladmin ADD MEMBER {writer};
GRANT VIEW DEFINITION TO {reader};
GRANT VIEW DEFINITION TO {writer};
GRANT EXECUTE TO {writer};
GRANT REFERENCES TO {writer};
GRANT IMPERSONATE ON USER::{reader} TO {writer}
"""

_READERS_FUNCTIONS = """
DECLARE @grants nvarchar(max) = N'';
SELECT @grants = @grants + N'GRANT EXECUTE ON ' + QUOTENAME(SCHEMA_NAME(schema_id)) + N'.' + QUOTENAME(name) + N' TO {reader};'
FROM sys.objects WHERE type = 'FN' AND is_ms_shipped = 0;
EXEC sys.sp_executesql @grants
"""


class SqlServerCluster:
    """One server seen as an administrator. Where that is no system administrator, copies are built anew and not restored."""

    def __init__(self, address: SqlServerAddress, *, limits: Limits, connect: Connect) -> None:
        self.address = address
        self.limits = limits
        self.run = secrets.token_hex(4)
        self.reader = f"{PREFIX}{self.run}_reader"
        self.writer = f"{PREFIX}{self.run}_writer"
        self.version = ""
        self.sysadmin = False
        # SQL Server wants letters of both kinds, figures and a sign.
        self._passwords = {login: f"Aa1-{secrets.token_urlsafe(24)}" for login in (self.reader, self.writer)}
        self._connect = connect
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._admin: Any = None
        self._backups: dict[str, str] = {}
        self._backing_up = threading.Lock()

    def open(self) -> None:
        """Connect, say that this run is alive, remove what dead runs left, make the logins.

        Raises `ServiceError`, and `pyodbc.Error` where the server does not let us in.
        """
        self._admin = self._connect(self.address, database="master")
        version, edition, sysadmin = self._one(_FACTS)
        self.version, self.sysadmin = str(version), sysadmin == 1
        self._refuse_old(int(edition))
        try:
            self._one(take_lock(self.run))
            sweep(self._admin, self.run)
            self._make_logins()
        except pyodbc.ProgrammingError as error:
            raise ServiceError(
                "SQL Server does not let the gate work",
                where=[" ".join(str(error.args[-1]).split())],
                meaning="The gate makes databases and logins of its own there, named nl2sql_gate_…",
                next_step="Give a user who may create databases and logins, or existing: true for read-only questions.",
            ) from error

    def connect(self, database: str, *, login: str = "") -> Any:
        """A fresh connection as one of the two logins, or as the administrator, whose session is the same everywhere."""
        connection = self._connect(self.address, database=database, user=login, password=self._passwords.get(login, ""))
        try:
            run_to_end(connection, SESSION.format(text_size(self.limits) if login else 2**31 - 1))
        except pyodbc.Error:
            connection.close()
            raise
        return connection

    def admin(self, *statements: str) -> None:
        """Run statements as the administrator, each to its end."""
        with self.administrator() as connection:
            for statement in statements:
                run_to_end(connection, statement)

    @contextmanager
    def administrator(self, database: str = "master") -> Iterator[Any]:
        """A connection of its own, since a copy takes its time."""
        connection = self.connect(database)
        try:
            yield connection
        finally:
            with suppress(pyodbc.Error):
                connection.close()

    def new_name(self) -> str:
        """A database name that no other run uses."""
        return f"{PREFIX}{self.run}_{next(self._numbers)}"

    def create_database(self, name: str) -> None:
        """An empty database with our two users, the writer its owner until `hand_over`."""
        own = bracketed(name)
        self.admin(
            f"CREATE DATABASE {own}",
            f"ALTER DATABASE {own} SET RECOVERY SIMPLE",
            f"ALTER DATABASE {own} SET DELAYED_DURABILITY = FORCED",
            f"ALTER DATABASE {own} SET ALLOW_SNAPSHOT_ISOLATION ON",
            f"ALTER DATABASE {own} SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
        )
        with self.administrator(name) as connection:
            # Parallel sums of floats change their last digits from run to run.
            run_to_end(connection, "ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 1")
            for login in (self.reader, self.writer):
                run_to_end(connection, f"CREATE USER {bracketed(login)} FOR LOGIN {bracketed(login)} WITH DEFAULT_SCHEMA = dbo")
            run_to_end(connection, f"ALTER ROLE db_owner ADD MEMBER {bracketed(self.writer)}")

    def hand_over(self, name: str) -> None:
        """The writer may change tables and definitions and no more, the reader may read."""
        reader, writer = bracketed(self.reader), bracketed(self.writer)
        with self.administrator(name) as connection:
            run_to_end(connection, f"ALTER ROLE db_owner DROP MEMBER {writer}")
            for statement in _WRITERS_RIGHTS.format(reader=reader, writer=writer).split(";"):
                run_to_end(connection, statement.strip())
            run_to_end(connection, _READERS_FUNCTIONS.format(reader=reader))

    def close_to_writes(self, name: str) -> None:
        """From now on nobody can write to the database, whatever rights he has."""
        self.admin(f"ALTER DATABASE {bracketed(name)} SET READ_ONLY WITH ROLLBACK IMMEDIATE")

    def restore(self, template: str, name: str) -> None:
        """A copy of a database, by a backup that is made once. For system administrators only."""
        with self.administrator() as connection:
            backup = self._backup(connection, template)
            folder = folder_of(backup)
            files = rows_of(connection, f"SELECT name, type FROM {bracketed(template)}.sys.database_files ORDER BY file_id")
            kinds = {1: "ldf"}
            moves = [
                f"MOVE {literal(str(row[0]))} TO {literal(f'{folder}{name}_{number}.' + kinds.get(row[1], 'mdf'))}"
                for number, row in enumerate(files)
            ]
            own = bracketed(name)
            run_to_end(connection, f"RESTORE DATABASE {own} FROM DISK = {literal(backup)} WITH {', '.join(moves)}, RECOVERY")
            run_to_end(connection, f"ALTER DATABASE {own} SET READ_WRITE WITH NO_WAIT")

    def drop_database(self, name: str) -> None:
        """Remove one of our databases and whoever is in it."""
        if not name.startswith(f"{PREFIX}{self.run}_"):
            raise ValueError(name)
        with self.administrator() as connection:
            drop(connection, name)

    def size_mb(self, name: str) -> float:
        """What the database's data weighs."""
        query = f"SELECT SUM(CAST(size AS bigint)) / 128.0 FROM {bracketed(name)}.sys.database_files WHERE type = 0"
        with self.administrator() as connection:
            return float(rows_of(connection, query)[0][0] or 0)

    def kill(self, session: int) -> None:
        """End a session that does not obey."""
        with suppress(pyodbc.Error):
            self.admin(f"KILL {session}")

    def url(self, database: str, login: str) -> str:
        """A URL for one of the logins."""
        return address_url(self.address, database=database, user=login, password=self._passwords[login])

    def close(self, *, remove: bool) -> None:
        """End the administrator's connection; `remove` drops our databases and logins first."""
        with self._lock:
            admin, self._admin = self._admin, None
        if admin is None:
            return
        try:
            if remove:
                drop_run(admin, self.run)
        finally:
            with suppress(pyodbc.Error):
                admin.close()

    def _one(self, query: str) -> Sequence[Any]:
        row: Sequence[Any] = rows_of(self._admin, query)[0]
        return row

    def _refuse_old(self, edition: int) -> None:
        major = int(self.version.partition(".")[0] or 0)
        if edition == _AZURE:
            problem = "Azure SQL Database has no databases side by side that one connection could make"
        elif major < _OLDEST:
            problem = f"SQL Server {self.version} is older than 2016"
        else:
            return
        raise ServiceError(
            problem,
            meaning="No database can be built there.",
            next_step="Give another server, or existing: true for read-only questions.",
        )

    def _make_logins(self) -> None:
        for login, password in self._passwords.items():
            name = bracketed(login)
            policy = "CHECK_POLICY = OFF, CHECK_EXPIRATION = OFF, DEFAULT_DATABASE = master"
            run_to_end(self._admin, f"CREATE LOGIN {name} WITH PASSWORD = {literal(password)}, {policy}")
            # What only a system administrator may do protects his server; where we are none, the login has no more than its own.
            denials = [f"DENY VIEW ANY DATABASE TO {name}", f"CREATE USER {name} FOR LOGIN {name}"]
            denials += [f"DENY EXECUTE ON sys.{procedure} TO {name}" for procedure in _REACH_OUT]
            for denial in denials:
                # Not every version has every one of these procedures.
                with suppress(pyodbc.ProgrammingError):
                    run_to_end(self._admin, denial)

    def _backup(self, connection: Any, template: str) -> str:
        with self._backing_up:
            if template not in self._backups:
                path = f"{data_folder(connection, template)}{template}.bak"
                to = f"BACKUP DATABASE {bracketed(template)} TO DISK = {literal(path)} WITH COPY_ONLY, FORMAT, INIT"
                run_to_end(connection, to)
                self._backups[template] = path
            return self._backups[template]
