"""What the official images of each product want: variables, port, flags, and the query that tells that the server is ready."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nl2sql_gate.engines.containers import Recipe
from nl2sql_gate.errors import SettingsError

_SQLSERVER = "mcr.microsoft.com/mssql/server:2022-latest"
_UTF8 = "Latin1_General_100_CI_AS_SC_UTF8"

_POSTGRES_FLAGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "max_connections": "300",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "timezone": "UTC",
    "jit": "off",
    "synchronize_seqscans": "off",
    "temp_file_limit": "2GB",
    # Another session's SQL, golden SQL too, must not be readable in pg_stat_activity.
    "track_activities": "off",
}

_MYSQL_FLAGS = (
    "--skip-log-bin",
    "--skip-name-resolve",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--local-infile=OFF",
    "--performance-schema=OFF",
    "--character-set-server=utf8mb4",
    "--event-scheduler=OFF",
    "--max-allowed-packet=268435456",
    "--max-connections=300",
    "--default-time-zone=+00:00",
    # Not every version and product has these.
    "--loose-mysqlx=OFF",
    "--loose-information-schema-stats-expiry=0",
)


def postgres() -> Recipe:
    """PostgreSQL, and images made from its own, as PostGIS and pgvector."""
    return Recipe(
        product="PostgreSQL",
        image="postgres:17",
        port=5432,
        environment={
            "POSTGRES_USER": "nl2sql_gate_admin",
            "POSTGRES_DB": "postgres",
            "POSTGRES_PASSWORD": "{password}",
            "POSTGRES_INITDB_ARGS": "--encoding=UTF8 --locale=C --no-sync",
            "TZ": "UTC",
        },
        command=("postgres", *(word for name, value in _POSTGRES_FLAGS.items() for word in ("-c", f"{name}={value}"))),
        shm_size="256m",
        url="postgresql://nl2sql_gate_admin:{password}@{host}:{port}/postgres",
        answers=_postgres_answers,
        other_ways="embedded (with PostgreSQL installed), or the URL of a server",
    )


def mysql() -> Recipe:
    """MySQL."""
    return Recipe(
        product="MySQL",
        image="mysql:9",
        port=3306,
        environment={"MYSQL_ROOT_PASSWORD": "{password}", "MYSQL_ROOT_HOST": "%", "TZ": "UTC"},
        # MariaDB would take NULL for a folder's name.
        command=("mysqld", *_MYSQL_FLAGS, "--secure-file-priv=NULL"),
        url="mysql://root:{password}@{host}:{port}/mysql",
        answers=_mysql_answers,
        other_ways="embedded (with MySQL's server installed), embedded-mariadb, or the URL of a server",
    )


def mariadb() -> Recipe:
    """MariaDB."""
    return Recipe(
        product="MariaDB",
        image="mariadb:11.8",
        port=3306,
        environment={"MARIADB_ROOT_PASSWORD": "{password}", "MARIADB_ROOT_HOST": "%", "TZ": "UTC"},
        command=("mariadbd", *_MYSQL_FLAGS, "--collation-server=utf8mb4_general_ci"),
        url="mariadb://root:{password}@{host}:{port}/mysql",
        answers=_mysql_answers,
        other_ways="embedded (with MariaDB's server installed), or the URL of a server",
    )


def sqlserver(service: str, environ: Mapping[str, str] = os.environ) -> Recipe:
    """SQL Server. Raises `SettingsError` unless the user has accepted its licence: that is not ours to do."""
    if environ.get("ACCEPT_EULA", "").upper() not in {"Y", "YES", "1", "TRUE"}:
        raise SettingsError(
            f"services.{service}: SQL Server's licence has not been accepted",
            where=["its image starts only after ACCEPT_EULA=Y, https://go.microsoft.com/fwlink/?linkid=857698"],
            meaning="The run did not start.",
            next_step="Set the environment variable ACCEPT_EULA=Y if you accept it, or give the URL of a server.",
        )
    return Recipe(
        product="SQL Server",
        image=_SQLSERVER,
        port=1433,
        environment={
            "ACCEPT_EULA": "Y",
            "MSSQL_SA_PASSWORD": "{password}",
            "MSSQL_PID": environ.get("MSSQL_PID") or "Developer",
            # 'ü' is what it says only where text is UTF-8; the server's own collation, so that temporary tables agree.
            "MSSQL_COLLATION": environ.get("MSSQL_COLLATION") or _UTF8,
            "MSSQL_TELEMETRY_ENABLED": "FALSE",
            "TZ": "UTC",
        },
        url="sqlserver://sa:{password}@{host}:{port}/master?TrustServerCertificate=yes",
        answers=_sqlserver_answers,
        other_ways="the URL of a server",
        start_s=240.0,
    )


def _postgres_answers(url: str) -> None:
    import psycopg

    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute("SELECT 1")


def _mysql_answers(url: str) -> None:
    from urllib.parse import unquote, urlsplit

    import pymysql

    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=parts.username,
        password=unquote(parts.password or ""),
        connect_timeout=5,
        read_timeout=10,
    )
    try:
        connection.cursor().execute("SELECT 1")
    finally:
        connection.close()


def _sqlserver_answers(url: str) -> None:
    from nl2sql_gate.engines.sqlserver_address import given_address, open_connection

    connection = open_connection(given_address(url), database="master", login_s=5)
    try:
        connection.cursor().execute("SELECT 1").fetchall()
    finally:
        connection.close()
