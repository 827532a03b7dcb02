"""The main job beside what the databases alone need: bat on SQLite and PostgreSQL, replayed, from process start to verdict.

The floor is bare driver code: a throw-away PostgreSQL is made, started, filled and stopped, a SQLite file is filled, and every
golden and generated statement runs once. Target: the whole command takes at most three times the floor of the same round.

    python benchmarks/main_job.py [ROUNDS]          needs $GATE_TEST_DATA (default ../shared)
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from nl2sql_gate.dataset import load, read_source
from nl2sql_gate.records import DatabaseSource

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("GATE_TEST_DATA") or ROOT.parent / "shared") / "data"
BAT = DATA / "evalbench-bat"
FLAGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "listen_addresses=", "jit=off")


def statements() -> dict[str, list[str]]:
    """All golden and generated SQL per dialect."""
    found: dict[str, list[str]] = {"sqlite": [], "postgres": []}
    for item in load(str(BAT / "prompts.json")).items:
        for dialect, listed in found.items():
            listed += [*item.golden_sql.pick(dialect), *item.eval_query.pick(dialect)]
    for line in (DATA / "replies" / "bat_model_a.jsonl").read_text().splitlines():
        entry = json.loads(line)
        fences = re.findall(r"```\w*\n(.*?)```", entry["reply"], re.DOTALL)
        if entry["dialect"] in found and fences:
            found[entry["dialect"]].append(fences[-1])
    return found


def fill(execute: object, many: object, source: DatabaseSource, mark: str) -> None:
    """Build the database with bare driver calls."""
    for statement in (*source.pre, *source.setup):
        execute(statement.text)  # type: ignore[operator]
    for table in source.tables:
        marks = ", ".join([mark] * len(table.rows[0]))
        many(f"INSERT INTO {table.table} VALUES ({marks})", [tuple(map(str_or_none, row)) for row in table.rows])  # type: ignore[operator]
    for statement in source.post:
        execute(statement.text)  # type: ignore[operator]


def str_or_none(cell: object) -> object:
    """Literals as the drivers take them."""
    return cell if cell is None or isinstance(cell, int | float | str) else str(cell)


def databases_alone(sources: dict[str, DatabaseSource], queries: dict[str, list[str]]) -> float:
    """Seconds for the databases alone."""
    started = time.perf_counter()
    sqlite = sqlite3.connect(":memory:", isolation_level=None)
    fill(sqlite.execute, sqlite.executemany, sources["sqlite"], "?")
    for sql in queries["sqlite"]:
        try:
            sqlite.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning):
            continue
    folder = Path(tempfile.mkdtemp(prefix="floor_"))
    folder.chmod(0o777)
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    make = [
        *user,
        f"{programs}/initdb",
        "-D",
        f"{folder}/data",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "-N",
        "-U",
        "postgres",
    ]
    subprocess.run(make, check=True, cwd="/", **quiet)  # type: ignore[call-overload]
    options = [part for flag in FLAGS for part in ("-c", flag)]
    server = subprocess.Popen(
        [*user, f"{programs}/postgres", "-D", f"{folder}/data", "-k", str(folder), *options], cwd="/", **quiet
    )  # type: ignore[call-overload]
    try:
        while True:
            try:
                connection = psycopg.connect(host=str(folder), user="postgres", dbname="postgres", autocommit=True)
                break
            except psycopg.OperationalError:
                time.sleep(0.01)
        with connection, connection.cursor() as cursor:
            fill(cursor.execute, cursor.executemany, sources["postgres"], "%s")
            for sql in queries["postgres"]:
                try:
                    with connection.transaction(force_rollback=True):
                        cursor.execute(sql)
                except psycopg.Error:
                    continue
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder)
    return time.perf_counter() - started


def whole_job(folder: Path) -> float:
    """Seconds for the command, from process start to verdict."""
    command = [
        sys.executable,
        "-m",
        "nl2sql_gate",
        "run",
        "--dataset",
        f"{BAT}/prompts.json",
        "--setup-directory",
        f"{BAT}/setup",
    ]
    command += [
        "--dialect",
        "sqlite",
        "--dialect",
        "postgres",
        "--replies",
        f"{DATA}/replies/bat_model_a.jsonl",
        "--out",
        str(folder),
    ]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    """Rounds of both, and the median ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    sources = {dialect: read_source(str(BAT / "setup"), "db_blog", dialect) for dialect in ("sqlite", "postgres")}
    queries = statements()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        whole_job(Path(folder))
        for number in range(1, rounds + 1):
            floor, job = databases_alone(sources, queries), whole_job(Path(folder))
            ratios.append(job / floor)
            print(f"round {number}: databases alone {floor:.2f} s, the whole job {job:.2f} s, ratio {job / floor:.2f}")
    print(f"median ratio {statistics.median(ratios):.2f} (target: at most 3)")


if __name__ == "__main__":
    main()
