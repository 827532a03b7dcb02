"""How long mutants take to make, and whether every public golden has some: `python benchmarks/mutation.py [FILE…]`.

Without arguments: BIRD mini-dev, defog and Spider from `$GATE_TEST_DATA`, and the bundled dataset. No database is started.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from pathlib import Path

from nl2sql_gate.dataset import load
from nl2sql_gate.mutation import mutate

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GATE_TEST_DATA") or ROOT.parent / "shared") / "data"
FILES = (
    DATA / "bird-mini-dev" / "mini_dev_sqlite.json",
    *(DATA / "defog" / "questions" / f"questions_gen_{name}.csv" for name in ("postgres", "sqlite", "mysql", "tsql")),
    DATA / "spider" / "dev.json",
    ROOT / "datasets" / "thistledown" / "items.json",
)


def goldens(path: Path) -> list[tuple[str, str, str]]:
    found = []
    for item in load(str(path)).items:
        for dialect in item.dialects:
            listed = item.golden_sql.pick(dialect)
            found += [(item.id, dialect, listed[0])] if listed else []
    return found


def main() -> int:
    files = [Path(name) for name in sys.argv[1:]] or [path for path in FILES if path.is_file()]
    everything, seconds, without = 0, 0.0, []
    for path in files:
        found = goldens(path)
        counts: Counter[int] = Counter()
        started = time.perf_counter()
        for item_id, dialect, sql in found:
            made = len(mutate(sql, dialect).mutants)
            counts[min(made, 1)] += made
            if not made:
                without.append(f"{path.name}: {item_id} on {dialect}")
        elapsed = time.perf_counter() - started
        everything, seconds = everything + len(found), seconds + elapsed
        pace = 1000 * elapsed / len(found)
        print(f"{path.name}: {len(found)} goldens, {counts.total()} mutants, {elapsed:.1f} s, {pace:.0f} s for 1,000")
    print(f"all: {everything} goldens, {1000 * seconds / everything:.1f} s for 1,000")
    print(f"without a mutant: {', '.join(without) or 'none'}")
    return 1 if without else 0


if __name__ == "__main__":
    sys.exit(main())
