"""Removes from a SQL Server what runs have made there: their databases, backups, logins and users."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import pyodbc

from nl2sql_gate.engines.sqlserver_batches import rows_of, run_to_end
from nl2sql_gate.engines.sqlserver_catalogue import bracketed
from nl2sql_gate.engines.sqlserver_fetch import literal

PREFIX = "nl2sql_gate_"
_RUN_OF = re.compile(r"nl2sql_gate_([0-9a-f]{8})_")

_NAMES = """
SELECT name FROM sys.databases WHERE name LIKE N'nl2sql[_]gate[_]%'
UNION SELECT name FROM sys.server_principals WHERE name LIKE N'nl2sql[_]gate[_]%'
UNION SELECT name FROM master.sys.database_principals WHERE name LIKE N'nl2sql[_]gate[_]%'
"""


def sweep(admin: Any, own_run: str) -> None:
    """Remove what dead runs left; a run that lives holds its lock."""
    names = [str(row[0]) for row in rows_of(admin, _NAMES)]
    runs = {found[1] for name in names if (found := _RUN_OF.match(name))}
    for run in sorted(runs - {own_run}):
        if int(rows_of(admin, take_lock(run))[0][0]) >= 0:
            drop_run(admin, run)
            run_to_end(admin, f"EXEC sp_releaseapplock @Resource = N'{PREFIX}{run}', @LockOwner = N'Session'")


def take_lock(run: str) -> str:
    """T-SQL that takes the lock of a run while the session lasts, and answers a negative number where another has it."""
    return (
        f"DECLARE @taken int; EXEC @taken = sp_getapplock @Resource = N'{PREFIX}{run}', @LockMode = N'Exclusive',"
        " @LockOwner = N'Session', @LockTimeout = 0, @DbPrincipal = N'public'; SELECT @taken"
    )


def drop_run(admin: Any, run: str) -> None:
    """Remove all that carries the run's number."""
    pattern = f"{PREFIX}{run}_".replace("_", "[_]") + "%"
    like = f"LIKE {literal(pattern)}"
    for (session,) in rows_of(admin, f"SELECT session_id FROM sys.dm_exec_sessions WHERE login_name {like}"):
        with suppress(pyodbc.Error):
            run_to_end(admin, f"KILL {int(session)}")
    for (name,) in rows_of(admin, f"SELECT name FROM sys.databases WHERE name {like}"):
        with suppress(pyodbc.Error):
            drop(admin, str(name))
    for (name,) in rows_of(admin, f"SELECT name FROM sys.database_principals WHERE name {like}"):
        with suppress(pyodbc.Error):
            run_to_end(admin, f"DROP USER {bracketed(str(name))}")
    for (name,) in rows_of(admin, f"SELECT name FROM sys.server_principals WHERE name {like}"):
        with suppress(pyodbc.Error):
            run_to_end(admin, f"DROP LOGIN {bracketed(str(name))}")


def drop(connection: Any, name: str) -> None:
    """Remove a database, its backup and whoever is in it."""
    own = bracketed(name)
    with suppress(pyodbc.Error):
        _delete_backup(connection, f"{data_folder(connection, name)}{name}.bak")
    # A copy that was being restored cannot be set, only dropped.
    with suppress(pyodbc.Error):
        run_to_end(connection, f"ALTER DATABASE {own} SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
    run_to_end(connection, f"DROP DATABASE IF EXISTS {own}")


def _delete_backup(connection: Any, path: str) -> None:
    for call in (f"EXEC master.sys.xp_delete_files {literal(path)}", f"EXEC master.dbo.xp_delete_file 0, {literal(path)}"):
        # The first since 2019, the second before.
        with suppress(pyodbc.Error):
            run_to_end(connection, call)
            return


def data_folder(connection: Any, name: str) -> str:
    """The server's folder with the files of a database, with the separator."""
    query = f"SELECT physical_name FROM sys.master_files WHERE database_id = DB_ID({literal(name)}) AND file_id = 1"
    return folder_of(str(rows_of(connection, query)[0][0]))


def folder_of(path: str) -> str:
    """The folder of a file on the server, whichever its system, with the separator."""
    return path[: max(path.rfind("/"), path.rfind("\\")) + 1]
