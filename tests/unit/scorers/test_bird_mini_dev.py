"""Five models' real SQL on BIRD's mini-dev questions: BIRD's comparison on every item, and where ours differs, why."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nl2sql_gate.engines.sqlite_database import SqliteDatabase
from nl2sql_gate.golden import row_order
from nl2sql_gate.records import Case, Execution, Limits, ResultSet, RowOrder, Side
from nl2sql_gate.scorers.execution_accuracy import ExecutionAccuracy
from nl2sql_gate.scorers.execution_accuracy_bird import ExecutionAccuracyBird
from nl2sql_gate.sqltext import top_level_order, with_keys_appended

LIMIT_S = 20.0


def order_of(golden: ResultSet, sql: str, database: SqliteDatabase) -> RowOrder:
    order = top_level_order(sql, "sqlite")
    rewritten = with_keys_appended(sql, "sqlite") if order.is_ordered and order.key_positions is None else None
    keyed: tuple[Execution, ...] = ()
    if rewritten is not None:
        with database.reading() as session:
            keyed = (session.execute(rewritten[0]),)
    positions = None if order.key_positions is None else tuple(order.key_positions)
    return row_order(golden, keyed, sql, "sqlite", appended=rewritten[1] if rewritten else 0, positions=positions)


def raw_verdict(connection: sqlite3.Connection, golden: str, generated: str) -> int:
    """What BIRD's evaluator computes from the driver's own tuples."""
    end = time.monotonic() + LIMIT_S
    connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    with contextlib.suppress(sqlite3.Error, sqlite3.Warning):
        return int(set(connection.execute(generated).fetchall()) == set(connection.execute(golden).fetchall()))
    return 0


def test_bird_is_reproduced_on_every_item_and_strict_differs_for_a_reason(
    scoring: SimpleNamespace, shared_data: Path, tmp_path: Path
) -> None:
    root = shared_data / "data" / "bird-mini-dev"
    items = json.loads((root / "mini_dev_sqlite.json").read_text(encoding="utf-8"))
    wrong: list[Any] = []
    differing: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        databases: dict[str, tuple[SqliteDatabase, sqlite3.Connection]] = {}
        for name in sorted({item["db_id"] for item in items}):
            path = root / "databases" / name / f"{name}.sqlite"
            ours = SqliteDatabase(name=name, digest="", path=path, folder=tmp_path, limits=Limits(statement_s=LIMIT_S))
            raw = stack.enter_context(contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)))
            databases[name] = (ours, raw)
            stack.callback(ours.close)
        goldens: list[tuple[ResultSet, RowOrder]] = []
        for item in items:
            database = databases[item["db_id"]][0]
            with database.reading() as session:
                ran = session.execute(item["SQL"])
            assert isinstance(ran, ResultSet), item
            goldens.append((ran, order_of(ran, item["SQL"], database)))
        for file in sorted(root.glob("predictions/*_sqlite.json")):
            predictions = json.loads(file.read_text(encoding="utf-8"))
            for number, (item, (golden, order)) in enumerate(zip(items, goldens, strict=True)):
                given = predictions[str(number)]
                sql = given.split("\t----- bird -----\t")[0] if isinstance(given, str) else " "
                database, connection = databases[item["db_id"]]
                with database.reading() as session:
                    ran = session.execute(sql)
                bird = strict = 0.0
                if isinstance(ran, ResultSet):
                    made: Case = scoring.dql_case(golden, ran, order=order)
                    case = Case(made.item, "sqlite", "dql", (Side(item["SQL"], golden, order=order),), Side(sql, ran))
                    bird, score = ExecutionAccuracyBird().score(case).value, ExecutionAccuracy().score(case)
                    strict = score.value
                    if strict != bird:
                        differing[score.reason.code if score.reason else "tolerance or several statements"] += 1
                if bird != raw_verdict(connection, item["SQL"], sql):
                    wrong.append((file.name, number, bird))
    assert wrong == []
    assert set(differing) <= {"duplicates", "row_order", "column_count", "tolerance or several statements"}
    assert differing["duplicates"] > 50
