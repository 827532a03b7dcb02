"""SQLite as the contract suite meets it."""

from __future__ import annotations

from nl2sql_gate.testing import PROBE, EngineUnderTest, Oddity

_HOSTILE = (
    "WITH x AS (SELECT 1) DELETE FROM stock",
    "DELETE FROM stock RETURNING id",
    "REPLACE INTO stock VALUES (1, 'x', 1)",
    "VACUUM",
    "PRAGMA query_only = 0; DELETE FROM stock",
    "UPDATE sqlite_master SET sql = ''",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA user_version = 7",
    "CREATE TEMP TABLE t AS SELECT 1",
    "CREATE TEMP TRIGGER t AFTER INSERT ON stock BEGIN DELETE FROM stock; END",
    "CREATE VIRTUAL TABLE f USING fts5(a)",
    "SELECT fts3_tokenizer('x', x'00')",
    "ANALYZE",
    "DETACH DATABASE main",
)

_WAYS_OUT = (
    f"ATTACH DATABASE '{PROBE}' AS p",
    f"ATTACH DATABASE '{PROBE}' AS p; CREATE TABLE p.x(a)",
    "ATTACH DATABASE ':memory:' AS p",
    f"VACUUM INTO '{PROBE}'",
    "SELECT load_extension('/tmp/x')",
    "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = ''",
    f"PRAGMA temp_store_directory = '{PROBE}'",
)

SQLITE = EngineUnderTest(
    name="sqlite",
    dialect="sqlite",
    engine="sqlite",
    oddities=(
        Oddity("wide_cell", "hex(zeroblob({} / 2))", "SQLite has no REPEAT."),
        Oddity("session_setting", None, "The guard refuses every pragma that would change a reading session."),
        Oddity(
            "automatic_numbers",
            ("CREATE TABLE usr(id INTEGER PRIMARY KEY AUTOINCREMENT, n VARCHAR(9))", "INSERT INTO usr(n) VALUES ('ann')"),
            "SQLite has no IDENTITY.",
        ),
        Oddity("division_by_zero", "null", "Division by zero gives NULL."),
        Oddity("clock_stands", True, "The functions that tell the time are replaced by ours where a clock is set."),
        Oddity("sleep", None, "SQLite has no function that waits."),
    ),
    notes=(
        "SQLite has no dates, booleans, decimals or JSON of its own: they arrive as text and numbers.",
        "Text that is not UTF-8 arrives as bytes: nothing else keeps every two values apart.",
    ),
    hostile=_HOSTILE,
    ways_out=_WAYS_OUT,
    files=lambda database: [database._path],
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
)
