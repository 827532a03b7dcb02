"""PostgreSQL as the contract suite meets it."""

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
    "WITH gone AS (DELETE FROM stock RETURNING id) SELECT id FROM gone",
    "SELECT * INTO stock_copy FROM stock",
    "SET default_transaction_read_only = off; DELETE FROM stock",
    "SET TRANSACTION READ WRITE; DELETE FROM stock",
    "BEGIN READ WRITE; DELETE FROM stock; COMMIT",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM stock",
    "SELECT set_config('transaction_read_only', 'off', false); DELETE FROM stock",
    "RESET ALL; DELETE FROM stock",
    "DISCARD ALL; DELETE FROM stock",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_reload_conf()",
    "SELECT nextval('numbers')",
    "SELECT setval('numbers', 99)",
    "SET default_transaction_read_only = off; SELECT nextval('numbers')",
    "CREATE TEMP TABLE t(a INTEGER)",
    "CREATE SCHEMA eve",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DO $$ BEGIN DELETE FROM stock; END $$",
    "DO $$ BEGIN EXECUTE 'CREATE TABLE x(a int)'; END $$",
    "LOCK TABLE stock IN ACCESS EXCLUSIVE MODE",
    "SELECT * FROM stock FOR UPDATE",
    "TRUNCATE stock",
    "SELECT query_to_xml('DELETE FROM stock', true, true, '')",
    "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO public",
)

_WAYS_OUT = (
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION nl2sql_gate_admin",
    "COPY stock FROM PROGRAM 'id'",
    f"COPY stock TO PROGRAM 'touch {PROBE}'",
    f"COPY stock TO '{PROBE}'",
    "COPY stock FROM '/etc/passwd'",
    "COPY stock TO STDOUT",
    "COPY stock FROM STDIN",
    "SELECT pg_read_file('/etc/hostname')",
    "SELECT pg_read_binary_file('/etc/hostname')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity",
    "ALTER SYSTEM SET work_mem = '1GB'",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "CREATE ROLE eve",
    "CREATE DATABASE eve",
    "CREATE EXTENSION dblink",
    "CREATE EXTENSION plpython3u",
    "SELECT rolpassword FROM pg_authid",
)

POSTGRES = EngineUnderTest(
    name="postgres",
    dialect="postgres",
    engine="postgres",
    may_be_absent=True,
    oddities=(
        Oddity("sleep", "SELECT pg_sleep(60)", "PostgreSQL's function that waits is called pg_sleep."),
        Oddity(
            "automatic_numbers",
            ("CREATE TABLE usr(id SERIAL PRIMARY KEY, n VARCHAR(9))", "INSERT INTO usr(n) VALUES ('ann')"),
            "Most scripts number rows with SERIAL, whose sequence is an object of its own.",
        ),
    ),
    notes=(
        "Dates that Python has no value for arrive as PostgreSQL's own text.",
        "An interval with months or years stays text: a month is not thirty days.",
    ),
    hostile=_HOSTILE,
    ways_out=_WAYS_OUT,
    hostile_setup=(
        "CREATE SEQUENCE numbers",
        "GRANT ALL ON SEQUENCE numbers TO PUBLIC",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC",
    ),
    witnesses=("SELECT last_value, is_called FROM numbers", "SELECT rolname, rolsuper FROM pg_roles"),
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
)
