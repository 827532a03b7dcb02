"""PostgreSQL: a server of ours or a given one; read as a role that may only read, written in private copies."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import psycopg

from nl2sql_gate.engines import container_images
from nl2sql_gate.engines.containers import ServerContainer
from nl2sql_gate.engines.postgres_build import build
from nl2sql_gate.engines.postgres_clones import Clones
from nl2sql_gate.engines.postgres_cluster import Cluster
from nl2sql_gate.engines.postgres_database import PostgresDatabase
from nl2sql_gate.engines.postgres_existing import ExistingPostgres
from nl2sql_gate.engines.postgres_server import Address, EmbeddedPostgres, given_address, has_binaries
from nl2sql_gate.engines.pulse import PROBE_S, Pulse, peers_of
from nl2sql_gate.engines.server_engine import ServerEngine
from nl2sql_gate.engines.services import chosen_way, unreachable
from nl2sql_gate.errors import EngineFault, ServiceError, SettingsError
from nl2sql_gate.records import DatabaseSource, ServiceFacts

_SMALL_MB = 64  # of smaller databases a few more copies are kept ready


def _reading_copy(cluster: Cluster, template: str) -> str:
    name = cluster.new_name()
    cluster.create_database(name, template=template)
    cluster.let_in(name, cluster.reader)
    return name


def _pulse_of(address: Address) -> Pulse:
    def probe() -> None:
        psycopg.connect(**{**address.parameters(), "connect_timeout": PROBE_S}).close()

    def peers() -> Collection[Any]:
        is_folder = address.host.startswith("/")
        return {f"{address.host}/.s.PGSQL.{address.port}"} if is_folder else peers_of(address.host, address.port)

    return Pulse("PostgreSQL", probe, peers)


class PostgresEngine(ServerEngine[PostgresDatabase | ExistingPostgres]):
    """One PostgreSQL service."""

    _server: EmbeddedPostgres | None = None
    _cluster: Cluster | None = None
    _existing_address: Address | None = None

    def start(self) -> ServiceFacts:
        """Start the server, or reach the given one, and make our roles. Raises `ServiceError`."""
        way = chosen_way(self._name, self._way, product="PostgreSQL", has_server=has_binaries)
        if way == "container":
            self._container = ServerContainer(container_images.postgres(), service=self._name, way=self._way)
            address = given_address(self._container.start())
        elif way == "given":
            address = self._given()
            if self._existing:
                return self._start_existing(address)
        else:
            self._server = EmbeddedPostgres(memory_mb=self._limits.memory_mb)
            self._server.start()
            address = self._server.address
        self._cluster = Cluster(address, limits=self._limits)
        self._cluster.memory_is_limited = self._server is not None
        try:
            self._cluster.open()
        except psycopg.OperationalError as error:
            raise unreachable(self._name, product="PostgreSQL", host=address.host, error=error) from error
        if way != "given":
            self._cluster.close_doors()
        self._watch(_pulse_of(address))
        return ServiceFacts(self._name, self._dialect, "PostgreSQL", self._cluster.version, way)

    @property
    def server_pid(self) -> int:
        """Process id of a server of our own; 0 where there is none."""
        return 0 if self._server is None else self._server.pid

    def provision(self, source: DatabaseSource) -> PostgresDatabase | ExistingPostgres:
        """Build the template, and the copy that is read. Raises `ProvisionError`."""
        if (known := self._known(source)) is not None:
            return known
        if self._existing_address is not None:
            address, pulse = self._existing_address, self._watched()
            return self._keep(ExistingPostgres(name=source.name, address=address, limits=self._limits, pulse=pulse))
        cluster = self._opened()
        template = cluster.new_name()
        try:
            cluster.create_database(template)
            cluster.guard(template)
            build(source, cluster, template)
            size_mb = self._size_mb(template)
        except psycopg.Error as error:
            raise ServiceError(
                f"PostgreSQL failed while {source.name} was built", where=[" ".join(str(error).split())]
            ) from error
        clones = Clones(
            cluster,
            template,
            ahead=self._workers + 1 if size_mb < _SMALL_MB else 2,
            work=self._work,
            one_at_a_time=size_mb > self._limits.max_clone_mb,
        )
        return self._keep(
            PostgresDatabase(
                name=source.name,
                digest=source.digest,
                copy=self._work.call(lambda: _reading_copy(cluster, template)),
                cluster=cluster,
                clones=clones,
                pulse=self._watched(),
            )
        )

    def stop(self) -> None:
        """Stop the server, or drop what we made on a given one."""
        with self._lock:
            databases, self._databases = self._databases, []
            cluster, self._cluster = self._cluster, None
            server, self._server = self._server, None
            container, self._container = self._container, None
        if self._pulse is not None:
            self._pulse.stop()
        if server is not None:
            # First, so that nothing waits for work on databases that nobody wants any more.
            server.stop()
        self._work.stop()
        for database in databases:
            database.close()
        if cluster is not None:
            with suppress(psycopg.Error):
                cluster.close(remove=server is None and container is None)
        if container is not None:
            container.stop()

    def _given(self) -> Address:
        try:
            address = given_address(self._way)
        except ValueError as error:
            raise SettingsError(
                f"services.{self._name}: the URL is no PostgreSQL URL",
                meaning="The run did not start.",
                next_step="Write it as postgresql://user:password@host:5432/database.",
            ) from error
        return address

    def _start_existing(self, address: Address) -> ServiceFacts:
        pulse = _pulse_of(address)
        database = ExistingPostgres(name=address.maintenance, address=address, limits=self._limits, pulse=pulse)
        try:
            if not self._insist:
                database.refuse_powers(self._name)
            with psycopg.connect(**address.parameters()) as connection:
                row = connection.execute("SELECT current_setting('server_version')").fetchone()
        except psycopg.Error as error:
            raise unreachable(self._name, product="PostgreSQL", host=address.host, error=error) from error
        self._existing_address = address
        self._watch(pulse)
        return ServiceFacts(self._name, self._dialect, "PostgreSQL", str(row[0]) if row else "", "given")

    def _opened(self) -> Cluster:
        if self._cluster is None:
            raise EngineFault("the PostgreSQL service is not started")
        return self._cluster

    def _size_mb(self, database: str) -> float:
        with psycopg.connect(**self._opened().address.parameters()) as connection:
            row = connection.execute("SELECT pg_database_size(%s)", (database,)).fetchone()
        return float(row[0]) / 2**20 if row else 0.0
