"""How to reach a SQL Server: a URL taken apart, a driver found, a connection opened that gives cells."""

from __future__ import annotations

import importlib.util
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from nl2sql_gate.errors import ServiceError

_SCHEME = re.compile(r"(?:mssql|sqlserver)(?:\+\w+)?\Z")
_MICROSOFT = re.compile(r"ODBC Driver (\d+) for SQL Server\Z")
_PAIR = re.compile(r"\s*([^=;]+?)\s*=\s*(\{(?:[^}]|\}\})*\}|[^;]*)\s*(?:;|\Z)")
_LOOPBACK = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)\Z", re.IGNORECASE)
_TDSODBC = ("/usr/lib/*/odbc/libtdsodbc.so", "/usr/lib64/libtdsodbc.so*", "/usr/local/lib/libtdsodbc.so*")
_HOMEBREW = "/opt/homebrew/lib/libtdsodbc.so*"
_PORT = 1433


@dataclass(frozen=True, slots=True)
class SqlServerAddress:
    """One server as one user. `driver` and `dsn` are what the URL names; `options` go to the driver as they are."""

    host: str
    port: int = _PORT
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""
    driver: str = ""
    dsn: str = ""
    options: tuple[tuple[str, str], ...] = ()


def given_address(url: str) -> SqlServerAddress:
    """The address in `mssql+pyodbc://…`, `sqlserver://…` or `mssql+pyodbc:///?odbc_connect=…`. Raises `ValueError`."""
    parts = urlsplit(url)
    if not _SCHEME.match(parts.scheme):
        raise ValueError(parts.scheme)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    raw = _taken(query, "odbc_connect")
    if raw:
        return _from_odbc(raw)
    host = unquote(parts.hostname or "")
    driver, dsn = _taken(query, "driver"), _taken(query, "dsn")
    if not host and not dsn:
        raise ValueError("no host")
    return SqlServerAddress(
        host=host,
        port=parts.port or (0 if "\\" in host else _PORT),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=unquote(parts.path.lstrip("/")),
        driver=driver,
        dsn=dsn,
        options=tuple(query.items()),
    )


def address_url(address: SqlServerAddress, *, database: str, user: str, password: str) -> str:
    """A URL of SQLAlchemy's form for another program; empty for an address behind a data source name."""
    if address.dsn:
        return ""
    driver = address.driver or find_driver()
    options = {"driver": driver, **dict(_options(address, driver=driver))}
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return f"mssql+pyodbc://{login}@{address.host}:{address.port or _PORT}/{quote(database, safe='')}?{urlencode(options)}"


def connection_string(address: SqlServerAddress, *, driver: str, database: str, user: str = "", password: str = "") -> str:
    """What the driver is told. Values are quoted, so that no password can add a word of its own."""
    words: list[tuple[str, str]] = [("DSN", address.dsn)] if address.dsn else [("DRIVER", driver)]
    if not address.dsn:
        words += _server(address, driver)
    if database:
        words.append(("DATABASE", database))
    if user or address.user:
        words += [("UID", user or address.user), ("PWD", password if user else address.password)]
    words += _options(address, driver=driver)
    return ";".join(f"{name}={_quoted(value)}" for name, value in words)


def find_driver() -> str:
    """Microsoft's newest driver where there is one, else FreeTDS: a name, or a file. Raises `ServiceError`."""
    import pyodbc

    installed = pyodbc.drivers()
    microsoft = [(int(found[1]), name) for name in installed if (found := _MICROSOFT.match(name))]
    if microsoft:
        return str(max(microsoft)[1])
    for file in _driver_files():
        return str(file)
    if "FreeTDS" in installed:
        return "FreeTDS"
    for file in _freetds_files():
        return str(file)
    raise ServiceError(
        "no ODBC driver for SQL Server is installed here",
        where=[f"drivers that unixODBC knows: {', '.join(installed) or 'none'}"],
        meaning="The dialect sqlserver needs one.",
        next_step="Install FreeTDS (apt-get install tdsodbc), or Microsoft's (pip install mssql-python-odbc, under its licence).",
    )


def is_freetds(driver: str) -> bool:
    """Whether a driver's name or file is FreeTDS's."""
    return "freetds" in driver.lower() or "tdsodbc" in driver.lower()


