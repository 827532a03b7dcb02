"""What we make on a MySQL or MariaDB server, ours or given: databases with the run in their names, and users without powers."""

from __future__ import annotations

import itertools
import secrets
import threading
from contextlib import suppress
from typing import Any

import pymysql

from nl2sql_gate.engines.mysql_server import MysqlAddress, connect
from nl2sql_gate.engines.mysql_session import HANG_S, xid_of
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import Limits

PREFIX, USERS = "nl2sql_gate_", "ng_"
READING = "SELECT, SHOW VIEW"
_LOCK_WAIT_S = 10


def quoted(name: str) -> str:
    """A name as the server takes it whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


class MysqlCluster:
    """One server seen as an administrator."""

    def __init__(self, address: MysqlAddress, *, limits: Limits) -> None:
        self.address = address
        self.limits = limits
        self.run = secrets.token_hex(4)
        self.version = ""
        self.is_ours = False
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._admin: pymysql.Connection[Any] | None = None
        self._host = "localhost" if address.socket else "%"

    def open(self, *, ours: bool) -> None:
        """Connect, say that this run is alive, remove what dead runs left. `ours`: also remove accounts without a name."""
        self._admin = connect(self.address.parameters())
        self.is_ours = ours
        try:
            # Where something still holds a database of ours, nobody waits a day to drop it.
            self.ask(f"SET SESSION lock_wait_timeout = {_LOCK_WAIT_S}")
            self.version = str(self.ask("SELECT VERSION()")[0][0])
            if ours:
                for user, host in self.ask("SELECT User, Host FROM mysql.user WHERE User = ''"):
                    self.do(f"DROP USER {_account(user, host)}")
            self.ask(f"SELECT GET_LOCK('{PREFIX}{self.run}', 0)")
            if not ours:
                self._sweep()
        except pymysql.MySQLError as error:
            raise ServiceError(
                "the server does not let the gate work",
                where=[" ".join(str(error).split())],
                meaning="The gate makes databases and users of its own there, named nl2sql_gate_… and ng_…",
                next_step="Give a URL whose user may create databases and users, or existing: true for read-only questions.",
            ) from error

    def do(self, statement: str) -> None:
        """Run one statement as the administrator."""
        self.ask(statement)

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of one statement, run as the administrator."""
        with self._lock:
            if self._admin is None:
                raise pymysql.OperationalError(2006, "the administrator's connection is closed")
            with self._admin.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []

    def forget_prepared(self) -> None:
        """On a server of ours: roll back every global transaction whose connection is gone."""
        if self.is_ours:
            for row in self.ask("XA RECOVER"):
                with suppress(pymysql.MySQLError):
                    self.do(f"XA ROLLBACK {xid_of(row)}")

    def kill(self, thread: int) -> None:
        """End the statement that a connection runs."""
        self.do(f"KILL QUERY {thread}")

    def administrator(self, database: str = "") -> pymysql.Connection[Any]:
        """A second connection with all rights."""
        return connect(self.address.parameters(database=database))

    def enter(self, database: str, rights: str) -> tuple[pymysql.Connection[Any], str]:
        """A connection to `database` as a user of its own with `rights` there and nowhere else, and the user's name.

        Sessions of one user can end each other and read each other's SQL, so that each has another.
        """
        user, password = self.make_user(database, rights)
        parameters = self.address.parameters(database=database, user=user, password=password)
        return connect(parameters, read_timeout_s=self.limits.statement_s + HANG_S), user

    def make_user(self, database: str, rights: str) -> tuple[str, str]:
        """A new user's name and password."""
        user, password = f"{USERS}{self.run}_{next(self._numbers)}", secrets.token_urlsafe(18)
        self.do(f"CREATE USER {_account(user, self._host)} IDENTIFIED BY '{password}'")
        self.do(f"GRANT {rights} ON {pattern(database)}.* TO {_account(user, self._host)}")
        return user, password

    def allow(self, user: str, database: str, rights: str) -> None:
        """Give a user of ours rights in one more of our databases."""
        self.do(f"GRANT {rights} ON {pattern(database)}.* TO {_account(user, self._host)}")

    def drop_user(self, user: str) -> None:
        """Remove one of our users."""
        self.do(f"DROP USER IF EXISTS {_account(user, self._host)}")

    def new_name(self) -> str:
        """A database name that no other run uses."""
        return f"{PREFIX}{self.run}_{next(self._numbers)}"

    def create_database(self, name: str) -> None:
        """An empty database in UTF-8."""
        self.do(f"CREATE DATABASE {quoted(name)} CHARACTER SET utf8mb4")

    def drop_database(self, name: str) -> None:
        """Remove one of our databases."""
        if not name.startswith(f"{PREFIX}{self.run}_"):
            raise ValueError(name)
        self.do(f"DROP DATABASE IF EXISTS {quoted(name)}")

    def close(self, *, remove: bool) -> None:
        """End the administrator's connection; `remove` drops our databases and users first."""
        if remove:
            with suppress(pymysql.MySQLError, OSError):
                self._drop_run(self.run)
        with self._lock:
            admin, self._admin = self._admin, None
        if admin is not None:
            with suppress(pymysql.MySQLError, OSError):
                admin.close()

    def _sweep(self) -> None:
        names = [row[0] for row in self.ask("SHOW DATABASES LIKE 'nl2sql\\_gate\\_%'")]
        names += [PREFIX + row[0].removeprefix(USERS) for row in self.ask("SELECT User FROM mysql.user WHERE User LIKE 'ng\\_%'")]
        for run in sorted({name.removeprefix(PREFIX).partition("_")[0] for name in names}):
            # A run that lives holds its lock.
            alive = run == self.run or not run.isalnum() or self.ask(f"SELECT IS_FREE_LOCK('{PREFIX}{run}')")[0][0] != 1
            if not alive:
                self._drop_run(run)

    def _drop_run(self, run: str) -> None:
        for (name,) in self.ask(f"SHOW DATABASES LIKE 'nl2sql\\_gate\\_{run}\\_%'"):
            self.do(f"DROP DATABASE IF EXISTS {quoted(name)}")
        for user, host in self.ask(f"SELECT User, Host FROM mysql.user WHERE User LIKE 'ng\\_{run}\\_%'"):
            self.do(f"DROP USER IF EXISTS {_account(user, host)}")


def pattern(database: str) -> str:
    """A database's name where grants take patterns: an underscore would stand for any character."""
    return quoted(database.replace("_", "\\_"))


def _account(user: str, host: str) -> str:
    return f"'{user}'@'{host}'"
