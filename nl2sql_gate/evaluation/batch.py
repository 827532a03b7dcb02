"""Many pairs of queries on SQLite files, scored by forked workers: execution accuracy and cells, as the gate scores them.

`python -m nl2sql_gate.evaluation.batch PAIRS.jsonl --out SCORES.json`; a line of PAIRS holds `id`, `db_path`, `gold` (or
`ground_truth_sql`) and `pred` (or `predicted_sql`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nl2sql_gate.engines.sqlite_database import SqliteDatabase
from nl2sql_gate.errors import EngineFault, GateError
from nl2sql_gate.evaluation.golden_store import GoldenStore
from nl2sql_gate.evaluation.workers import run_forked
from nl2sql_gate.records import FREE_ORDER, Execution, Limits, ResultSet, RowOrder, SqlError
from nl2sql_gate.scorers.result_equality import equal_in_order
from nl2sql_gate.scorers.row_matching import equal_multisets
from nl2sql_gate.scorers.techniques import exact_column_and_partial_cell


@dataclass(frozen=True, slots=True)
class QueryPair:
    """Golden and generated SQL for one SQLite file."""

    id: str
    db_path: str
    golden_sql: str
    generated_sql: str


class PairScorer:
    """Scores pairs in one process, with one connection a file. `store` keeps golden results between runs."""

    def __init__(self, *, limits: Limits, store: GoldenStore | None = None) -> None:
        self._limits = limits
        self._store = store
        self._databases: dict[str, SqliteDatabase] = {}

    def score(self, pair: QueryPair) -> dict[str, Any]:
        """EX, EXP, EXR, F1 of one pair, or `error` with the side it came from; a fault has no scores."""
        try:
            database = self._database(pair.db_path)
            golden = self._golden(pair, database)
            generated = golden if _is_same(pair) else _run(pair.generated_sql, database)
        except EngineFault as fault:
            return {"id": pair.id, "fault": str(fault)}
        if isinstance(golden, SqlError):
            return {"id": pair.id, "golden_error": golden.message}
        if isinstance(generated, SqlError):
            return {
                "id": pair.id,
                "ex": 0,
                "exp": 0.0,
                "exr": 0.0,
                "f1": 0.0,
                "error": generated.message,
                "reason": generated.reason,
            }
        return {"id": pair.id, **self._compare(pair, database, golden, generated)}

    def _compare(self, pair: QueryPair, database: SqliteDatabase, golden: ResultSet, generated: ResultSet) -> dict[str, Any]:
        if golden.columns == generated.columns and golden.rows == generated.rows:
            return {"ex": 1, "exp": 1.0, "exr": 1.0, "f1": 1.0}
        measured = exact_column_and_partial_cell(golden, generated)
        counts = measured.counts
        equal = self._equal(pair, database, golden, generated)
        return {
            "ex": int(equal),
            "exp": counts.precision,
            "exr": counts.recall,
            "f1": counts.f1,
            "matched": counts.matched,
            "generated": counts.generated,
            "golden": counts.golden,
            **({"at_most": counts.best} if counts.best > counts.matched else {}),
        }

    def _equal(self, pair: QueryPair, database: SqliteDatabase, golden: ResultSet, generated: ResultSet) -> bool:
        if len(golden.columns) != len(generated.columns) or not equal_multisets(golden.rows, generated.rows):
            return False
        # Only here can the order of golden's rows matter, and only here is its SQL parsed.
        return golden.rows == generated.rows or equal_in_order(golden.rows, generated.rows, _order(pair, database, golden))

    def _golden(self, pair: QueryPair, database: SqliteDatabase) -> Execution:
        kept = None if self._store is None else self._store.get(pair.db_path, pair.golden_sql)
        if kept is not None:
            return kept
        ran = _run(pair.golden_sql, database)
        if self._store is not None and isinstance(ran, ResultSet):
            self._store.put(pair.db_path, pair.golden_sql, ran)
        return ran

    def _database(self, path: str) -> SqliteDatabase:
        database = self._databases.get(path)
        if database is None:
            file = Path(path)
            if not file.is_file():
                raise EngineFault(f"there is no SQLite file {path}")
            database = SqliteDatabase(
                name=file.stem, digest="", path=file, folder=file.parent, limits=self._limits, immutable=False
            )
            self._databases[path] = database
        return database


def _run(sql: str, database: SqliteDatabase) -> Execution:
    with database.reading() as session:
        return session.execute(sql)


def _is_same(pair: QueryPair) -> bool:
    """Whether both queries are one text that gives the same rows each time it runs on one file; then it runs once."""
    if pair.golden_sql != pair.generated_sql:
        return False
    from nl2sql_gate.sqltext import names_clock_or_random

    return not names_clock_or_random(pair.golden_sql, "sqlite")


def _order(pair: QueryPair, database: SqliteDatabase, golden: ResultSet) -> RowOrder:
    if "order" not in pair.golden_sql.lower():
        return FREE_ORDER
    from nl2sql_gate.golden import row_order
    from nl2sql_gate.sqltext import top_level_order, with_keys_appended

    order = top_level_order(pair.golden_sql, "sqlite")
    rewritten = None if not order.is_ordered or order.key_positions is not None else with_keys_appended(pair.golden_sql, "sqlite")
    keyed: tuple[Execution, ...] = ()
    if rewritten is not None:
        keyed = (_run(rewritten[0], database),)
    positions = None if order.key_positions is None else tuple(order.key_positions)
    appended = rewritten[1] if rewritten is not None else 0
    return row_order(golden, keyed, pair.golden_sql, "sqlite", appended=appended, positions=positions)


def score_pairs(
    pairs: Sequence[QueryPair], *, workers: int = 0, limits: Limits | None = None, golden_cache: Path | None = None
) -> list[dict[str, Any]]:
    """Scores in the order of `pairs`, by `workers` processes (0: as many as there are cores).

    A pair that kills its worker is a fault. `golden_cache` keeps golden results between runs, by the content of the database.
    """
    limits = limits or Limits()

    def scorer() -> PairScorer:
        return PairScorer(limits=limits, store=None if golden_cache is None else GoldenStore(golden_cache))

    # Joins cost most; begun first, they leave no core idle at the end.
    order = sorted(range(len(pairs)), key=lambda i: -pairs[i].golden_sql.upper().count(" JOIN "))
    found = run_forked(order, lambda: _by_index(pairs, scorer()), workers=workers or os.cpu_count() or 1)
    return [found.get(i) or {"id": pairs[i].id, "fault": "the worker died on this pair"} for i in range(len(pairs))]


def _by_index(pairs: Sequence[QueryPair], scorer: PairScorer) -> Any:
    return lambda index: scorer.score(pairs[index])


def summary(scores: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over the pairs that have scores, and how many have none."""
    listed = list(scores)
    valued = [score for score in listed if "ex" in score]
    means = {key: sum(score[key] for score in valued) / len(valued) if valued else None for key in ("ex", "exp", "exr", "f1")}
    return {
        "pairs": len(listed),
        "scored": len(valued),
        "golden_errors": sum("golden_error" in score for score in listed),
        "faults": sum("fault" in score for score in listed),
        "mean": means,
    }


