"""500 pairs of queries scored end to end against the floors: `python benchmarks/pairs.py [--rounds N] [--json FILE]`.

Exit code 1 where a target is missed.
Workload, floors and measuring come from `$GATE_TEST_DATA/perf`. Contenders run in turn, round by round, the first round not
counted; ratios are medians over the rounds of CPU seconds (process tree), wall seconds and peak memory (PSS of the tree).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PERF = Path(os.environ.get("GATE_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared") / "perf"


def measuring() -> Any:
    """The measuring module, by path."""
    spec = importlib.util.spec_from_file_location("perf_measure", PERF / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    """Run all rounds and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    measure, python = measuring(), sys.executable
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        subprocess.run([python, str(PERF / "make_workload.py"), folder], check=True)
        items = str(work / "items.jsonl")
        ours = [python, "-m", "nl2sql_gate.evaluation.batch", items, "--workers", "2", "--out", str(work / "ours.json")]
        commands = {
            "floor_seq": [python, str(PERF / "e2e_run.py"), "floor_seq", folder, str(work / "floor.json")],
            "floor_procs": [python, str(PERF / "e2e_run.py"), "floor_procs", folder, str(work / "floor.json")],
            "ours": ours,
            "ours, goldens kept": [*ours, "--golden-cache", str(work / "cache")],
        }
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
        for number in range(given.rounds + 1):
            for name, command in commands.items():
                one = measure.run(command, timeout=300)
                assert one["rc"] == 0, (name, one)
                if number:
                    found[name].append(one)
    cpu, wall, peak = (
        {name: statistics.median(one[key] for one in rounds) for name, rounds in found.items()}
        for key in ("cpu", "wall", "peak_mb")
    )
    for name in commands:
        print(f"{name:20} cpu {cpu[name]:.2f} s  wall {wall[name]:.2f} s  peak {peak[name]:.0f} MB")
    checks = {
        "cpu over 1.10 floor_procs + 0.2 s": cpu["ours"] / (1.10 * cpu["floor_procs"] + 0.2),
        "wall over 1.12 floor_procs": wall["ours"] / (1.12 * wall["floor_procs"]),
        "peak over 100 MB": peak["ours"] / 100,
        "goldens kept: cpu over 0.65 floor_seq": cpu["ours, goldens kept"] / (0.65 * cpu["floor_seq"]),
    }
    for what, share in checks.items():
        print(f"{share:6.2f} of the target  {what}{'' if share <= 1 else '  MISSED'}")
    if given.json:
        given.json.write_text(json.dumps({"rounds": found, "checks": checks}, indent=1), encoding="utf-8")
    return 1 if any(share > 1 for share in checks.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
