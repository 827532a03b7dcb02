"""DuckDB as the contract suite meets it."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal

from nl2sql_gate.records import Json
from nl2sql_gate.testing import PROBE, EngineUnderTest, Oddity

UTC = dt.UTC
_GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"

_HOSTILE = (
    "WITH x AS (SELECT 1) DELETE FROM stock",
    "DELETE FROM stock RETURNING id",
    "CREATE MACRO f(a) AS a + 1",
    "CREATE SCHEMA eve",
    "CREATE SEQUENCE eve",
    "COMMENT ON TABLE stock IS 'x'",
)

_WAYS_OUT = (
    f"COPY stock TO '{PROBE}'",
    "COPY stock FROM '/etc/passwd'",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM read_blob('/etc/hostname')",
    "SELECT * FROM read_csv('/etc/passwd', header = false)",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM 'data.csv'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_scan('https://example.com/x.parquet')",
    "SELECT * FROM sqlite_scan('/tmp/x', 't')",
    f"ATTACH '{PROBE}' AS p",
    f"EXPORT DATABASE '{PROBE}'",
    "IMPORT DATABASE '/tmp'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET GLOBAL threads = 4",
    "PRAGMA threads = 4",
    f"SET temp_directory = '{PROBE}'",
    f"SET log_query_path = '{PROBE}'",
    f"PRAGMA profiling_output = '{PROBE}'",
    "SET enable_external_access = true; SELECT * FROM read_csv('/etc/passwd', header = false)",
    "CREATE SECRET s (TYPE s3)",
    "SELECT getenv('HOME')",
    "SELECT * FROM session",
    "USE memory",
)

DUCKDB = EngineUnderTest(
    name="duckdb",
    dialect="duckdb",
    engine="duckdb",
    oddities=(
        Oddity(
            "session_setting",
            ("SET VARIABLE a = 1", "SELECT getvariable('a')"),
            "Every setting is locked; variables are all that a session can set.",
        ),
        Oddity(
            "automatic_numbers",
            (
                "CREATE SEQUENCE ids START 2",
                "CREATE TABLE usr(id INTEGER PRIMARY KEY DEFAULT nextval('ids'), n VARCHAR(9))",
                "INSERT INTO usr VALUES (1, 'ann')",
            ),
            "DuckDB has no IDENTITY; its numbers come from sequences.",
        ),
        Oddity("division_by_zero", "infinity", "The operator / divides in floating point, also whole numbers."),
        Oddity("sleep", None, "DuckDB has no function that waits."),
    ),
    notes=(
        "DuckDB's driver gives infinity dates as the first and last date that Python has, which cannot be told from real ones.",
        "An interval of a month is one of thirty days, as in DuckDB's own comparison.",
        "A temporary table may be made even where the database is read-only; it goes with the case.",
    ),
    hostile=_HOSTILE,
    ways_out=_WAYS_OUT,
    cells={
        "1": 1,
        "170141183460469231731687303715884105727": 170141183460469231731687303715884105727,
        "123456789012345678901234567890123456789012345::BIGNUM": 123456789012345678901234567890123456789012345,
        "0.10": Decimal("0.10"),
        "0.5::DOUBLE": 0.5,
        "'nan'::DOUBLE": float("nan"),
        "'-inf'::FLOAT": float("-inf"),
        "NULL": None,
        "1 = 1": True,
        "'ä%:x'": "ä%:x",
        "'\\xDE\\xAD'::BLOB": b"\xde\xad",
        "DATE '2024-05-01'": dt.date(2024, 5, 1),
        "'0044-03-15 (BC)'::DATE": "0044-03-15 (BC)",
        "'10000-01-01'::DATE": "10000-01-01",
        "TIMESTAMP '2024-05-01 12:00'": dt.datetime(2024, 5, 1, 12),  # noqa: DTZ001 - a reading of a clock on the wall
        "'infinity'::TIMESTAMP": "infinity",
        "'-infinity'::TIMESTAMP": "-infinity",
        "TIMESTAMPTZ '2024-05-01 14:00:00+02'": dt.datetime(2024, 5, 1, 12, tzinfo=UTC),
        "'infinity'::TIMESTAMPTZ": "infinity",
        "TIME '12:30'": dt.time(12, 30),
        "TIME '24:00'": "24:00:00",
        "INTERVAL '1 day 2 hours'": dt.timedelta(days=1, hours=2),
        f"'{_GUID}'::UUID": uuid.UUID(_GUID),
        "'{\"a\": [1, null]}'::JSON": Json({"a": [1, None]}),
        "{'a': 1, 'b': [DATE '2024-05-01', NULL]}": Json({"a": 1, "b": ["2024-05-01", None]}),
        "MAP {1: 'x'}": Json({"1": "x"}),
        "[1, NULL, 3]": [1, None, 3],
        "[['a'], ['b']]": [["a"], ["b"]],
        "['infinity'::TIMESTAMP]": ["infinity"],
        "'101'::BIT": "101",
        "'b'::ENUM('a', 'b')": "b",
        "union_value(a := 1)": Json(1),
    },
)
