"""The connection string of a server: read into the URL that engines take, and shown without its passwords."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from nl2sql_gate.evaluation.configuration import DBMS, ConfigurationError
from nl2sql_gate.github.redaction import MASK, Redactor

_SCHEMES = {
    DBMS.POSTGRES: (r"postgres(?:ql)?", "postgresql://user:password@host:5432/database"),
    DBMS.MYSQL: (r"mysql|mariadb", "mysql://user:password@host:3306/database"),
    DBMS.MARIADB: (r"mariadb|mysql", "mariadb://user:password@host:3306/database"),
    DBMS.SQLSERVER: (r"mssql|sqlserver", "sqlserver://user:password@host:1433/database"),
}
_LIBPQ = re.compile(r"\s*\w+\s*=")
_ODBC = re.compile(r"\s*(?:driver|dsn|server)\s*=", re.IGNORECASE)
_USER_INFO = re.compile(r"(?P<start>://[^:/@]*:)(?P<password>.*)(?=@)")
_NAMED = re.compile(
    r"(?P<start>(?:^|[?&;\s]|%3B)(?:password|passwd|pwd)\s*(?:=|%3D)\s*)"
    r"(?P<password>'[^']*'|\{[^}]*\}|(?:(?!%3B)[^&;\s])+)",
    re.IGNORECASE,
)


def server_url(dbms: DBMS, given: str) -> str:
    """`given` as a URL. PostgreSQL's `key=value` words and ODBC's `Key=Value;` are taken too. Raises `ConfigurationError`."""
    scheme, example = _SCHEMES[dbms]
    if re.match(rf"(?:{scheme})(?:\+\w+)?://", given):
        return given
    if dbms is DBMS.POSTGRES and "://" not in given and _LIBPQ.match(given):
        return _from_libpq(given)
    if dbms is DBMS.SQLSERVER and _ODBC.match(given):
        return f"mssql+pyodbc:///?odbc_connect={quote(given, safe='')}"
    raise ConfigurationError(
        f"db_params.db_path is no connection string for {dbms.name}",
        meaning="Nothing was evaluated.",
        next_step=f"Write it as {example}.",
    )


class Passwords:
    """The passwords of one connection string, taken out of texts; `shown` is the string itself without them."""

    def __init__(self, given: str) -> None:
        patterns = (_USER_INFO, _NAMED)
        found = [match["password"] for pattern in patterns for match in pattern.finditer(given)]
        self._redact = Redactor(form.strip("'{}") for password in found for form in (password, unquote(password)))
        self.shown = given
        for pattern in patterns:
            self.shown = pattern.sub(rf"\g<start>{MASK}", self.shown)

    def hide(self, text: str) -> str:
        """`text` with `***` for each of them."""
        return self._redact(text)


def _from_libpq(given: str) -> str:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        words = conninfo_to_dict(given)
    except ProgrammingError:
        # Its message quotes the string.
        raise ConfigurationError(
            "db_params.db_path is no connection string for POSTGRES",
            meaning="Nothing was evaluated.",
            next_step="Write it as host=… dbname=… user=… password=…, or as a URL.",
        ) from None
    return "postgresql:///?" + "&".join(f"{name}={quote(str(value), safe='')}" for name, value in words.items())
