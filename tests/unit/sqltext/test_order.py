"""The order that golden SQL demands, and a rewritten query that shows its sort keys."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nl2sql_gate.sqltext import TopLevelOrder, top_level_order, with_keys_appended

UNORDERED = TopLevelOrder(is_ordered=False)


@pytest.mark.parametrize(
    "dialect, sql",
    [
        ("postgres", "SELECT a FROM t"),
        ("postgres", "SELECT a FROM (SELECT a FROM t ORDER BY b) q"),
        ("postgres", "WITH q AS (SELECT a FROM t ORDER BY b) SELECT a FROM q"),
        ("postgres", "SELECT a, ROW_NUMBER() OVER (ORDER BY b) FROM t"),
        ("postgres", "SELECT STRING_AGG(a, ',' ORDER BY b) FROM t"),
        ("postgres", "(SELECT a FROM x ORDER BY a LIMIT 1) UNION ALL (SELECT a FROM y ORDER BY a LIMIT 1)"),
        ("postgres", "SELECT a FROM t ORDER BY random()"),
        ("mysql", "SELECT a FROM t ORDER BY RAND()"),
        ("mysql", "SELECT a FROM t ORDER BY NULL"),
        ("sqlserver", "SELECT a FROM t ORDER BY (SELECT NULL) OFFSET 1 ROWS"),
        ("sqlite", "SELECT a FROM t ORDER BY 'a'"),
        ("sqlite", "SELECT a FROM t ORDER BY b; SELECT a FROM t"),
        ("sqlite", "INSERT INTO t SELECT a FROM u ORDER BY a"),
        ("mysql", "SELECT weird FROM (SELECT ??? ORDER BY a) WHERE ???"),
    ],
)
def test_no_order_of_its_own(dialect: str, sql: str) -> None:
    assert top_level_order(sql, dialect) == UNORDERED


@pytest.mark.parametrize(
    "dialect, sql, positions",
    [
        ("postgres", "SELECT a, b FROM t ORDER BY b DESC NULLS LAST", (1,)),
        ("postgres", "SELECT a AS x, b FROM t ORDER BY 2, x", (1, 0)),
        ("postgres", "SELECT * FROM t ORDER BY 3", (2,)),
        ("postgres", "SELECT a, random() FROM t ORDER BY a, random()", (0,)),
        ("postgres", "SELECT lower(a) FROM t ORDER BY LOWER(a)", (0,)),
        ("postgres", "SELECT COUNT(*) FROM t GROUP BY a ORDER BY count", (0,)),
        ("postgres", "SELECT a FROM x UNION SELECT b FROM y ORDER BY a DESC LIMIT 2", (0,)),
        ("postgres", "(SELECT a FROM t) ORDER BY a", (0,)),
        ("postgres", "((SELECT b, a FROM t ORDER BY a))", (1,)),
        ("postgres", "VALUES (1, 2), (3, 4) ORDER BY 2", (1,)),
        ("postgres", "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC", (0, 1)),
        ("sqlite", 'SELECT "A" FROM t ORDER BY a', (0,)),
        ("sqlite", "SELECT t.name FROM t ORDER BY name", (0,)),
        ("sqlite", "SELECT name AS n FROM t ORDER BY t.name", (0,)),
        ("sqlite", "SELECT 1; SELECT a FROM t ORDER BY a;", (0,)),
        ("duckdb", "SELECT a, b FROM t ORDER BY ALL", (0, 1)),
        ("sqlserver", "SELECT TOP (5) a, [b c] FROM t ORDER BY [b c]", (1,)),
        ("postgres", "SELECT a FROM t ORDER BY b", None),
        ("postgres", 'SELECT "A" FROM t ORDER BY a', None),
        ("postgres", "SELECT u.a FROM t JOIN u ON true ORDER BY t.a", None),
        ("postgres", "SELECT *, b AS k FROM t ORDER BY k", None),
        ("sqlite", "SELECT a FROM t ORDER BY a COLLATE NOCASE", None),
        ("mysql", "SELECT weird FROM t WHERE ??? ORDER BY a", None),
    ],
)
def test_positions_of_the_keys(dialect: str, sql: str, positions: tuple[int, ...] | None) -> None:
    assert top_level_order(sql, dialect) == TopLevelOrder(is_ordered=True, key_positions=positions)


@pytest.mark.parametrize(
    "dialect, sql, expected, count",
    [
        ("sqlite", "SELECT a FROM t ORDER BY b DESC", "SELECT a, b AS K1 FROM t ORDER BY b DESC", 1),
        (
            "sqlite",
            "SELECT n, SUM(v) AS s FROM t GROUP BY n ORDER BY s * 2 DESC, n LIMIT 3;",
            "SELECT n, SUM(v) AS s, (SUM(v)) * 2 AS K1, n AS K2 FROM t GROUP BY n ORDER BY s * 2 DESC, n LIMIT 3;",
            2,
        ),
        (
            "sqlite",
            "SELECT * FROM t ORDER BY a COLLATE NOCASE",
            "SELECT *, DENSE_RANK() OVER (ORDER BY a COLLATE NOCASE) AS K1 FROM t ORDER BY a COLLATE NOCASE",
            1,
        ),
        (
            "postgres",
            "SELECT a IS DISTINCT FROM b FROM t ORDER BY c",
            "SELECT a IS DISTINCT FROM b, c AS K1 FROM t ORDER BY c",
            1,
        ),
        (
            "postgres",
            "SELECT a -- x\nFROM t ORDER BY c -- y\n, d",
            "SELECT a -- x\n, c AS K1, d AS K2 FROM t ORDER BY c -- y\n, d",
            2,
        ),
        (
            "postgres",
            "SELECT DISTINCT ON (a) a FROM t ORDER BY a, b",
            "SELECT DISTINCT ON (a) a, a AS K1, b AS K2 FROM t ORDER BY a, b",
            2,
        ),
        (
            "sqlserver",
            "SELECT TOP 5 WITH TIES t.a x FROM t ORDER BY t.b",
            "SELECT TOP 5 WITH TIES t.a x, t.b AS K1 FROM t ORDER BY t.b",
            1,
        ),
        ("mysql", "SELECT a AS `x y` FROM t ORDER BY `x y` + 1", "SELECT a AS `x y`, (a) + 1 AS K1 FROM t ORDER BY `x y` + 1", 1),
        (
            "sqlite",
            "SELECT DISTINCT a FROM t ORDER BY a IS NULL, a",
            "SELECT DISTINCT a, a IS NULL AS K1, a AS K2 FROM t ORDER BY a IS NULL, a",
            2,
        ),
        (
            "postgres",
            "SELECT * FROM x UNION SELECT * FROM y ORDER BY n",
            "SELECT R.*, R.n AS K1 FROM (\nSELECT * FROM x UNION SELECT * FROM y \n) AS R ORDER BY n",
            1,
        ),
        ("postgres", "(SELECT a FROM t ORDER BY b)", "(SELECT a, b AS K1 FROM t ORDER BY b)", 1),
    ],
)
def test_keys_are_appended_and_nothing_else_changes(dialect: str, sql: str, expected: str, count: int) -> None:
    expected = re.sub(r"\bK(\d)", r"nl2sql_gate_key_\1", expected)
    expected = re.sub(r"\bR\b", "nl2sql_gate_rows", expected)
    assert with_keys_appended(sql, dialect) == (expected, count)


@pytest.mark.parametrize(
    "dialect, sql",
    [
        ("sqlite", "SELECT a FROM t"),
        ("sqlite", "SELECT DISTINCT a FROM t ORDER BY b"),
        ("sqlite", "SELECT DISTINCT a FROM t GROUP BY a, b ORDER BY COUNT(*)"),
        ("sqlite", "SELECT 1; SELECT a FROM t ORDER BY b"),
        ("sqlite", "SELECT a total, total FROM t ORDER BY total + 1"),
        ("sqlite", "SELECT a FROM x UNION SELECT a FROM y ORDER BY a + 1"),
        ("sqlite", "SELECT a FROM x UNION SELECT a FROM y ORDER BY a COLLATE NOCASE"),
        ("duckdb", "FROM t ORDER BY a"),
        ("sqlserver", "SELECT a FROM t ORDER BY b FOR JSON PATH"),
        ("mysql", "SELECT weird FROM t WHERE ??? ORDER BY a"),
        ("sqlite", "DELETE FROM t ORDER BY a LIMIT 1"),
    ],
)
def test_keys_are_not_appended_where_that_could_lie(dialect: str, sql: str) -> None:
    assert with_keys_appended(sql, dialect) is None


ITEMS = st.sampled_from(["a", "b AS c", "t.c", "a + b AS s", "*", "COUNT(*) OVER () AS n", "lower(c) AS low", "c x"])
TERMS = st.sampled_from(
    ["a", "b", "c", "s", "1", "t.b DESC", "a + b", "c COLLATE NOCASE", "-a", "low", "x", "b IS NULL", "s * 2", "'k'", "NULL"]
)


@given(
    items=st.lists(ITEMS, min_size=1, max_size=3),
    terms=st.lists(TERMS, min_size=1, max_size=3),
    rows=st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 2), st.sampled_from("xXyY")), max_size=8),
    tail=st.sampled_from(["", " LIMIT 3", ";"]),
    distinct=st.booleans(),
)
def test_the_rewritten_query_returns_the_same_rows_and_true_keys(
    items: list[str], terms: list[str], rows: list[tuple[Any, ...]], tail: str, distinct: bool
) -> None:
    """Run on SQLite: whatever it makes of names and aliases is the truth."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (a, b, c)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    sql = f"SELECT {'DISTINCT ' if distinct else ''}{', '.join(items)} FROM t ORDER BY {', '.join(terms)}{tail}"
    try:
        plain = database.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return
    order, rewritten = top_level_order(sql, "sqlite"), with_keys_appended(sql, "sqlite")
    if rewritten is None:
        return
    text, count = rewritten
    keyed = database.execute(text).fetchall()
    assert plain == [row[:-count] for row in keyed]
    if order.key_positions is not None:
        assert [tuple(row[i] for i in order.key_positions) for row in plain] == [row[-count:] for row in keyed]
    assert _stays_within_ties(database, sql, keyed, count)