def read_pairs(path: Path) -> list[QueryPair]:
    """The pairs of a JSON-lines file. Raises `ValueError` naming the line."""
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
            golden, generated = (given.get(a, given.get(b)) for a, b in (("gold", "ground_truth_sql"), ("pred", "predicted_sql")))
            pairs.append(QueryPair(str(given["id"]), given["db_path"], golden or "", generated or ""))
        except (ValueError, KeyError, AttributeError) as error:
            message = f"{path}:{number}: no pair: {error}"
            raise ValueError(message) from error
    return pairs


def main(arguments: Sequence[str] | None = None) -> int:
    """Score a file of pairs. Exit code 0, 2 where the file cannot be read, 3 where a pair could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m nl2sql_gate.evaluation.batch", description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--timeout-s", type=float, default=30.0)
    parser.add_argument("--max-rows", type=int, default=1_000_000)
    parser.add_argument("--golden-cache", type=Path, default=None, help="a folder that keeps golden results between runs")
    given = parser.parse_args(arguments)
    try:
        pairs = read_pairs(given.pairs)
        limits = Limits(statement_s=given.timeout_s, rows=given.max_rows)
        scores = score_pairs(pairs, workers=given.workers, limits=limits, golden_cache=given.golden_cache)
        found = summary(scores)
        report = {"format": "nl2sql-gate/batch/v1", **found, "ex": [score.get("ex") for score in scores], "scores": scores}
        given.out.write_text(json.dumps(report), encoding="utf-8")
    except (OSError, ValueError, GateError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return 2
    print(json.dumps(found))  # noqa: T201
    return 3 if found["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
