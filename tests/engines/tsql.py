"""The contract in T-SQL: what a test says in the other dialects' words, respelled, and what is hostile there alone.

The suite runs on the SQL Server that `GATE_SQLSERVER_DSN` names: a URL, an ODBC connection string, or `container`.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from nl2sql_gate.records import Execution, Schema, State

SPELLING: tuple[tuple[str, str, str], ...] = (
    (r"\AWITH RECURSIVE (.*)\Z", r"WITH \1 OPTION (MAXRECURSION 0)", "Recursion has no word of its own, and a limit of 100."),
    (
        r"\bREPEAT\('x', (\d+)\)",
        r"REPLICATE(CAST('x' AS VARCHAR(MAX)), \1)",
        "REPEAT is called REPLICATE, and cuts at 8000 bytes.",
    ),
    (r"\bADD COLUMN\b", "ADD", "A column is added without the word COLUMN."),
    (r"\bBOOLEAN\b", "BIT", "A boolean is a BIT."),
    (r"\bWHERE ok\Z", "WHERE ok = 1", "A BIT is no condition."),
    (r"(?<!CURRENT_)\bTIMESTAMP\b", "DATETIME2", "TIMESTAMP is a version number of a row."),
    (r"\bINT AUTO_INCREMENT\b", "INT IDENTITY", "Automatic numbers are IDENTITY."),
    (r"\ABEGIN\Z", "BEGIN TRANSACTION", "BEGIN alone opens a block."),
)
"""Pattern, replacement, and the sentence that says why."""

CELLS: dict[str, Any] = {
    "1": 1,
    "CAST(9007199254740993 AS BIGINT)": 9007199254740993,
    "CAST(0.10 AS DECIMAL(8,2))": Decimal("0.10"),
    "CAST(0.5 AS FLOAT)": 0.5,
    "CAST(1 AS BIT)": True,
    "CAST(1234.5 AS MONEY)": Decimal("1234.5000"),
    "NULL": None,
    "'ä%:x'": "ä%:x",
    "CAST('ab' AS CHAR(5))": "ab   ",
    "0xDEAD": b"\xde\xad",
    "CAST('2024-05-01' AS DATE)": dt.date(2024, 5, 1),
    "CAST('0001-01-01' AS DATE)": dt.date(1, 1, 1),
    "CAST('2024-05-01T12:00:00.5' AS DATETIME2)": dt.datetime(2024, 5, 1, 12, 0, 0, 500000),  # noqa: DTZ001 - a clock on the wall
    "CAST('2024-05-01T12:00:00' AS SMALLDATETIME)": dt.datetime(2024, 5, 1, 12),  # noqa: DTZ001 - likewise
    "CAST('12:30' AS TIME(0))": dt.time(12, 30),
    "CAST('2024-05-01T14:00:00+02:00' AS DATETIMEOFFSET)": dt.datetime(2024, 5, 1, 14, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    "CAST('6f9619ff-8b86-d011-b42d-00c04fc964ff' AS UNIQUEIDENTIFIER)": uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"),
    "CAST('/1/2/' AS HIERARCHYID)": "/1/2/",
    "geometry::Point(1, 2, 0)": "POINT (1 2)",
    "CAST('<a/>' AS XML)": "<a/>",
}

PROBE = "/tmp/nl2sql_gate_probe"  # noqa: S108 - the name that hostile SQL would write to

OUTSIDE: tuple[str, ...] = (
    "EXEC xp_cmdshell 'id'",
    "EXEC master..xp_dirtree '/', 1, 1",
    "EXEC master..xp_fileexist '/etc/passwd'",
    "EXEC master..xp_regread 'HKEY_LOCAL_MACHINE', 'SOFTWARE', 'x'",
    "EXEC sp_configure 'show advanced options', 1",
    "RECONFIGURE",
    "SELECT * FROM OPENROWSET(BULK '/etc/passwd', SINGLE_CLOB) AS f",
    "SELECT * FROM OPENROWSET('MSOLEDBSQL', 'Server=x;Trusted_Connection=yes;', 'SELECT 1') AS f",
    "SELECT * FROM OPENDATASOURCE('MSOLEDBSQL', 'Data Source=x').a.b.c",
    "SELECT * FROM OPENQUERY(nowhere, 'SELECT 1')",
    "BULK INSERT stock FROM '/etc/passwd'",
    f"BACKUP DATABASE master TO DISK = '{PROBE}'",
    f"RESTORE DATABASE eve FROM DISK = '{PROBE}'",
    "CREATE DATABASE eve",
    "CREATE LOGIN eve WITH PASSWORD = 'Abcdef-123456'",
    "ALTER SERVER ROLE sysadmin ADD MEMBER eve",
    "ALTER LOGIN sa WITH PASSWORD = 'Abcdef-123456'",
    "EXEC sp_addsrvrolemember 'eve', 'sysadmin'",
    "EXEC sp_addlinkedserver 'eve'",
    "EXECUTE AS LOGIN = 'sa'",
    "EXECUTE AS USER = 'dbo'",
    "USE master; CREATE TABLE eve(a INT)",
    "USE msdb; SELECT * FROM sysjobs",
    "SHUTDOWN",
    "KILL 1",
    "DBCC SHRINKDATABASE (0)",
    "EXEC sp_detach_db 'master'",
    "CREATE CERTIFICATE eve FROM FILE = '/etc/passwd'",
)
"""Ways out of a database, shut for readers and writers alike."""

HOSTILE: tuple[str, ...] = (
    *OUTSIDE,
    "WITH x AS (SELECT id FROM stock) DELETE FROM x",
    "DELETE FROM stock OUTPUT deleted.id",
    "MERGE stock AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE;",
    "SELECT * INTO stock_copy FROM stock",
    "TRUNCATE TABLE stock",
    "EXEC('DELETE FROM stock')",
    "EXEC sp_executesql N'DELETE FROM stock'",
    "DECLARE @s NVARCHAR(99) = N'DELETE FROM stock'; EXEC(@s)",
    "BEGIN TRANSACTION; DELETE FROM stock; COMMIT",
    "SELECT 1\nGO\nDELETE FROM stock",
    "IF 1 = 1 BEGIN DELETE FROM stock END",
    "CREATE PROCEDURE eve AS DELETE FROM stock",
    "CREATE FUNCTION eve() RETURNS INT AS BEGIN RETURN 1 END",
    "CREATE TRIGGER eve ON stock AFTER INSERT AS DELETE FROM stock",
    "CREATE SCHEMA eve",
    "GRANT DELETE ON stock TO public",
    "ALTER ROLE db_owner ADD MEMBER public",
    "ALTER DATABASE CURRENT SET READ_WRITE",
    "ALTER DATABASE CURRENT SET RECOVERY FULL",
    "SELECT NEXT VALUE FOR numbers",
    "ALTER SEQUENCE numbers RESTART",
    "EXEC sp_rename 'stock', 'eve'",
    "UPDATE STATISTICS stock",
    "DENY SELECT ON stock TO public",
)


def way() -> str:
    """The way to the server to test on; empty where none is given."""
    given = os.environ.get("GATE_SQLSERVER_DSN", "")
    return given if "://" in given or "=" not in given else f"mssql+pyodbc:///?odbc_connect={quote(given, safe='')}"


def respelled(text: str) -> str:
    """What a test says, in T-SQL."""
    for pattern, replacement, _ in SPELLING:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text


@dataclass
class RespelledSession:
    """A session that is told T-SQL."""

    inner: Any

    def execute(self, sql: str) -> Execution:
        return self.inner.execute(respelled(sql))  # type: ignore[no-any-return]

    def state(self) -> State:
        return self.inner.state()  # type: ignore[no-any-return]

    def protect(self) -> None:
        self.inner.protect()

    def set_clock(self, instant: dt.datetime | None) -> None:
        self.inner.set_clock(instant)


@dataclass
class RespelledDatabase:
    """A database whose sessions are told T-SQL."""

    inner: Any
    name: str = ""
    digest: str = ""

    def schema(self, *, sample_values: int) -> Schema:
        return self.inner.schema(sample_values=sample_values)  # type: ignore[no-any-return]

    @contextmanager
    def reading(self) -> Iterator[RespelledSession]:
        with self.inner.reading() as session:
            yield RespelledSession(session)

    @contextmanager
    def writing(self, statements: Sequence[str]) -> Iterator[RespelledSession]:
        with self.inner.writing([respelled(statement) for statement in statements]) as session:
            yield RespelledSession(session)

    def dsn(self) -> str:
        return self.inner.dsn()  # type: ignore[no-any-return]
