"""SQL Server: given by URL or in a container of ours; read as a login that may only read, written in private copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pyodbc

from nl2sql_gate.engines import container_images
from nl2sql_gate.engines.containers import ServerContainer
from nl2sql_gate.engines.server_engine import ServerEngine
from nl2sql_gate.engines.services import chosen_way, unreachable
from nl2sql_gate.engines.sqlserver_address import SqlServerAddress, given_address, open_connection
from nl2sql_gate.engines.sqlserver_batches import rows_of
from nl2sql_gate.engines.sqlserver_build import build
from nl2sql_gate.engines.sqlserver_clones import SqlServerClones
from nl2sql_gate.engines.sqlserver_cluster import Connect, SqlServerCluster
from nl2sql_gate.engines.sqlserver_errors import connection_lost, read
from nl2sql_gate.engines.sqlserver_existing import ExistingSqlServer
from nl2sql_gate.engines.sqlserver_schema import read_schema
from nl2sql_gate.engines.sqlserver_session import SqlServerSession
from nl2sql_gate.engines.sqlserver_state import SqlServerTemplate
from nl2sql_gate.errors import EngineFault, ServiceError, SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Schema, ServiceFacts

_PRODUCT = "SQL Server"
_CERTIFICATE = ("certificate", "ssl", "encrypt")
_VERSION = "SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128))"


class SqlServerDatabase:
    """A database that nobody can write to, and the copies of it that are written to."""

    def __init__(self, *, name: str, digest: str, template: str, cluster: SqlServerCluster, clones: SqlServerClones) -> None:
        self.name = name
        self.digest = digest
        self._database = template
        self._cluster = cluster
        self._clones = clones
        self._template = SqlServerTemplate(self._connect)

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys, comments and sample values, read from the catalogue."""
        try:
            with closing(self._connect()) as connection:
                return read_schema(connection, self.name, sample_values=sample_values)
        except pyodbc.Error as error:
            raise connection_lost(error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session as a login that may only SELECT, in a database that is read-only for everybody."""
        try:
            connection = self._connect()
            session = self._session(connection, lambda _: self._template.state())
        except pyodbc.Error as error:
            raise connection_lost(error) from error
        try:
            yield session
        finally:
            # Settings, temporary tables, locks: they go with the session.
            with suppress(pyodbc.Error):
                connection.close()

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """A session on a private copy."""
        with self._clones.lend(statements) as (connection, in_transaction):
            yield self._session(
                connection,
                lambda used: self._template.after(connection, written=_written(statements)) if used else self._template.state(),
                in_transaction=in_transaction,
                impersonate=self._cluster.reader,
            )

    def dsn(self) -> str:
        """A URL for the reading login."""
        return self._cluster.url(self._database, self._cluster.reader)

    def close(self) -> None:
        """Nothing is kept open."""

    def _session(self, connection: Any, take_state: Any, **more: Any) -> SqlServerSession:
        number = int(rows_of(connection, "SELECT @@SPID")[0][0])
        return SqlServerSession(
            connection,
            limits=self._cluster.limits,
            take_state=take_state,
            kill=lambda: self._cluster.kill(number),
            **more,
        )

    def _connect(self) -> Any:
        return self._cluster.connect(self._database, login=self._cluster.reader)


class SqlServerEngine(ServerEngine[SqlServerDatabase | ExistingSqlServer]):
    """One SQL Server service. `connect` opens a driver's connection."""

    _cluster: SqlServerCluster | None = None
    _existing_address: SqlServerAddress | None = None
    _may_write = False

    def __init__(self, *, connect: Connect = open_connection, **service: Any) -> None:
        super().__init__(**service)
        self._connect = connect

    def start(self) -> ServiceFacts:
        """Reach the given server, or start one in a container, and make our logins. Raises `ServiceError`."""
        way = chosen_way(self._name, self._way, product=_PRODUCT, has_server=lambda: False)
        if way == "embedded":
            raise SettingsError(
                f"services.{self._name}: there is no SQL Server that the gate could start as a process",
                meaning="The run did not start.",
                next_step="Use container, container:<image>, or the URL of a server.",
            )
        if way == "container":
            self._container = ServerContainer(container_images.sqlserver(self._name), service=self._name, way=self._way)
            address = given_address(self._container.start())
        else:
            address = self._given()
        if self._existing and way == "given":
            return self._start_existing(address)
        self._cluster = SqlServerCluster(address, limits=self._limits, connect=self._connect)
        try:
            self._cluster.open()
        except pyodbc.Error as error:
            raise self._unreachable(address, error) from error
        return ServiceFacts(self._name, self._dialect, _PRODUCT, self._cluster.version, way)

    def provision(self, source: DatabaseSource) -> SqlServerDatabase | ExistingSqlServer:
        """Build the template. Raises `ProvisionError`."""
        if (known := self._known(source)) is not None:
            return known
        if self._existing_address is not None:
            return self._keep(
                ExistingSqlServer(
                    name=source.name,
                    address=self._existing_address,
                    limits=self._limits,
                    connect=self._connect,
                    may_write=self._may_write,
                )
            )
        cluster = self._opened()
        template = cluster.new_name()

        def fill(name: str) -> None:
            cluster.create_database(name)
            build(source, cluster, name)

        try:
            fill(template)
            cluster.close_to_writes(template)
            large = cluster.size_mb(template) > self._limits.max_clone_mb
        except pyodbc.Error as error:
            raise ServiceError(f"SQL Server failed while {source.name} was built", where=[read(error)[2]]) from error
        make = (lambda name: cluster.restore(template, name)) if cluster.sysadmin else fill
        clones = SqlServerClones(cluster, make, ahead=min(2, self._workers), work=self._work, one_at_a_time=large)
        return self._keep(
            SqlServerDatabase(name=source.name, digest=source.digest, template=template, cluster=cluster, clones=clones)
        )

    def stop(self) -> None:
        """Remove the container, or what we made on a given server."""
        with self._lock:
            databases, self._databases = self._databases, []
            cluster, self._cluster = self._cluster, None
            container, self._container = self._container, None
        self._work.stop()
        for database in databases:
            database.close()
        if cluster is not None:
            with suppress(pyodbc.Error):
                cluster.close(remove=container is None)
        if container is not None:
            container.stop()

    def _given(self) -> SqlServerAddress:
        try:
            return given_address(self._way)
        except ValueError as error:
            raise SettingsError(
                f"services.{self._name}: the URL is no SQL Server URL",
                meaning="The run did not start.",
                next_step="Write it as sqlserver://user:password@host:1433/database, or mssql+pyodbc:///?odbc_connect=…",
            ) from error

    def _start_existing(self, address: SqlServerAddress) -> ServiceFacts:
        database = ExistingSqlServer(
            name=address.database or "master", address=address, limits=self._limits, connect=self._connect
        )
        try:
            self._may_write = database.look_at_powers(self._name, insist=self._insist)
            with closing(self._connect(address, database=address.database)) as connection:
                version = str(connection.cursor().execute(_VERSION).fetchone()[0])
        except pyodbc.Error as error:
            raise self._unreachable(address, error) from error
        self._existing_address = address
        return ServiceFacts(self._name, self._dialect, _PRODUCT, version, "given")

    def _unreachable(self, address: SqlServerAddress, error: Exception) -> ServiceError:
        said = read(error)[2]
        found = unreachable(self._name, product=_PRODUCT, host=address.host, error=said)
        if any(word in said.lower() for word in _CERTIFICATE):
            return ServiceError(
                found.what,
                where=found.where,
                meaning=found.meaning,
                next_step="Where the server's certificate is its own, add ?TrustServerCertificate=yes to the URL.",
            )
        return found

    def _opened(self) -> SqlServerCluster:
        if self._cluster is None:
            raise EngineFault("the SQL Server service is not started")
        return self._cluster


def _written(statements: Sequence[str]) -> frozenset[str] | None:
    """The tables that the statements name as targets; `None` where one of them is not understood."""
    from nl2sql_gate.sqltext import tables_written

    found: set[str] = set()
    for statement in statements:
        written = tables_written(statement, "sqlserver")
        if written is None:
            return None
        found |= written
    return frozenset(found)
