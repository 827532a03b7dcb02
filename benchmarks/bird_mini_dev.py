"""Where our strict execution accuracy and BIRD's differ on real answers, item by item: `python benchmarks/bird_mini_dev.py`.

Questions, five models' SQL and databases with synthetic rows come from `$GATE_TEST_DATA/data/bird-mini-dev`, so no number here
is a model's score; what counts is the reason beside each difference.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from nl2sql_gate.engines.sqlite_database import SqliteDatabase
from nl2sql_gate.golden import row_order
from nl2sql_gate.records import Case, Execution, Item, Limits, ResultSet, RowOrder, Side, SqlError, SqlField
from nl2sql_gate.scorers.execution_accuracy import ExecutionAccuracy
from nl2sql_gate.scorers.execution_accuracy_bird import ExecutionAccuracyBird
from nl2sql_gate.sqltext import top_level_order, with_keys_appended

ROOT = Path(os.environ.get("GATE_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared") / "data" / "bird-mini-dev"


def order_of(golden: ResultSet, sql: str, database: SqliteDatabase) -> RowOrder:
    """The order that golden SQL demands, as a run of the gate finds it."""
    order = top_level_order(sql, "sqlite")
    rewritten = with_keys_appended(sql, "sqlite") if order.is_ordered and order.key_positions is None else None
    keyed: tuple[Execution, ...] = ()
    if rewritten is not None:
        with database.reading() as session:
            keyed = (session.execute(rewritten[0]),)
    positions = None if order.key_positions is None else tuple(order.key_positions)
    return row_order(golden, keyed, sql, "sqlite", appended=rewritten[1] if rewritten else 0, positions=positions)


def main() -> int:
    """Print every difference and a count by reason."""
    items = json.loads((ROOT / "mini_dev_sqlite.json").read_text(encoding="utf-8"))
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        databases = {
            name: SqliteDatabase(
                name=name, digest="", path=ROOT / "databases" / name / f"{name}.sqlite", folder=Path(folder), limits=Limits()
            )
            for name in {item["db_id"] for item in items}
        }
        for file in sorted(ROOT.glob("predictions/*_sqlite.json")):
            predictions = json.loads(file.read_text(encoding="utf-8"))
            counts: Counter[str] = Counter()
            for number, item in enumerate(items):
                sql = str(predictions[str(number)]).split("\t----- bird -----\t", maxsplit=1)[0]
                database = databases[item["db_id"]]
                with database.reading() as session:
                    golden, generated = session.execute(item["SQL"]), session.execute(sql)
                if isinstance(golden, SqlError) or isinstance(generated, SqlError):
                    continue
                made = Item(str(number), item["question"], "dql", item["db_id"], ("sqlite",), SqlField())
                side = Side(item["SQL"], golden, order=order_of(golden, item["SQL"], database))
                case = Case(made, "sqlite", "dql", (side,), Side(sql, generated))
                strict, bird = ExecutionAccuracy().score(case), ExecutionAccuracyBird().score(case)
                counts.update(strict=int(strict.value), bird=int(bird.value))
                if strict.value != bird.value:
                    reason = strict.reason or bird.reason
                    code = f"{reason.code if reason else ''} ({'BIRD' if bird.value else 'strict'} says right)"
                    reasons[code] += 1
                    print(f"{file.stem:32} {number:3}  {code}: {reason.message if reason else ''}")
            print(f"{file.stem:32} of {len(items)}: strict {counts['strict']}, BIRD {counts['bird']}")
        for database in databases.values():
            database.close()
    for code, count in reasons.most_common():
        print(f"{count:4}  {code}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
