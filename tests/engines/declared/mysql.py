"""MySQL and MariaDB as the contract suite meets them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

from nl2sql_gate.testing import PROBE, EngineUnderTest, Oddity

_GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"

_HOSTILE = (
    "WITH x AS (SELECT 1) DELETE FROM stock",
    "DELETE s FROM stock s",
    "REPLACE INTO stock VALUES (1, 'x', 1)",
    "SET SESSION TRANSACTION READ WRITE; DELETE FROM stock",
    "START TRANSACTION READ WRITE; DELETE FROM stock; COMMIT",
    "SET autocommit = 0; DELETE FROM stock; COMMIT",
    "TRUNCATE stock",
    "RENAME TABLE stock TO gone",
    "CREATE TEMPORARY TABLE t(a INT)",
    "CREATE PROCEDURE p() DELETE FROM stock",
    "CREATE TRIGGER t BEFORE INSERT ON stock FOR EACH ROW SET NEW.qty = 0",
    "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM stock",
    "LOCK TABLES stock WRITE",
    "USE mysql",
    "SELECT * FROM no_such_db.t",
    "SET SQL_LOG_BIN = 0",
    "PREPARE s FROM 'DELETE FROM stock'; EXECUTE s",
    "EXECUTE IMMEDIATE 'DELETE FROM stock'",
    "ANALYZE TABLE no_such",
    "XA START 'x'; DELETE FROM stock",
)

_WAYS_OUT = (
    f"SELECT * FROM stock INTO OUTFILE '{PROBE}'",
    f"SELECT 'x' INTO DUMPFILE '{PROBE}'",
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE stock",
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE stock",
    "CREATE DATABASE eve",
    "CREATE USER eve",
    "GRANT ALL ON *.* TO CURRENT_USER()",
    "SET GLOBAL max_connections = 1",
    "SET GLOBAL general_log = ON",
    f"SET GLOBAL general_log_file = '{PROBE}'",
    "SET PERSIST max_connections = 1",
    "INSTALL PLUGIN x SONAME 'x.so'",
    "CREATE FUNCTION sys_exec RETURNS INT SONAME 'x.so'",
    "FLUSH TABLES WITH READ LOCK",
    "FLUSH PRIVILEGES",
    "SHUTDOWN",
    "KILL 1",
    "SELECT * FROM mysql.user",
    "SELECT * FROM mysql.global_priv",
    "SET @@GLOBAL.read_only = 0",
    "CHANGE MASTER TO MASTER_HOST = 'x'",
)

MYSQL = EngineUnderTest(
    name="mysql",
    dialect="mysql",
    engine="mysql",
    way="embedded",
    oddities=(
        Oddity("quote", "`", "Names are quoted with backticks; the standard's mark is one around text."),
        Oddity("endless", "SELECT BENCHMARK(100000000000, SHA2('a', 512))", "Recursion stops by itself after a thousand rounds."),
        Oddity(
            "endless_rows",
            "SELECT a.id FROM stock a, stock b, stock c, stock d, stock e, stock f, stock g, stock h, stock i, stock j",
            "Recursion stops by itself after a thousand rounds.",
        ),
        Oddity(
            "counted_rows",
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 40) SELECT a.x FROM c a, c b LIMIT {}",
            "Recursion stops by itself after a thousand rounds, on MySQL with an error.",
        ),
        Oddity("sleep", "SELECT SLEEP(60)", "MySQL's function that waits is called SLEEP."),
        Oddity("session_setting", ("SET time_zone = '+09:00'", "SELECT @@time_zone"), "The time zone is a system variable."),
        Oddity(
            "automatic_numbers",
            ("CREATE TABLE usr(id INT AUTO_INCREMENT PRIMARY KEY, n VARCHAR(9))", "INSERT INTO usr(n) VALUES ('ann')"),
            "Automatic numbers are AUTO_INCREMENT.",
        ),
        Oddity("division_by_zero", "null", "Division by zero gives NULL in a query."),
        Oddity("clock_stands", True, "SET timestamp lets a session's clock stand."),
    ),
    notes=(
        "Names of tables are told apart by case on Linux, names of columns never.",
        "Zero and partial dates arrive as text: they are neither NULL nor each other.",
        "DDL commits; an item with DDL runs in a copy that is put back table by table.",
    ),
    hostile=_HOSTILE,
    ways_out=_WAYS_OUT,
    cells={
        "1": 1,
        "18446744073709551615": 18446744073709551615,
        "0.10": Decimal("0.10"),
        "5e-1": 0.5,
        "NULL": None,
        "1 = 1": 1,
        "b'101'": b"\x05",
        "'ä%:x'": "ä%:x",
        "x'dead'": b"\xde\xad",
        "DATE '2024-05-01'": dt.date(2024, 5, 1),
        "TIMESTAMP '2024-05-01 12:00:00.5'": dt.datetime(2024, 5, 1, 12, 0, 0, 500000),  # noqa: DTZ001 - a clock on the wall
        "TIME '26:10:00'": dt.timedelta(hours=26, minutes=10),
        "TIME '-01:00:00'": dt.timedelta(hours=-1),
        "CAST('a' AS CHAR(5))": "a",
    },
)

MARIADB = replace(
    MYSQL,
    name="mariadb",
    dialect="mariadb",
    engine="mariadb",
    way="auto",
    may_be_absent=True,
    notes=(*MYSQL.notes, "JSON is a text type on MariaDB, and arrives as text."),
    cells={**MYSQL.cells, f"CAST('{_GUID}' AS UUID)": _GUID, "CAST('::1' AS INET6)": "::1"},
)
