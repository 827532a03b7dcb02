"""What differs between engines by nature, as data: each with the sentence that says why it is no fault of ours."""

from __future__ import annotations

import datetime as dt
import os
import uuid
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import tsql

from nl2sql_gate.engines.mysql_server import has_binary
from nl2sql_gate.records import Json

UTC = dt.UTC
_GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"


@dataclass(frozen=True)
class Oddities:
    """One engine; `ours` where its server is a process of ours. `endless` never ends by itself, `endless_rows` gives rows without end, `sleep` waits without work."""

    way: str = "auto"
    endless: str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT COUNT(*) FROM c"
    endless_rows: str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c"
    sleep: str = ""
    counted: str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < {}) SELECT x FROM c"
    wide_cell: str = "SELECT REPEAT('x', 9000000)"
    division_by_zero: str = "error"
    cells: dict[str, Any] = field(default_factory=dict)
    unquoted_type: dict[str, str] = field(default_factory=dict)
    quote: str = '"'
    case_sensitive_names: bool = True
    transactional_ddl: bool = True
    sentences: tuple[str, ...] = ()
    ours: bool = True


MYSQL = Oddities(
    endless="SELECT BENCHMARK(100000000000, MD5('a'))",
    endless_rows="SELECT a.id FROM stock a, stock b, stock c, stock d, stock e, stock f, stock g, stock h, stock i, stock j",
    sleep="SELECT SLEEP(60)",
    division_by_zero="null",
    quote="`",
    transactional_ddl=False,
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
    sentences=(
        "Names of tables are told apart by case on Linux, names of columns never.",
        "Zero and partial dates arrive as text: they are neither NULL nor each other.",
        "DDL commits; an item with DDL runs in a copy that is put back table by table.",
        "Division by zero gives NULL.",
    ),
)

SQLSERVER = Oddities(
    way=tsql.way(),
    sleep="WAITFOR DELAY '00:01:00'",
    case_sensitive_names=False,
    cells=tsql.CELLS,
    ours=False,
    sentences=(
        *(sentence for _, _, sentence in tsql.SPELLING),
        "Text without N in front is what the server's collation can hold: all of it where that is UTF-8.",
        "A temporary table may be made even where the database is read-only; it goes with the case.",
    ),
)

_MYSQL_WAY = os.environ.get("GATE_TEST_MYSQL") or ("embedded" if has_binary("MySQL") else "")

ENGINES: dict[str, Oddities] = {
    "sqlite": Oddities(
        wide_cell="SELECT hex(zeroblob(4500000))",
        division_by_zero="null",
        case_sensitive_names=False,
        cells={
            "1": 1,
            "9007199254740993": 9007199254740993,
            "0.5": 0.5,
            "9e999": float("inf"),
            "NULL": None,
            "'ä%:x'": "ä%:x",
            "x'dead'": b"\xde\xad",
            "CAST(X'416c62617272e16e' AS TEXT)": b"Albarr\xe1n",
            "DATE('2024-05-01')": "2024-05-01",
            "1 = 1": 1,
            "json('{\"a\": 1}')": '{"a":1}',
        },
        sentences=(
            "SQLite has no dates, booleans, decimals or JSON of its own: they arrive as text and numbers.",
            "Text that is not UTF-8 arrives as bytes: nothing else keeps every two values apart.",
            "Division by zero gives NULL.",
        ),
    ),
    "duckdb": Oddities(
        case_sensitive_names=False,
        division_by_zero="null",
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
        sentences=(
            "DuckDB's driver gives infinity dates as the first and last date that Python has, which cannot be told from real ones.",
            "An interval of a month is one of thirty days, as in DuckDB's own comparison.",
            "A temporary table may be made even where the database is read-only; it goes with the case.",
            "Division by zero gives NULL.",
        ),
    ),
    # MySQL proper, where its server is installed or given; MariaDB is another product.
    **({"mysql": replace(MYSQL, way=_MYSQL_WAY)} if _MYSQL_WAY else {}),
    "mariadb": replace(
        MYSQL,
        cells={**MYSQL.cells, "CAST('6f9619ff-8b86-d011-b42d-00c04fc964ff' AS UUID)": _GUID, "CAST('::1' AS INET6)": "::1"},
        sentences=(*MYSQL.sentences, "JSON is a text type on MariaDB, and arrives as text."),
    ),
    "postgres": Oddities(
        sleep="SELECT pg_sleep(60)",
        cells={
            "1": 1,
            "9007199254740993": 9007199254740993,
            "0.10": Decimal("0.10"),
            "'NaN'::numeric": Decimal("NaN"),
            "'Infinity'::numeric": Decimal("Infinity"),
            "0.5::float8": 0.5,
            "'NaN'::float8": float("nan"),
            "'-Infinity'::float4": float("-inf"),
            "NULL": None,
            "1 = 1": True,
            "'ä%:x'": "ä%:x",
            "'ab'::char(5)": "ab   ",
            "'\\xdead'::bytea": b"\xde\xad",
            "DATE '2024-05-01'": dt.date(2024, 5, 1),
            "DATE '0044-03-15 BC'": "0044-03-15 BC",
            "DATE 'infinity'": "infinity",
            "DATE '10000-01-01'": "10000-01-01",
            "TIMESTAMP '2024-05-01 12:00'": dt.datetime(2024, 5, 1, 12),  # noqa: DTZ001 - a reading of a clock on the wall
            "'infinity'::timestamp": "infinity",
            "TIMESTAMPTZ '2024-05-01 14:00:00+02'": dt.datetime(2024, 5, 1, 12, tzinfo=UTC),
            "'-infinity'::timestamptz": "-infinity",
            "TIME '12:30'": dt.time(12, 30),
            "TIME '24:00'": "24:00:00",
            "TIMETZ '12:30+02'": dt.time(12, 30, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "INTERVAL '1 day 02:00'": dt.timedelta(days=1, hours=2),
            "INTERVAL '1 mon'": "1 mon",
            f"'{_GUID}'::uuid": uuid.UUID(_GUID),
            "'{\"a\": [1, null]}'::jsonb": Json({"a": [1, None]}),
            "'{\"a\": 1}'::json": Json({"a": 1}),
            "'null'::jsonb": Json(None),
            "ARRAY[1, NULL, 3]": [1, None, 3],
            "ARRAY[ARRAY['a'], ARRAY['b']]": [["a"], ["b"]],
            "ARRAY['infinity'::date]": ["infinity"],
            "1234.5::money": Decimal("1234.50"),
            "B'101'": "101",
            "int4range(1, 3)": "[1,3)",
            "'{[1,2)}'::int4multirange": "{[1,2)}",
            "'10.0.0.1/8'::inet": "10.0.0.1/8",
            "ROW(1, 'a')": "(1,a)",
            "point(1, 2)": "(1,2)",
            "'<a/>'::xml": "<a/>",
            "'a'::\"char\"": "a",
            "pg_sleep(0)": "",
        },
        sentences=(
            "Dates that Python has no value for arrive as PostgreSQL's own text.",
            "An interval with months or years stays text: a month is not thirty days.",
        ),
    ),
    # SQL Server, where one is given: no process of ours.
    **({"sqlserver": SQLSERVER} if tsql.way() else {}),
}
