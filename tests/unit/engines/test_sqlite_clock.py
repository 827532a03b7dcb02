from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import pytest

from nl2sql_gate.engines.sqlite_clock import Clock

NOON = datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT CURRENT_TIMESTAMP", "2024-02-29 12:30:15"),
        ("SELECT CURRENT_DATE", "2024-02-29"),
        ("SELECT CURRENT_TIME", "12:30:15"),
        ("SELECT date('now', '-30 days')", "2024-01-30"),
        ("SELECT datetime()", "2024-02-29 12:30:15"),
        ("SELECT strftime('%Y', 'NOW')", "2024"),
        ("SELECT strftime('%s')", "1709209815"),
        ("SELECT unixepoch('now')", 1709209815),
        ("SELECT date('2020-01-31', '+1 month')", "2020-03-02"),
        ("SELECT date(NULL)", None),
        ("SELECT date('no date')", None),
    ],
)
def test_now_is_the_moment_that_was_set_and_other_dates_are_untouched(sql: str, expected: object) -> None:
    connection = sqlite3.connect(":memory:")
    Clock(connection).set(NOON)
    assert connection.execute(sql).fetchone()[0] == expected


def test_defaults_and_generated_columns_see_the_same_moment() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, at TEXT DEFAULT CURRENT_TIMESTAMP, day GENERATED ALWAYS AS (date(a)) STORED)")
    Clock(connection).set(NOON)
    connection.execute("INSERT INTO t (a) VALUES ('2020-05-05 01:00:00')")
    assert connection.execute("SELECT at, day FROM t").fetchone() == ("2024-02-29 12:30:15", "2020-05-05")


def test_the_clock_runs_again_when_it_is_given_back() -> None:
    connection = sqlite3.connect(":memory:")
    clock = Clock(connection)
    clock.set(NOON)
    clock.set(None)
    assert connection.execute("SELECT CURRENT_DATE").fetchone()[0] >= "2026-01-01"
    assert connection.execute("SELECT date('now')").fetchone()[0] >= "2026-01-01"
