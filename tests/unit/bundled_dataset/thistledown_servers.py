"""The bundled databases in four engines, built from the setup directory by the plainest means each driver has."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import duckdb
from thistledown import DATABASES, SETUP, Row, statements

from nl2sql_gate import plugins
from nl2sql_gate.dataset import read_source
from nl2sql_gate.records import DatabaseSource, Limits, SqlError

Run = Callable[[str], list[Row]]
STEPS = 20
"""Millions of instructions after which a query in SQLite is given up."""


class Bench(Protocol):
    """One engine with both databases in it."""

    dialect: str

    def rows(self, database: str, sql: str) -> list[Row]:
        """The rows of one query."""
        ...

    def scratch(self, database: str, kind: str) -> Any:
        """A context that gives a function which runs SQL of this kind, dml or ddl, and keeps nothing of what it did."""
        ...


def sources(dialect: str) -> dict[str, DatabaseSource]:
    """Both databases as the product reads them."""
    return {name: read_source(SETUP, name, dialect) for name in DATABASES}


class Embedded:
    """SQLite or DuckDB in this process: a file a database, and a copy of the file for whatever writes."""

    def __init__(self, dialect: str, folder: Path, connect: Callable[[Path], Any]) -> None:
        self.dialect = dialect
        self._folder = folder
        self._connect = connect
        for name, source in sources(dialect).items():
            self._build(source, folder / name)
        self._kept = {name: connect(folder / name) for name in DATABASES}
        if dialect == "sqlite":
            for connection in self._kept.values():
                connection.execute("PRAGMA query_only = ON")

    def rows(self, database: str, sql: str) -> list[Row]:
        connection = self._kept[database]
        if self.dialect == "sqlite":
            steps = iter(range(STEPS))
            # Counted in instructions and not in seconds: the same query ends at the same point on every machine.
            connection.set_progress_handler(lambda: next(steps, None) is None, 1_000_000)
            return list(connection.execute(sql).fetchall())
        connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            return list(connection.execute(sql).fetchall())
        finally:
            connection.execute("ROLLBACK")

    @contextmanager
    def scratch(self, database: str, kind: str) -> Iterator[Run]:  # noqa: ARG002 - a copy is right for either kind
        copy = self._folder / "copy"
        shutil.copyfile(self._folder / database, copy)
        connection = self._connect(copy)
        if self.dialect == "sqlite":
            connection.execute("PRAGMA foreign_keys = ON")
        try:
            yield lambda sql: [row for statement in statements(sql) for row in connection.execute(statement).fetchall()]
        finally:
            connection.close()
            copy.unlink()

    def stop(self) -> None:
        """Close what is open."""
        for connection in self._kept.values():
            connection.close()

    def _build(self, source: DatabaseSource, path: Path) -> None:
        connection = self._connect(path)
        for statement in (*source.pre, *source.setup):
            connection.execute(statement.text)
        connection.execute("BEGIN")
        for table in source.tables:
            marks = ", ".join("?" * len(table.rows[0]))
            connection.executemany(f"INSERT INTO {table.table} VALUES ({marks})", [self._bindable(row) for row in table.rows])
        connection.execute("COMMIT")
        for statement in source.post:
            connection.execute(statement.text)
        connection.close()

    def _bindable(self, row: Row) -> list[Any]:
        return [float(cell) if isinstance(cell, Decimal) and self.dialect == "sqlite" else cell for cell in row]


class Ours:
    """An engine of the product: it starts the server, builds the databases and isolates what writes."""

    def __init__(self, dialect: str, workdir: Path) -> None:
        self.dialect = dialect
        self.engine = plugins.load("engine", dialect)(
            name=dialect, dialect=dialect, way="embedded", limits=Limits(), workdir=str(workdir), workers=2
        )
        self._databases: dict[str, Any] = {}

    def build(self) -> None:
        """Start the server and build both databases."""
        self.engine.start()
        self._databases = {name: self.engine.provision(source) for name, source in sources(self.dialect).items()}

    def rows(self, database: str, sql: str) -> list[Row]:
        with self._databases[database].reading() as session:
            return _rows(session.execute(sql))

    @contextmanager
    def scratch(self, database: str, kind: str) -> Iterator[Run]:  # noqa: ARG002 - a copy is right for either kind
        # Said beforehand is that anything may happen, so the copy is a whole database of its own.
        with self._databases[database].writing(["CREATE TABLE anything (a INT)"]) as session:
            yield lambda sql: _rows(session.execute(sql))


def _rows(result: Any) -> list[Row]:
    assert not isinstance(result, SqlError), result
    return list(result.rows)


class MariaDb:
    """A MariaDB server on a private socket. Its DDL commits at once, so that ddl runs in a database of its own."""

    dialect = "mariadb"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="td"))
        self.folder.chmod(0o755)
        data, log = self.folder / "data", self.folder / "log"
        owner = ["--user=mysql"]
        with log.open("w") as out:
            install = ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"]
            subprocess.run([*install, "--skip-test-db", *owner], check=True, stdout=out, stderr=out)
            shutil.chown(self.folder, "mysql")
            server = ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.folder / 's'}", "--skip-networking"]
            fast = [
                "--skip-log-bin",
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-doublewrite=0",
                f"--pid-file={self.folder / 'p'}",
            ]
            self._process = subprocess.Popen([*server, *fast, *owner], stdout=out, stderr=out)
        self._sources = sources("mariadb")
        self._connection: Any = None
        self._copies = 0

    def build(self) -> None:
        """Wait for the server and build both databases."""
        self._connection = self._wait()
        for name in DATABASES:
            self._build(name, name)

    def rows(self, database: str, sql: str) -> list[Row]:
        self._connection.select_db(database)
        self._run("START TRANSACTION READ ONLY")
        try:
            return self._run(sql)
        finally:
            self._run("ROLLBACK")

    @contextmanager
    def scratch(self, database: str, kind: str) -> Iterator[Run]:
        if kind == "dml":
            self._connection.select_db(database)
            self._run("START TRANSACTION")
            try:
                yield self._run
            finally:
                self._run("ROLLBACK")
            return
        self._copies += 1
        name = f"copy_{self._copies}"
        self._build(database, name)
        try:
            yield self._run
        finally:
            self._run(f"DROP DATABASE {name}")

    def stop(self) -> None:
        """Stop the server and remove all that it wrote."""
        if self._connection is not None:
            self._connection.close()
        self._process.terminate()
        self._process.wait(timeout=30)
        shutil.rmtree(self.folder)

    def _wait(self) -> Any:
        import pymysql

        # The server's own socket file is the sign; a query proves it.
        while self._process.poll() is None:
            try:
                return pymysql.connect(unix_socket=str(self.folder / "s"), user="root", charset="utf8mb4", autocommit=True)
            except pymysql.OperationalError:
                continue
        raise AssertionError((self.folder / "log").read_text())

    def _build(self, database: str, name: str) -> None:
        source = self._sources[database]
        self._run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        self._connection.select_db(name)
        with self._connection.cursor() as cursor:
            for statement in (*source.pre, *source.setup):
                cursor.execute(statement.text)
            for table in source.tables:
                marks = ", ".join(["%s"] * len(table.rows[0]))
                cursor.executemany(f"INSERT INTO {table.table} VALUES ({marks})", table.rows)
            for statement in source.post:
                cursor.execute(statement.text)

    def _run(self, text: str) -> list[Row]:
        found: list[Row] = []
        with self._connection.cursor() as cursor:
            for statement in statements(text):
                cursor.execute(statement)
                found = list(cursor.fetchall())
        return found


def sqlite_bench(folder: Path) -> Embedded:
    """SQLite files in `folder`."""
    return Embedded("sqlite", folder, lambda path: sqlite3.connect(path, isolation_level=None))


def duckdb_bench(folder: Path) -> Embedded:
    """DuckDB files in `folder`."""
    return Embedded("duckdb", folder, lambda path: duckdb.connect(str(path)))
