"""What it costs to keep items apart: a clean copy to write on, and putting it back, per item, on a database of about 50 MB.

Ten tables of 38,000 rows, each with an index. An item's own statements and the reading of its state are not counted, only the
entry into its session and the exit from it. "small" changes 200 rows in three statements; "ddl" drops a table of 5 MB, alters one
and makes one; "commits" ends its transaction itself. Back to back there is no time to prepare the next copy; "pool" waits until
the background has done so, as the model's answers would. Where no figure is set the floor is that of the same run: the database's
file copied and opened by bare driver code.

    python benchmarks/isolation.py [DIALECT …] [--items N]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from nl2sql_gate import plugins
from nl2sql_gate.errors import ServiceError
from nl2sql_gate.records import DatabaseSource, Limits, Place, SetupStatement, TableData

TABLES, ROWS = 10, 38_000
TEXT = {"mariadb": "VARCHAR(80)", "mysql": "VARCHAR(80)"}
SMALL = (
    "UPDATE dim0 SET amount = amount + 1 WHERE id < 100",
    "DELETE FROM dim1 WHERE id < 50",
    "INSERT INTO dim2 SELECT id + 1000000, amount, name, city FROM dim2 WHERE id < 50",
)
DDL = ("DROP TABLE dim3", "ALTER TABLE dim4 ADD COLUMN extra INTEGER", "CREATE TABLE fresh (id INTEGER)")
COMMITS = ("BEGIN", "UPDATE dim0 SET amount = amount + 1 WHERE id < 100", "COMMIT")
KINDS = {"small": SMALL, "ddl": DDL, "commits": COMMITS}
TARGETS_MS = {
    ("sqlite", "small"): 0.3,
    ("sqlite", "ddl"): 3.0,
    ("sqlite", "commits"): 15.0,
    ("postgres", "small"): 0.6,
    ("postgres", "ddl"): 0.6,
    ("postgres", "commits"): 6.0,
    ("mariadb", "small"): 1.0,
    ("mariadb", "ddl"): 60.0,  # 30 ms for each of the two tables of 5 MB that it touches
}


def source_for(dialect: str) -> DatabaseSource:
    """Ten tables of 38,000 rows."""
    text = TEXT.get(dialect, "TEXT")
    place = Place("setup.sql", 1)
    columns = f"id INTEGER PRIMARY KEY, amount INTEGER, name {text}, city {text}"
    setup = []
    for number in range(TABLES):
        setup.append(SetupStatement(f"CREATE TABLE dim{number} ({columns})", place))
        setup.append(SetupStatement(f"CREATE INDEX city{number} ON dim{number} (city)", place))
    rows = tuple((i, i % 97, f"name number {i:08} of many more of them", f"city {i % 500:04}") for i in range(ROWS))
    tables = tuple(TableData(f"dim{number}", ("id", "amount", "name", "city"), rows, place) for number in range(TABLES))
    return DatabaseSource("stock", dialect, "isolation", setup=tuple(setup), tables=tables)


@contextmanager
def engine_for(dialect: str, folder: str) -> Iterator[Any]:
    """The engine, running."""
    engine = plugins.load("engine", dialect)(
        name=dialect, dialect=dialect, way="auto", limits=Limits(statement_s=60), workdir=folder, workers=2
    )
    try:
        engine.start()
        yield engine
    finally:
        engine.stop()


def costs_ms(database: Any, statements: tuple[str, ...], *, items: int, ready: Callable[[], None]) -> list[float]:
    """Milliseconds to enter and leave the session of each item."""
    found = []
    for _ in range(items):
        ready()
        began = time.perf_counter()
        with database.writing(statements) as session:
            entered = time.perf_counter()
            for statement in statements:
                ran = session.execute(statement)
                if type(ran).__name__ == "SqlError":
                    raise SystemExit(f"{statement}: {ran.message}")
            done = time.perf_counter()
        found.append((entered - began + time.perf_counter() - done) * 1000)
    return found


def wait_for(engine: Any) -> Callable[[], None]:
    """Wait until the engine's background work is done; nothing to wait for where it has none."""
    work = getattr(engine, "_work", None)

    def ready() -> None:
        if work is not None:
            work.call(lambda: "").result(60)

    return ready


def copied_ms(database: Any, folder: str) -> float:
    """Milliseconds to copy DuckDB's file and open the copy, the median of eleven times."""
    import duckdb

    source, target = Path(urlsplit(database.dsn()).path[1:]), Path(folder) / "floor.db"
    found = []
    for _ in range(11):
        began = time.perf_counter()
        shutil.copyfile(source, target)
        duckdb.connect(str(target)).close()
        found.append((time.perf_counter() - began) * 1000)
        target.unlink()
    return statistics.median(found)


def report(dialect: str, kind: str, way: str, costs: list[float], floor: float | None) -> None:
    """One line of the table."""
    target = TARGETS_MS.get((dialect, kind))
    middle, worst = statistics.median(costs), sorted(costs)[int(len(costs) * 0.95)]
    words = f"target {target:g} ms" if target is not None else f"floor {floor:.2f} ms" if floor is not None else ""
    print(f"{dialect:<9} {kind:<8} {way:<13} {len(costs):>4} items  median {middle:8.2f} ms  p95 {worst:8.2f} ms  {words}")


def main() -> None:
    """All kinds on the engines asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("dialects", nargs="*", default=["sqlite", "duckdb", "postgres", "mariadb"])
    parser.add_argument("--items", type=int, default=200)
    given = parser.parse_args()
    for dialect in given.dialects:
        with tempfile.TemporaryDirectory() as folder:
            try:
                with engine_for(dialect, folder) as engine:
                    database = engine.provision(source_for(dialect))
                    floor = copied_ms(database, folder) if dialect == "duckdb" else None
                    for kind, statements in KINDS.items():
                        items = given.items if kind == "small" else max(5, given.items // 4)
                        ready = wait_for(engine)
                        costs_ms(database, statements, items=3, ready=ready)
                        report(dialect, kind, "pool", costs_ms(database, statements, items=items, ready=ready), floor)
                        report(
                            dialect, kind, "back to back", costs_ms(database, statements, items=items, ready=lambda: None), floor
                        )
            except ServiceError as error:
                print(f"{dialect}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
