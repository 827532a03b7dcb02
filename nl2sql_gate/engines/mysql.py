"""MySQL and MariaDB: a server of ours or a given one; read by users who may only read, written in private copies."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Literal

import pymysql

from nl2sql_gate.engines import container_images
from nl2sql_gate.engines.containers import ServerContainer
from nl2sql_gate.engines.mysql_blueprint import Blueprint, draw
from nl2sql_gate.engines.mysql_build import build
from nl2sql_gate.engines.mysql_clones import MysqlClones
from nl2sql_gate.engines.mysql_cluster import MysqlCluster
from nl2sql_gate.engines.mysql_database import MysqlDatabase
from nl2sql_gate.engines.mysql_existing import ExistingMysql
from nl2sql_gate.engines.mysql_server import EmbeddedMysql, MysqlAddress, connect, given_address, has_binary
from nl2sql_gate.engines.mysql_tablespaces import Tablespaces
from nl2sql_gate.engines.pulse import PROBE_S, Pulse, peers_of
from nl2sql_gate.engines.server_engine import ServerEngine
from nl2sql_gate.engines.services import chosen_way, unreachable
from nl2sql_gate.errors import EngineFault, ServiceError, SettingsError
from nl2sql_gate.records import DatabaseSource, ServiceFacts

_SMALL_MB = 16  # of smaller databases a few more copies are kept ready
STAND_IN = "embedded-mariadb"
Product = Literal["MySQL", "MariaDB"]


def _pulse_of(product: str, address: MysqlAddress) -> Pulse:
    def probe() -> None:
        connect(address.parameters(), read_timeout_s=PROBE_S).close()

    return Pulse(product, probe, lambda: {address.socket} if address.socket else peers_of(address.host, address.port))


class MysqlEngine(ServerEngine[MysqlDatabase | ExistingMysql]):
    """One MySQL service. MariaDB stands in where the way says `embedded-mariadb`."""

    product: Product = "MySQL"
    _may_write = False
    _server: EmbeddedMysql | None = None
    _cluster: MysqlCluster | None = None
    _existing_address: MysqlAddress | None = None

    @property
    def server_pid(self) -> int:
        """Process id of a server of our own; 0 where there is none."""
        return 0 if self._server is None else self._server.pid

    def start(self) -> ServiceFacts:
        """Start the server, or reach the given one. Raises `ServiceError`."""
        way, address = self._reach()
        if self._existing:
            return self._start_existing(address)
        cluster = MysqlCluster(address, limits=self._limits)
        try:
            cluster.open(ours=way != "given")
        except (pymysql.MySQLError, OSError) as error:
            raise unreachable(self._name, product=self.product, host=address.host, error=error) from error
        self._cluster = cluster
        self._watch(_pulse_of(self.product, address))
        return ServiceFacts(self._name, self._dialect, _product_of(cluster.version), cluster.version, way)

    def provision(self, source: DatabaseSource) -> MysqlDatabase | ExistingMysql:
        """Build the template, or reuse the one of the same digest. Raises `ProvisionError`."""
        if (known := self._known(source)) is not None:
            return known
        if self._existing_address is not None:
            return self._keep(
                ExistingMysql(
                    source=source,
                    address=self._existing_address,
                    limits=self._limits,
                    may_write=self._may_write,
                    pulse=self._watched(),
                )
            )
        cluster = self._opened()
        try:
            template = cluster.new_name()
            cluster.create_database(template)
            connection, builder = cluster.enter(template, "ALL PRIVILEGES")
            with closing(connection):
                build(source, connection, template)
            blueprint = self._with_files(draw(template, cluster.ask), cluster)
            size = cluster.ask(
                "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables"
                f" WHERE table_schema = '{template}'"
            )
        except (pymysql.MySQLError, OSError) as error:
            raise ServiceError(
                f"the server failed while {source.name} was built", where=[" ".join(str(error).split())]
            ) from error
        size_mb = float(size[0][0]) / 2**20
        ahead = 0 if size_mb > self._limits.max_clone_mb else self._workers + 1 if size_mb < _SMALL_MB else 1
        clones = MysqlClones(cluster, blueprint, builder=builder, dialect=source.dialect, ahead=ahead, work=self._work)
        return self._keep(
            MysqlDatabase(
                source=source, database=template, cluster=cluster, clones=clones, alone=blueprint.alone, pulse=self._watched()
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
            cluster.close(remove=server is None and container is None)
        if container is not None:
            container.stop()

    def _reach(self) -> tuple[str, MysqlAddress]:
        stands_in = self._way == STAND_IN and self.product == "MySQL"
        product: Product = "MariaDB" if stands_in else self.product
        there = partial(has_binary, product)
        way = "embedded" if stands_in else chosen_way(self._name, self._way, product=product, has_server=there)
        if way == "given":
            try:
                return way, given_address(self._way)
            except ValueError as error:
                raise SettingsError(
                    f"services.{self._name}: the URL is no {product} URL",
                    meaning="The run did not start.",
                    next_step=f"Write it as {product.lower()}://user:password@host:3306/database.",
                ) from error
        if way == "container":
            recipe = container_images.mysql() if product == "MySQL" else container_images.mariadb()
            self._container = ServerContainer(recipe, service=self._name, way=self._way)
            return way, given_address(self._container.start())
        self._server = EmbeddedMysql(product)
        self._server.start()
        return STAND_IN if stands_in else way, self._server.address

    def _with_files(self, blueprint: Blueprint, cluster: MysqlCluster) -> Blueprint:
        """On a server of ours, large tables are copied as files."""
        if self._server is None:
            return blueprint
        files = Tablespaces(blueprint.source, self._server.data, self._server.give)
        with closing(cluster.administrator()) as connection:
            files.export(connection, blueprint.tables)
        return replace(blueprint, files=files)

    def _start_existing(self, address: MysqlAddress) -> ServiceFacts:
        pulse = _pulse_of(self.product, address)
        source = DatabaseSource(address.database, self._dialect, "unknown")
        database = ExistingMysql(source=source, address=address, limits=self._limits, pulse=pulse)
        try:
            version = database.version()
            self._may_write = database.look_at_powers(self._name, insist=self._insist)
        except (pymysql.MySQLError, OSError) as error:
            raise unreachable(self._name, product=self.product, host=address.host, error=error) from error
        self._existing_address = address
        self._watch(pulse)
        return ServiceFacts(self._name, self._dialect, _product_of(version), version, "given")

    def _opened(self) -> MysqlCluster:
        if self._cluster is None:
            raise EngineFault("the service is not started")
        return self._cluster


class MariadbEngine(MysqlEngine):
    """One MariaDB service."""

    product: Product = "MariaDB"


def _product_of(version: str) -> str:
    return "MariaDB" if "mariadb" in version.lower() else "MySQL"
