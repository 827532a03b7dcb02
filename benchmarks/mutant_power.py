"""Does the gate close as often as its power statement promised? Mutants play baseline and head, on real runs of SQL.

    python benchmarks/mutant_power.py [--items 200] [--seeds 100] [--old 0.1] [--more 0.1] [--dataset FILE --setup FOLDER]

Without a dataset, 200 questions over one small SQLite database are made here. Their golden SQL is mutated and run once; the kept
mutants are what the generator `mutant` answers with. For every seed a baseline errs in `old` of its cases and a head in `old` +
`more`, each with a seed of its own, the SQL is judged, the runs are compared and the gate decides. Three things are held against
each other: how often it closed, what `power_of_test` gives for the true drop and churn, and the smallest drop that can be proven
four times in five at this churn, as verdicts state it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from nl2sql_gate import compare, plugins, verdict
from nl2sql_gate.commands import selection
from nl2sql_gate.commands.measure import Bench, open_bench
from nl2sql_gate.commands.mutation_run import run_mutants
from nl2sql_gate.generators.mutant import Mutant
from nl2sql_gate.judge import Planned, judge_sql
from nl2sql_gate.mutation import Recipe
from nl2sql_gate.mutation_testing.equivalence import Equivalents
from nl2sql_gate.mutation_testing.forms import json_lines
from nl2sql_gate.records import Ask, CaseResult, Prompt, Run, Schema
from nl2sql_gate.settings import Model, Settings
from nl2sql_gate.significance.power import power_of_test, smallest_provable_drop

SETUP = """
CREATE TABLE sale (id INTEGER PRIMARY KEY, region TEXT NOT NULL, product TEXT NOT NULL, pieces INTEGER NOT NULL, price REAL);
"""
REGIONS = ("north", "south", "east", "west", "centre")
PRODUCTS = ("tea", "salt", "rope", "lamp", "ink", "wool", "soap", "wax")


def write_dataset(folder: Path, items: int) -> tuple[Path, Path]:
    """Questions of five kinds about every region and product, over 400 sales."""
    setup = folder / "setup" / "shop"
    (setup / "sqlite").mkdir(parents=True)
    (setup / "data").mkdir()
    (setup / "sqlite" / "setup.sql").write_text(SETUP)
    rows = [
        f"{n},'{REGIONS[n % 5]}','{PRODUCTS[(n // 5) % 8]}',{1 + n * 7 % 23},{'NULL' if n % 29 == 0 else 2 + n * 13 % 37 / 4}"
        for n in range(400)
    ]
    (setup / "data" / "sale.csv").write_text("\n".join(rows) + "\n")
    kinds = (
        "SELECT COUNT(*) FROM sale WHERE region = '{r}' AND product = '{p}'",
        "SELECT SUM(pieces) FROM sale WHERE region = '{r}' AND product <> '{p}'",
        "SELECT product, AVG(price) FROM sale WHERE region = '{r}' AND product >= '{p}' GROUP BY product",
        "SELECT id, pieces FROM sale WHERE product = '{p}' AND region = '{r}' ORDER BY pieces DESC, id LIMIT 3",
        "SELECT MAX(pieces), MIN(price) FROM sale WHERE product = '{p}' OR region = '{r}'",
    )
    every = [(kind, r, p) for kind in kinds for r in REGIONS for p in PRODUCTS][:items]
    dataset = [
        {
            "id": f"q{n}",
            "nl_prompt": f"question {n}",
            "query_type": "dql",
            "database": "shop",
            "dialects": ["sqlite"],
            "golden_sql": {"sqlite": [kind.format(r=region, p=product)]},
        }
        for n, (kind, region, product) in enumerate(every)
    ]
    (folder / "items.json").write_text(json.dumps(dataset))
    return folder / "items.json", folder / "setup"


class Judging:
    """Judges an answer once, however many seeds give it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._scorers = (plugins.load("scorer", "execution_accuracy")(),)
        self._known: dict[tuple[str, str], CaseResult] = {}

    def run(self, planned: Sequence[Planned], model: Model, mutants: Path) -> Run:
        """A run of the generator over all cases."""
        texts = asyncio.run(self._answers(planned, Mutant(model, replies=str(mutants))))
        return Run(tuple(self._judged(*pair) for pair in zip(planned, texts, strict=True)), ("execution_accuracy",), {})

    async def _answers(self, planned: Sequence[Planned], generator: Mutant) -> list[str]:
        schema = Schema("", "sqlite", (), "")
        asks = (Ask(case.key, case.target.dialect, case.item, Prompt(()), schema) for case in planned)
        return [(await generator.complete(ask)).text for ask in asks]

    def _judged(self, case: Planned, sql: str) -> CaseResult:
        found = self._known.get((case.key.id, sql))
        if found is None:
            golden = self._bench.goldens[case.key.id, case.key.dialect]
            asked = replace(case.result("answered"), sql=sql)
            found = judge_sql(case, asked, golden, scorers=self._scorers, rules=self._bench.rules)
            self._known[case.key.id, sql] = found
        return found


