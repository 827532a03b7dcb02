"""MariaDB's or MySQL's own server, started by us: found, initialised, run on a private socket, removed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from nl2sql_gate.engines.prepared import make_data
from nl2sql_gate.engines.server_process import ServerProcess, sweep
from nl2sql_gate.errors import ServiceError

if TYPE_CHECKING:
    import pymysql

PREFIXES = {"MariaDB": "nl2sql-gate-ma-", "MySQL": "nl2sql-gate-my-"}
_SCHEME = re.compile(r"(?:mysql|mariadb)(?:\+\w+)?\Z")
_START_S = 60.0
_CONNECT_S = 10
_ROOT = "root"

_FLAGS = (
    "--skip-networking",
    "--skip-log-bin",
    "--skip-name-resolve",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-buffer-pool-size=134217728",
    "--innodb-file-per-table=1",
    "--performance-schema=OFF",
    "--local-infile=OFF",
    "--symbolic-links=0",
    "--event-scheduler=OFF",
    "--max-connections=300",
    "--max-allowed-packet=268435456",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+00:00",
    "--lower-case-table-names=0",
)
_ONLY: dict[str, tuple[str, ...]] = {
    # Nothing of these files outlives the run, so that none has to reach the disk.
    "MariaDB": (
        "--loose-innodb-flush-method=nosync",
        "--innodb-fast-shutdown=2",
        "--collation-server=utf8mb4_general_ci",
        "--innodb-log-file-size=67108864",
    ),
    "MySQL": ("--mysqlx=OFF", "--innodb-fast-shutdown=2", "--secure-file-priv=NULL", "--information-schema-stats-expiry=0"),
}

_INITIALISE = {
    "MariaDB": ("--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-doublewrite=0", "--skip-log-bin"),
    "MySQL": ("--initialize-insecure", "--innodb-doublewrite=0"),
}


@dataclass(frozen=True, slots=True)
class MysqlAddress:
    """How to reach one server as one user, by socket or by host and port."""

    user: str
    password: str = ""
    host: str = "localhost"
    port: int = 3306
    socket: str = ""
    database: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def parameters(self, *, database: str = "", user: str = "", password: str = "") -> dict[str, Any]:
        """Connection parameters for PyMySQL."""
        found: dict[str, Any] = {"user": user or self.user, "password": password if user else self.password}
        if self.socket:
            found["unix_socket"] = self.socket
            # The driver would read all certificates of this machine first, which takes longer than anything else here.
            found["ssl_disabled"] = True
        else:
            found |= {"host": self.host, "port": self.port}
        if database:
            found["database"] = database
        tls = {name: value for name, value in self.options if name in {"ssl_ca", "ssl_cert", "ssl_key"}}
        return {**found, **tls}


def connect(parameters: dict[str, Any], *, read_timeout_s: float | None = None) -> pymysql.Connection[Any]:
    """A connection in autocommit mode whose session is the same everywhere and whose values are cells."""
    import pymysql

    from nl2sql_gate.engines.cells_mysql import CONVERSIONS

    connection = pymysql.connect(
        **parameters,
        charset="utf8mb4",
        autocommit=True,
        local_infile=False,
        conv=CONVERSIONS,
        connect_timeout=_CONNECT_S,
        read_timeout=read_timeout_s,
        init_command="SET time_zone = '+00:00'",
        defer_connect=True,
    )
    connection.connect(_socket(parameters["unix_socket"]) if "unix_socket" in parameters else None)
    return connection


def _socket(path: str) -> socket.socket:
    """A connected socket; the driver would leave one open where nobody listens."""
    import pymysql

    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.settimeout(_CONNECT_S)
        line.connect(path)
    except OSError as error:
        line.close()
        raise pymysql.OperationalError(2002, f"cannot connect to {path}: {error}") from error
    return line


class EmbeddedMysql:
    """One server of ours. `product` is `MariaDB` or `MySQL`."""

    def __init__(self, product: str) -> None:
        self._product = product
        self._binary = find_binary(product)
        sweep(PREFIXES[product])
        self._process = ServerProcess(PREFIXES[product], users=("mysql",))
        self.address = MysqlAddress(user=_ROOT, socket=str(self._process.folder / "s"))

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def data(self) -> Path:
        """The server's data directory."""
        return self._process.folder / "data"

    def start(self) -> None:
        """Initialise, start, and wait until a query answers. Raises `ServiceError` with the server's last lines."""
        try:
            make_data(
                self._process,
                self.data,
                self._binary,
                partial(initialise, self._product, self._binary),
                recipe=" ".join(_INITIALISE[self._product]),
            )
            files = self._process.folder / "files"
            only = _ONLY[self._product]
            if self._product == "MariaDB":
                # An empty folder that only the server's own user could fill; no account has the FILE privilege anyway.
                only = (*only, f"--secure-file-priv={files}")
            places = (
                f"--datadir={self.data}",
                f"--socket={self._process.folder / 's'}",
                f"--pid-file={self._process.folder / 'pid'}",
            )
            self._process.run(["mkdir", "-p", str(files), str(self._process.folder / "tmp")])
            temporary = f"--tmpdir={self._process.folder / 'tmp'}"
            self._process.start([str(self._binary), "--no-defaults", *places, temporary, *_FLAGS, *only])
            self._wait()
        except BaseException:
            self.stop()
            raise

    def alive(self) -> bool:
        """Whether the server process still runs."""
        return self._process.alive()

    def give(self, file: Path) -> None:
        """Make `file` the server's own."""
        self._process.give(file)

    def stop(self) -> None:
        """Kill the server and remove all that it wrote: nothing of it is wanted."""
        self._process.stop(ask=signal.SIGKILL)

    def _wait(self) -> None:
        import pymysql

        until = time.monotonic() + _START_S
        while True:
            try:
                connection = connect(self.address.parameters())
                try:
                    connection.cursor().execute("SELECT 1")
                finally:
                    connection.close()
            except (pymysql.MySQLError, OSError) as error:
                if not self._process.alive():
                    raise self._process.failure(f"{self._product} does not start") from error
                if time.monotonic() > until:
                    raise self._process.failure(f"{self._product} does not answer within {_START_S:g} s") from error
                time.sleep(0.01)
            else:
                return


