"""EvalBench's database configs as services."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from nl2sql_gate.dialects import canonical

Notes = list[tuple[str, str]]

_SCHEMES = {"postgres": "postgresql", "mysql": "mysql", "mariadb": "mariadb", "sqlserver": "mssql"}
_PORTS = {"postgres": 5432, "mysql": 3306, "mariadb": 3306, "sqlserver": 1433}
_CLOUD = re.compile(r"[a-z][a-z0-9-]*:[a-z0-9-]+:[a-z0-9-]+")
_NO_EQUIVALENT = {
    "max_executions_per_minute": "the databases here are the gate's own and are not limited",
    "secret_manager_path": "secrets come from environment variables",
    "redis_host": "there is no Redis; cache: keeps replies in a folder",
    "redis_port": "there is no Redis",
    "redis_db_id": "there is no Redis",
    "db_name_suffix": "databases are made by the gate under their own names",
    "nl_config": "has no equivalent",
    "api_endpoint": "has no equivalent",
    "location": "has no equivalent",
    "gcp_project_id": "has no equivalent",
    "instance_id": "has no equivalent",
    "use_managed_emulator": "has no equivalent",
}
_QUIET = frozenset(
    {
        "db_type",
        "dialect",
        "database_name",
        "database_path",
        "user_name",
        "password",
        "extension",
        "host",
        "port",
        "use_cloud_sql",
    }
)


def database_settings(config: Mapping[str, Any], *, has_setup: bool) -> tuple[str, str | dict[str, Any], Notes]:
    """(dialect, the service, notes). With a setup directory the gate brings its own server: nobody's data is dropped.

    The dialect is empty where there is nothing like it here.
    """
    notes: Notes = [(key, _NO_EQUIVALENT[key]) for key in config if key in _NO_EQUIVALENT]
    notes += [
        (str(key), "is not known and has no equivalent") for key in config if key not in _NO_EQUIVALENT and key not in _QUIET
    ]
    dialect = canonical(str(config.get("dialect") or config.get("db_type") or ""))
    path = str(config.get("database_path") or "")
    if dialect == "sqlite":
        return dialect, "auto", notes
    if dialect not in _SCHEMES:
        notes.append(
            ("db_type", f"{config.get('db_type')} has no server here; set services: {{{dialect}: {{url: …, existing: true}}}}")
        )
        return "", "", notes
    if has_setup:
        if path and not path.startswith("<"):
            notes.append(
                ("database_path", f"{path} is not used: the databases are built from setup_directory in a server of our own")
            )
        return dialect, "auto", notes
    if _CLOUD.fullmatch(path) or config.get("use_cloud_sql"):
        notes.append(("database_path", "Cloud SQL is reached through its proxy: run it, and give services its address as a URL"))
        return dialect, "auto", notes
    return dialect, {"url": _url(dialect, config, path, notes), "existing": True}, notes


def _url(dialect: str, config: Mapping[str, Any], path: str, notes: Notes) -> str:
    host, _, port = path.partition(":")
    host = host if host and not host.startswith("<") else "localhost"
    user = quote(str(config.get("user_name") or ""), safe="")
    variable = f"{dialect.upper()}_PASSWORD"
    notes.append(("password", f"is not copied; set the environment variable {variable}"))
    name = quote(str(config.get("database_name") or ""), safe="")
    at = f"{user}:${{{variable}}}@" if user else ""
    notes.append(("database_path", "an existing database: dql items only, read-only; give a setup_directory for dml and ddl"))
    return f"{_SCHEMES[dialect]}://{at}{host}:{port if port.isdecimal() else _PORTS[dialect]}/{name}"
