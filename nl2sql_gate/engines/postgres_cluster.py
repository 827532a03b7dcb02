"""What we make on a PostgreSQL server, ours or given: names with the run in them, two roles without powers, closed databases."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql

from nl2sql_gate.engines.cells_postgres import register
from nl2sql_gate.engines.postgres_server import Address
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import Limits

PREFIX = "nl2sql_gate_"
_LOCK_CLASS = 0x6E6C  # advisory locks of this class say which runs are alive
_STRATEGY_SINCE = 150000

_REVOKE_FUNCTIONS = """
DO $$
DECLARE f regprocedure;
BEGIN
  FOR f IN
    SELECT oid FROM pg_catalog.pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND (
      proname ~ '^lo_' OR proname IN ('loread', 'lowrite') OR proname ~ 'advisory'
      OR proname IN ('pg_terminate_backend', 'pg_cancel_backend', 'pg_notify', 'pg_logical_emit_message', 'pg_export_snapshot'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
  END LOOP;
END $$
"""


_SETTINGS = {
    "search_path": "public",
    "timezone": "UTC",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    # Parallel sums of floats change their last digits from run to run.
    "max_parallel_workers_per_gather": "0",
    "standard_conforming_strings": "on",
}


def connect(parameters: Mapping[str, Any], *, statement_s: float, options: Sequence[str] = ()) -> psycopg.Connection[Any]:
    """A connection in autocommit mode whose session is the same everywhere and whose values are cells; 0 is no time limit."""
    settings = dict(_SETTINGS)
    if statement_s:
        settings["statement_timeout"] = f"{max(1, round(statement_s * 1000))}"
    words = [f"-c {name}={_escaped(value)}" for name, value in settings.items()] + [f"-c {option}" for option in options]
    connection = psycopg.connect(**{**parameters, "options": " ".join(words)}, autocommit=True)
    # Prepared statements would outlive the tables that they name.
    connection.prepare_threshold = None
    register(connection)
    return connection


class Cluster:
    """One server seen as an administrator. `superuser` says whether that administrator is one."""

    def __init__(self, address: Address, *, limits: Limits) -> None:
        self.address = address
        self.limits = limits
        self.run = secrets.token_hex(4)
        self.reader = f"{PREFIX}{self.run}_reader"
        self.writer = f"{PREFIX}{self.run}_writer"
        self._passwords = {self.reader: "", self.writer: ""}
        if address.password:
            self._passwords = {role: secrets.token_urlsafe(24) for role in self._passwords}
        self._numbers = itertools.count(1)
        self._admin_lock = threading.Lock()
        self._admin: psycopg.Connection[Any] | None = None
        self.superuser = False
        self.memory_is_limited = False
        self.version = ""
        self.version_number = 0

    def open(self) -> None:
        """Connect, say that this run is alive, remove what dead runs left, make the roles. Raises `ServiceError`."""
        try:
            self._admin = psycopg.connect(**self.address.parameters(), autocommit=True, application_name=f"{PREFIX}{self.run}")
            self.version_number = self._admin.info.server_version
            row = self._admin.execute(
                "SELECT current_setting('server_version'), current_setting('is_superuser') = 'on'"
            ).fetchone()
            self.version, self.superuser = row or ("", False)
            self._admin.execute("SELECT pg_advisory_lock(%s, %s)", (_LOCK_CLASS, _lock_key(self.run)))
            self._sweep()
            self._make_roles()
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            raise ServiceError(
                "PostgreSQL does not let the gate work",
                where=[" ".join(str(error).split())],
                meaning="The gate makes databases and roles of its own there, named nl2sql_gate_…",
                next_step="Give a URL whose user may create databases and roles, or existing: true for read-only questions.",
            ) from error

    def admin(self, statement: str | sql.Composed, database: str = "") -> None:
        """Run one statement as the administrator, in the maintenance database or in one of ours."""
        if database:
            with psycopg.connect(**self.address.parameters(database), autocommit=True) as connection:
                connection.execute(statement)
            return
        with self._admin_lock:
            if self._admin is None:
                raise psycopg.OperationalError("the administrator's connection is closed")
            self._admin.execute(statement)

    def connect(self, database: str, *, role: str = "", options: Sequence[str] = ()) -> psycopg.Connection[Any]:
        """A connection in autocommit mode, as one of the two roles or as the administrator."""
        login = self._login(role) if role else ""
        parameters = self.address.parameters(database, user=login, password=self._passwords.get(role, ""))
        return connect(parameters, statement_s=self.limits.statement_s if role else 0, options=options)

    def _login(self, role: str) -> str:
        """The role to log in as: the role itself, or one of its members for this connection alone.

        Sessions of one role can end each other and read each other's SQL. A superuser takes that from everybody (`guard`);
        where we are none, each connection gets a role of its own.
        """
        if self.superuser:
            return role
        member = f"{role}_{next(self._numbers)}"
        made = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {} IN ROLE {}")
        self.admin(made.format(sql.Identifier(member), sql.Literal(self._passwords[role]), sql.Identifier(role)))
        # Else its sessions could not be ended when the databases are dropped.
        self.admin(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(member)))
        return member

    def close_doors(self) -> None:
        """On a server of our own: keep the roles out of every database that is not given to them."""
        for database in ("postgres", "template1"):
            self.admin(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database)))
        # Dumps give their tables to it.
        self.admin("CREATE ROLE postgres NOLOGIN")

    def new_name(self) -> str:
        """A database name that no other run uses."""
        return f"{PREFIX}{self.run}_{next(self._numbers)}"

    def create_database(self, name: str, *, template: str = "") -> None:
        """An empty database, or a copy of one of ours that nobody is connected to."""
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        source = template or "template0"
        statement = copy.format(sql.Identifier(name), sql.Identifier(source))
        if not template:
            statement += sql.SQL(" ENCODING 'UTF8'")
        elif self.version_number >= _STRATEGY_SINCE:
            statement += sql.SQL(" STRATEGY file_copy")
        self.admin(statement)
        # Grants on a database are not copied with it.
        self.admin(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))

    def let_in(self, database: str, role: str, rights: str = "CONNECT") -> None:
        """Allow a role to enter a database."""
        self.admin(
            sql.SQL("GRANT {} ON DATABASE {} TO {}").format(sql.SQL(rights), sql.Identifier(database), sql.Identifier(role))
        )

    def reset_role(self, role: str) -> None:
        """Take back what a role has set for its sessions to come: it may do that, and it would outlive a private copy."""
        statement = sql.SQL("ALTER ROLE {} RESET ALL").format(sql.Identifier(role))
        if self.superuser:
            # Sessions of one role read each other's SQL, golden SQL too, where the server tracks it.
            statement += sql.SQL("; ALTER ROLE {} SET track_activities = off").format(sql.Identifier(role))
        self.admin(statement)

    def guard(self, database: str) -> None:
        """Take from everybody the functions that reach other sessions or that write in spite of a read-only transaction."""
        if self.superuser:
            self.admin(_REVOKE_FUNCTIONS, database)

    def drop_database(self, name: str) -> None:
        """Remove one of our databases and whoever is in it."""
        if not name.startswith(f"{PREFIX}{self.run}_"):
            raise ValueError(name)
        self.admin(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def url(self, database: str, role: str) -> str:
        """A libpq URL for one of the roles."""
        from urllib.parse import quote

        password = self._passwords.get(role, "")
        login = quote(role) + (f":{quote(password, safe='')}" if password else "")
        if self.address.host.startswith("/"):
            return f"postgresql://{login}@/{quote(database)}?host={quote(self.address.host, safe='')}&port={self.address.port}"
        return f"postgresql://{login}@{self.address.host}:{self.address.port}/{quote(database)}"

    def close(self, *, remove: bool) -> None:
        """End the administrator's connection; `remove` drops our databases and roles first."""
        with self._admin_lock:
            admin, self._admin = self._admin, None
        if admin is None:
            return
        try:
            if remove:
                _drop_run(admin, self.run)
        finally:
            admin.close()

    def _make_roles(self) -> None:
        for role, password in self._passwords.items():
            login = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(sql.Identifier(role))
            self.admin(login + sql.SQL(" PASSWORD {}").format(sql.Literal(password)) if password else login)
            self.reset_role(role)
        if not self.superuser:
            self.admin(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(self.writer)))

    def _sweep(self) -> None:
        admin = self._admin
        if admin is None:
            return
        found = admin.execute(
            "SELECT DISTINCT split_part(name, '_', 3) FROM ("
            " SELECT datname::text AS name FROM pg_database UNION SELECT rolname::text FROM pg_roles) AS names"
            " WHERE name ~ '^nl2sql_gate_[0-9a-f]{8}_'"
        ).fetchall()
        for (run,) in found:
            if run == self.run:
                continue
            # A run that lives holds its lock.
            key = (_LOCK_CLASS, _lock_key(run))
            free = admin.execute("SELECT pg_try_advisory_lock(%s, %s)", key).fetchone()
            if free and free[0]:
                _drop_run(admin, run)
                admin.execute("SELECT pg_advisory_unlock(%s, %s)", key)


def _drop_run(admin: psycopg.Connection[Any], run: str) -> None:
    pattern = f"{PREFIX}{run}_%".replace("_", "\\_")
    for (name,) in admin.execute("SELECT datname::text FROM pg_database WHERE datname LIKE %s", (pattern,)).fetchall():
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
    for (name,) in admin.execute("SELECT rolname::text FROM pg_roles WHERE rolname LIKE %s", (pattern,)).fetchall():
        admin.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


def _lock_key(run: str) -> int:
    return int(run, 16) & 0x7FFFFFFF


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
