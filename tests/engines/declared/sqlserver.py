"""SQL Server as the contract suite meets it: what the tests say, respelled in T-SQL, and what is hostile there alone."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from urllib.parse import quote

from nl2sql_gate.testing import PROBE, EngineUnderTest, Oddity, Spelling

_SPELLING = (
    Spelling(
        r"\AWITH RECURSIVE (.*)\Z", r"WITH \1 OPTION (MAXRECURSION 0)", "Recursion has no word of its own, and a limit of 100."
    ),
    Spelling(r"\bADD COLUMN\b", "ADD", "A column is added without the word COLUMN."),
    Spelling(r"\bBOOLEAN\b", "BIT", "A boolean is a BIT."),
    Spelling(r"\bWHERE ok\Z", "WHERE ok = 1", "A BIT is no condition."),
    Spelling(r"(?<!CURRENT_)\bTIMESTAMP\b", "DATETIME2", "TIMESTAMP is a version number of a row."),
    Spelling(r"\ABEGIN\Z", "BEGIN TRANSACTION", "BEGIN alone opens a block."),
)

_CELLS = {
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

_WAYS_OUT = (
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

_HOSTILE = (
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


SQLSERVER = EngineUnderTest(
    name="sqlserver",
    dialect="sqlserver",
    engine="sqlserver",
    way="container",
    oddities=(
        Oddity("wide_cell", "REPLICATE(CAST('x' AS VARCHAR(MAX)), {})", "REPEAT is called REPLICATE, and cuts at 8000 bytes."),
        Oddity("sleep", "WAITFOR DELAY '00:01:00'", "Waiting is a statement of its own."),
        Oddity("session_setting", ("SET DATEFIRST 3", "SELECT @@DATEFIRST"), "A session has no time zone."),
        Oddity(
            "automatic_numbers",
            ("CREATE TABLE usr(id INT IDENTITY PRIMARY KEY, n VARCHAR(9))", "INSERT INTO usr(n) VALUES ('ann')"),
            "IDENTITY stands without the words around it.",
        ),
    ),
    notes=(
        "Text without N in front is what the server's collation can hold: all of it where that is UTF-8.",
        "A temporary table may be made even where the database is read-only; it goes with the case.",
    ),
    spelling=_SPELLING,
    hostile=_HOSTILE,
    ways_out=_WAYS_OUT,
    hostile_setup=("CREATE SEQUENCE numbers",),
    cells=_CELLS,
)


def way(given: str) -> str:
    """The way to the server to test on, given as a URL, an ODBC connection string, or `container`."""
    return given if "://" in given or "=" not in given else f"mssql+pyodbc:///?odbc_connect={quote(given, safe='')}"