def open_connection(
    address: SqlServerAddress, *, database: str = "", user: str = "", password: str = "", login_s: int = 15
) -> Any:
    """A pyodbc connection that commits by itself and whose values are cells. Raises `pyodbc.Error`."""
    import pyodbc

    from nl2sql_gate.engines.cells_sqlserver import register

    # A session is used by one case and closed: a pool below us would hand on what the last one has set.
    pyodbc.pooling = False
    pyodbc.native_uuid = True
    driver = address.driver or ("" if address.dsn else find_driver())
    words = connection_string(address, driver=driver, database=database or address.database, user=user, password=password)
    connection = pyodbc.connect(words, autocommit=True, timeout=login_s)
    register(connection)
    return connection


def _from_odbc(text: str) -> SqlServerAddress:
    words = {name.lower(): _unquoted(value) for name, value in _PAIR.findall(text)}
    driver, dsn = words.pop("driver", ""), words.pop("dsn", "")
    server = next((words.pop(name) for name in ("server", "address", "addr", "servername") if name in words), "")
    host, _, port = server.removeprefix("tcp:").partition(",")
    port = words.pop("port", "") or port.strip()
    if not host and not dsn:
        raise ValueError("no SERVER")
    return SqlServerAddress(
        host=host.strip(),
        port=int(port) if port else 0 if "\\" in host else _PORT,
        user=_first(words, "uid", "user", "user id"),
        password=_first(words, "pwd", "password"),
        database=_first(words, "database", "initial catalog"),
        driver=driver,
        dsn=dsn,
        options=tuple(words.items()),
    )


def _server(address: SqlServerAddress, driver: str) -> list[tuple[str, str]]:
    if is_freetds(driver):
        return [("SERVER", address.host), *([("PORT", str(address.port))] if address.port else [])]
    return [("SERVER", f"{address.host},{address.port}" if address.port else address.host)]


def _options(address: SqlServerAddress, *, driver: str) -> list[tuple[str, str]]:
    given = dict(address.options)
    lowered = {name.lower().replace("_", ""): value for name, value in given.items()}
    if is_freetds(driver):
        # Words that only Microsoft's driver knows are translated or left out.
        for name in [name for name in given if name.lower() in {"encrypt", "trustservercertificate"}]:
            del given[name]
        added = {"TDS_Version": "7.4", "ClientCharset": "UTF-8"}
        if lowered.get("encrypt", "").lower() in {"yes", "true", "mandatory", "strict"}:
            added["Encryption"] = "require"
    else:
        # A lost connection must be seen: mended silently, it would have lost its transaction and its settings.
        added = {"ConnectRetryCount": "0"}
        if _LOOPBACK.match(address.host):
            # Nothing can stand between us and our own machine, and its certificate is made by itself.
            added["TrustServerCertificate"] = "yes"
    missing = {name: value for name, value in added.items() if name.lower().replace("_", "") not in lowered}
    return [*given.items(), *missing.items()]


def _driver_files() -> Iterator[Path]:
    """Microsoft's driver as its wheel brings it, the build for this system first."""
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("mssql_python_odbc")
        for folder in (spec.submodule_search_locations or []) if spec else []:
            pattern = f"libs/*/**/{_machine()}/lib/libmsodbcsql*"
            found = sorted(Path(folder).glob(pattern), key=lambda path: (f"/{_family()}/" not in str(path), str(path)))
            yield from found


def _freetds_files() -> Iterator[Path]:
    for pattern in (*_TDSODBC, _HOMEBREW):
        yield from sorted(Path("/").glob(pattern.lstrip("/")))


def _machine() -> str:
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)


def _family() -> str:
    like = ""
    with suppress(OSError):
        like = " ".join(platform.freedesktop_os_release().get(name, "") for name in ("ID", "ID_LIKE"))
    if any(word in like for word in ("rhel", "fedora", "centos")):
        return "rhel"
    return "suse" if "suse" in like else "debian_ubuntu"


def _taken(words: dict[str, str], name: str) -> str:
    """The value of `name` in any spelling, taken out."""
    for key in [key for key in words if key.lower() == name]:
        return words.pop(key)
    return ""


def _first(words: dict[str, str], *names: str) -> str:
    found = [words.pop(name) for name in names if name in words]
    return found[0] if found else ""


def _quoted(value: str) -> str:
    if value and re.fullmatch(r"[\w.,:\\/+-]+", value):
        return value
    return "{" + value.replace("}", "}}") + "}"


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1].replace("}}", "}") if value.startswith("{") and value.endswith("}") else value


def options_of(address: SqlServerAddress) -> Mapping[str, str]:
    """The options that the URL gives, by lower-case name."""
    return {name.lower(): value for name, value in address.options}
