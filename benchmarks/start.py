"""Every engine that can be started here, ready for its first question: one after the other, and all side by side.

Ready is a server that has answered a query on a database that it built. Data directories are prepared before anything is timed.
Target: side by side in the time of the slowest plus 0.3 s.

    python benchmarks/start.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nl2sql_gate import plugins
from nl2sql_gate.engines.mysql_server import has_binary
from nl2sql_gate.engines.postgres_server import has_binaries
from nl2sql_gate.records import DatabaseSource, Limits, Place, SetupStatement

SETUP = (SetupStatement("CREATE TABLE t (a INTEGER)", Place("setup.sql", 1)),)


def engine_for(dialect: str, folder: str) -> Any:
    """An engine that was not started yet."""
    own = Path(folder) / dialect
    own.mkdir(exist_ok=True)
    return plugins.load("engine", dialect)(
        name=dialect, dialect=dialect, way="embedded", limits=Limits(statement_s=30), workdir=str(own), workers=2
    )


def ready_s(dialect: str, engine: Any) -> float:
    """Seconds until the engine has answered its first question."""
    began = time.perf_counter()
    engine.start()
    with engine.provision(DatabaseSource("d", dialect, "x", setup=SETUP)).reading() as session:
        session.execute("SELECT COUNT(*) FROM t")
    return time.perf_counter() - began


def main() -> None:
    """Rounds of both orders."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    dialects = ["sqlite", "duckdb"]
    dialects += ["postgres"] if has_binaries() else []
    dialects += [name for name, product in (("mariadb", "MariaDB"), ("mysql", "MySQL")) if has_binary(product)]
    beyond = []
    for number in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o711)
            alone: dict[str, float] = {}
            for dialect in dialects:
                engine = engine_for(dialect, folder)
                try:
                    alone[dialect] = ready_s(dialect, engine)
                finally:
                    engine.stop()
            engines = [engine_for(dialect, folder) for dialect in dialects]
            try:
                began = time.perf_counter()
                with ThreadPoolExecutor(len(engines)) as pool:
                    list(pool.map(ready_s, dialects, engines))
                together = time.perf_counter() - began
            finally:
                for engine in engines:
                    engine.stop()
        if number == 0:
            # The first round prepares the data directories and reads the programs from the disk.
            continue
        beyond.append(together - max(alone.values()))
        words = ", ".join(f"{dialect} {seconds:.2f} s" for dialect, seconds in alone.items())
        print(f"round {number}: alone {words}; side by side {together:.2f} s, the slowest plus {beyond[-1]:.2f} s")
    print(f"median: the slowest plus {statistics.median(beyond):.2f} s (target: at most 0.30 s)")


if __name__ == "__main__":
    main()