def initialise(product: str, binary: Path, process: ServerProcess, data: Path) -> None:
    """Make a data directory with an administrator who needs no password: who reaches the socket's folder may enter."""
    if product == "MySQL":
        process.run([str(binary), "--no-defaults", f"--datadir={data}", *_INITIALISE[product]])
        return
    tool = shutil.which("mariadb-install-db") or shutil.which("mysql_install_db")
    if tool is None:
        raise ServiceError("MariaDB's mariadb-install-db is not installed", next_step="Install the package mariadb-server.")
    process.run([tool, "--no-defaults", f"--datadir={data}", f"--tmpdir={process.folder}", *_INITIALISE[product]])


def given_address(url: str) -> MysqlAddress:
    """The address that a URL names; SQLAlchemy's driver suffix is let go. Raises `ValueError` for a URL that is none."""
    parts = urlsplit(url)
    if not _SCHEME.match(parts.scheme):
        raise ValueError(parts.scheme)
    options = dict(parse_qsl(parts.query))
    return MysqlAddress(
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        host=parts.hostname or "localhost",
        port=parts.port or 3306,
        socket=options.pop("unix_socket", ""),
        database=unquote(parts.path.lstrip("/")),
        options=tuple(options.items()),
    )


def find_binary(product: str) -> Path:
    """The product's own server program. Raises `ServiceError` where there is none: one product is not the other."""
    for path in _candidates():
        if _product_of(path) == product:
            return path
    package = "mariadb-server" if product == "MariaDB" else "mysql-server"
    stand_in = "" if product == "MariaDB" else " (MariaDB stands in only where you say embedded-mariadb)"
    raise ServiceError(
        f"no {product} server is installed here",
        where=["looked for mariadbd and mysqld in PATH, /usr/sbin, /usr/libexec and /usr/local" + stand_in],
        meaning="The dialect needs a server of that product.",
        next_step=f"Install one ({package}), set the service to a URL, or to container where Docker is.",
    )


def has_binary(product: str) -> bool:
    """Whether the product can be started here."""
    with suppress(ServiceError):
        find_binary(product)
        return True
    return False


def _candidates() -> Iterator[Path]:
    given = os.environ.get("NL2SQL_GATE_MYSQL_BIN")
    if given:
        yield Path(given)
    for name in ("mariadbd", "mysqld"):
        found = shutil.which(name)
        if found:
            yield Path(found)
        for folder in ("/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/mysql/bin", "/opt/homebrew/bin"):
            path = Path(folder, name)
            if path.exists():
                yield path


def _product_of(path: Path) -> str:
    try:
        said = subprocess.run([str(path), "--version"], capture_output=True, text=True, timeout=20, check=True)  # noqa: S603 -- found
    except (OSError, subprocess.SubprocessError):
        return ""
    return "MariaDB" if "mariadb" in said.stdout.lower() else "MySQL"
