"""Any other product that SQLAlchemy knows, by URL: questions on the data that is there, nothing built and nothing written."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from nl2sql_gate.engines.generic_schema import read_schema
from nl2sql_gate.engines.generic_session import GenericSession
from nl2sql_gate.engines.services import unreachable
from nl2sql_gate.errors import EngineFault, ProvisionError, SettingsError
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import DatabaseSource, Limits, Schema, ServiceFacts

_PRODUCTS = {"bigquery": "BigQuery", "oracle": "Oracle Database", "snowflake": "Snowflake", "trino": "Trino"}
_EXTRAS = frozenset(_PRODUCTS)


class GenericDatabase:
    """The database that the URL names."""

    digest = "unknown"

    def __init__(self, *, name: str, dialect: str, engine: sa.Engine, limits: Limits) -> None:
        self.name = name
        self._dialect = dialect
        self._engine = engine
        self._limits = limits

    def schema(self, *, sample_values: int) -> Schema:
        """Tables, views, keys and comments as the inspector sees them; sample values only as far as asked for."""
        try:
            return read_schema(self._engine, self.name, dialect=self._dialect, sample_values=sample_values)
        except SQLAlchemyError as error:
            raise _lost(self._engine, error) from error

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that takes nothing but queries."""
        try:
            connection = self._engine.raw_connection()
        except Exception as error:
            # Drivers of services raise what their HTTP client raises.
            raise _lost(self._engine, error) from error
        dialect = self._engine.dialect
        session = GenericSession(
            connection,
            language=self._dialect,
            dialect=dialect,
            limits=self._limits,
        )
        try:
            yield session
        finally:
            with suppress(Exception):
                if session.broken:
                    connection.invalidate()
                connection.close()

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[Session]:
        """Refused: nothing is ever written there, and no copy of it is made."""
        del statements
        raise SettingsError(
            f"the database {self.name} ({self._dialect}) is for questions only",
            meaning="Items of type dml and ddl, and items with setup_sql, need a product whose databases the gate can build.",
            next_step="Leave them out with filters: {types: [dql]}.",
        )
        yield  # type: ignore[unreachable]

    def dsn(self) -> str:
        """None: the user's own credentials are not handed on."""
        return ""


class GenericEngine:
    """One service by URL, with whatever SQLAlchemy dialect the URL names."""

    def __init__(  # noqa: PLR0913 -- the factory's signature, the same for every engine
        self,
        *,
        name: str,
        dialect: str,
        way: str,
        limits: Limits,
        workdir: str,
        workers: int,
        existing: bool = False,
        insist: bool = False,
    ) -> None:
        del workdir, insist
        self._name = name
        self._dialect = dialect
        self._way = way
        self._limits = limits
        self._workers = workers
        self._existing = existing
        self._engine: sa.Engine | None = None
        self._databases: dict[str, GenericDatabase] = {}
        self._lock = threading.Lock()

    def start(self) -> ServiceFacts:
        """Reach the service and ask for its version. Raises `ServiceError`, `SettingsError`."""
        if "://" not in self._way:
            raise SettingsError(
                f"services.{self._name}: {self._dialect} is reached by URL alone, and {self._way!r} is none",
                meaning="The gate starts no server of this product. The run did not start.",
                next_step="Set the service's url: to SQLAlchemy's URL of it, and existing: true.",
            )
        engine = self._made()
        try:
            with engine.connect() as connection:
                engine.dialect.do_ping(connection.connection)
                # Some dialects ask for it only now.
                version = ".".join(str(part) for part in getattr(engine.dialect, "server_version_info", None) or ())
        except Exception as error:
            # Drivers of services raise what their HTTP client raises.
            engine.dispose()
            host = str(engine.url.host or "")
            product = self._product(engine)
            raise unreachable(self._name, product=product, host=host, error=error) from error
        self._engine = engine
        return ServiceFacts(self._name, self._dialect, self._product(engine), version, "given")

    def provision(self, source: DatabaseSource) -> GenericDatabase:
        """The database that the URL names. Raises `ProvisionError` for one that would have to be built."""
        if not self._existing:
            raise ProvisionError(
                f"services.{self._name}: databases are not built on {self._dialect}",
                where=[f"database {source.name}"],
                meaning="On this product the gate asks questions about data that is there, and writes nothing.",
                next_step="Load the data yourself, say existing: true, and give a user who may only read.",
            )
        if self._engine is None:
            raise EngineFault(f"the service {self._name} is not started")
        with self._lock:
            if source.name not in self._databases:
                self._databases[source.name] = GenericDatabase(
                    name=source.name, dialect=self._dialect, engine=self._engine, limits=self._limits
                )
            return self._databases[source.name]

    def stop(self) -> None:
        """Close all connections."""
        with self._lock:
            engine, self._engine = self._engine, None
            self._databases.clear()
        if engine is not None:
            engine.dispose()

    def _made(self) -> sa.Engine:
        try:
            made = self._pooled()
        except (ArgumentError, ValueError) as error:
            raise SettingsError(
                f"services.{self._name}: the URL is none that SQLAlchemy knows",
                where=[_without_url(error, self._way)],
                meaning="The run did not start.",
                next_step=self._install() if isinstance(error, NoSuchModuleError) else "Correct the URL.",
            ) from error
        except ImportError as error:
            raise SettingsError(
                f"services.{self._name}: the driver for {self._dialect} is not installed",
                where=[str(error)],
                meaning="The run did not start.",
                next_step=self._install(),
            ) from error
        sa.event.listen(made, "connect", self._prepare)
        return made

    def _pooled(self) -> sa.Engine:
        with suppress(TypeError):
            return sa.create_engine(self._way, pool_size=self._workers, max_overflow=2)
        # A pool of another kind takes no size.
        return sa.create_engine(self._way)

    def _prepare(self, connection: Any, _record: Any) -> None:
        """Tell the service the limit too, where it has one of its own."""
        seconds = max(1, round(self._limits.statement_s))
        name = self._engine_name()
        statements = {
            "snowflake": f"ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = {seconds}, TIMEZONE = 'UTC'",
            "trino": f"SET SESSION query_max_run_time = '{seconds}s'",
        }
        if name == "oracle":
            connection.call_timeout = seconds * 1000 + 500
        elif name in statements:
            cursor = connection.cursor()
            cursor.execute(statements[name])
            cursor.fetchall()
            cursor.close()

    def _engine_name(self) -> str:
        return sa.make_url(self._way).get_backend_name()

    def _product(self, engine: sa.Engine) -> str:
        return _PRODUCTS.get(engine.dialect.name, engine.dialect.name)

    def _install(self) -> str:
        name = sa.make_url(self._way).get_backend_name()
        if name in _EXTRAS:
            return f"Install it: pip install 'nl2sql-gate[{name}]'"
        return f"Install the package that brings SQLAlchemy's dialect {name!r}."


def _lost(engine: sa.Engine, error: Exception) -> EngineFault:
    return EngineFault(
        f"the connection to {engine.dialect.name} failed",
        where=[" ".join(str(getattr(error, "orig", None) or error).split())],
        meaning="This case could not be measured.",
    )


def _without_url(error: Exception, url: str) -> str:
    """The error's words without the URL, which holds a password."""
    return " ".join(str(error).replace(url, "the URL").split())