def measure(settings: Settings, mutants: Path, given: argparse.Namespace) -> Mapping[str, float]:
    """The share of seeds in which the gate closed, and what was promised."""
    chosen = selection.select_cases(settings)
    items = run_mutants(settings, chosen, recipe=Recipe(sites=None), equivalents=Equivalents())
    mutants.write_text(json_lines(items))
    usable = {item.key for item in items if any(tested.fate == "killed" for tested in item.mutants)}
    closed, drops = 0, []
    with open_bench(settings, chosen) as bench:
        planned = [case for case in bench.planned if case.key in usable][: given.items]
        judging = Judging(bench)
        for seed in range(given.seeds):
            old = judging.run(planned, Model(error_rate=given.old, seed=2 * seed), mutants)
            new = judging.run(planned, Model(error_rate=given.old + given.more, seed=2 * seed + 1), mutants)
            decided = verdict.decide(compare.pair(new, old), new, settings.policy)
            closed += decided.status == "fail"
            row = next(row for row in decided.rows if row.kind == "metric")
            drops.append(-(row.delta or 0.0))
    churn = 2 * given.old * (1 - given.old - given.more)
    return {
        "items": len(planned),
        "closed": closed / given.seeds,
        "promised": power_of_test(len(planned), given.more, churn=churn, alpha=settings.policy.alpha),
        "provable": smallest_provable_drop(len(planned), churn=churn, alpha=settings.policy.alpha),
        "drop": mean(drops),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--old", type=float, default=0.1)
    parser.add_argument("--more", type=float, default=0.1)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--setup", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset, setup = (given.dataset, given.setup) if given.dataset else write_dataset(folder, given.items)
        chosen = {"dataset": str(dataset), "setup_directory": str(setup), "filters": {"dialects": ["sqlite"]}}
        settings = Settings.model_validate({**chosen, "limits": {"statement_s": 2}})
        found = measure(settings, folder / "mutants.jsonl", given)
    error = 3 * math.sqrt(max(found["promised"] * (1 - found["promised"]), 0.01) / given.seeds)
    print(f"{found['items']:.0f} items, {given.seeds} seeds; errors: baseline {given.old:.0%}, head {given.old + given.more:.0%}")
    print(f"mean drop measured      {100 * found['drop']:.1f} points")
    print(f"gate closed             {100 * found['closed']:.0f} % of the seeds")
    print(f"promised for this drop  {100 * found['promised']:.1f} % (±{100 * error:.0f} for so many seeds)")
    print(f"provable at this churn  {100 * found['provable']:.1f} points, four times in five")
    kept = abs(found["closed"] - found["promised"]) <= error
    print("kept" if kept else "NOT kept")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