def _stays_within_ties(database: sqlite3.Connection, sql: str, keyed: list[tuple[Any, ...]], count: int) -> bool:
    """Equal keys stand together: were a key wrong, rows with another key would come between them."""
    seen: list[tuple[Any, ...]] = []
    for row in keyed:
        if not seen or seen[-1] != row[-count:]:
            seen.append(row[-count:])
    return len(seen) == len(set(seen))


def test_real_goldens_keep_their_rows(shared_data: Path) -> None:
    """The ordered ones of 500 real golden queries, run on their databases, with and without the keys."""
    folder = shared_data / "data" / "bird-mini-dev"
    wrong, checked = [], 0
    for item in json.loads((folder / "mini_dev_sqlite.json").read_text(encoding="utf-8")):
        sql = item["SQL"]
        rewritten = with_keys_appended(sql, "sqlite") if top_level_order(sql, "sqlite").is_ordered else None
        if rewritten is None:
            continue
        database = sqlite3.connect(f"file:{folder}/databases/{item['db_id']}/{item['db_id']}.sqlite?mode=ro", uri=True)
        deadline = time.monotonic() + 2
        database.set_progress_handler(lambda until=deadline: time.monotonic() > until, 10_000)
        plain = database.execute(sql).fetchall()
        keyed = database.execute(rewritten[0]).fetchall()
        database.close()
        checked += 1
        if plain != [row[: -rewritten[1]] for row in keyed]:
            wrong.append(item["question_id"])
    assert wrong == []
    assert checked > 50
