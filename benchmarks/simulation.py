"""False-alarm rate and power of the gate, by simulation of whole comparisons; prints the table of docs/statistics.md.

    python benchmarks/simulation.py [--draws 10000] [--write docs/statistics.md]

Each scenario draws two runs and asks the gate's own rule. The unit tests run the same scenarios with fewer draws.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

from nl2sql_gate.effect import Effect, Sample, measure
from nl2sql_gate.gates.drop import status_of
from nl2sql_gate.judgement import Status
from nl2sql_gate.records import CaseKey
from nl2sql_gate.settings import Policy
from nl2sql_gate.significance.beta import is_unstable
from nl2sql_gate.significance.multiplicity import holm

POLICY = Policy()
Draw = Callable[[Generator], Status]


@dataclass(frozen=True)
class Scenario:
    """What is drawn, and between which bounds the share of red verdicts must lie."""

    name: str
    draw: Draw
    low: float
    high: float


def keys(items: int, *, dialects: int = 1, databases: int = 1, trials: int = 1) -> list[CaseKey]:
    every = [(i, d, t) for i in range(items) for d in range(dialects) for t in range(trials)]
    return [CaseKey(f"q{i}", f"dialect{d}", f"db{i % databases}", t) for i, d, t in every]


def judged(old: np.ndarray, new: np.ndarray, cases: list[CaseKey], policy: Policy = POLICY) -> tuple[Effect, Status]:
    effect = measure(Sample.build(old.tolist(), new.tolist(), cases), alpha=policy.alpha, cluster=policy.cluster)
    return effect, status_of(effect, policy)


def flips(
    random: Generator, items: int, *, churn: float, drop: float = 0.0, accuracy: float = 0.75
) -> tuple[np.ndarray, np.ndarray]:
    """One verdict an item on both sides: broken with probability churn / 2 + drop, fixed with churn / 2."""
    draw = random.random(items)
    broke, fixed = draw < churn / 2 + drop, draw > 1 - churn / 2
    steady = random.random(items) < accuracy
    return np.where(broke, 1.0, np.where(fixed, 0.0, steady)), np.where(broke, 0.0, np.where(fixed, 1.0, steady))


def one_verdict(items: int, *, churn: float, drop: float = 0.0, policy: Policy = POLICY) -> Draw:
    cases = keys(items)

    def draw(random: Generator) -> Status:
        return judged(*flips(random, items, churn=churn, drop=drop), cases, policy)[1]

    return draw


def shared_flips(items: int, *, dialects: int, churn: float, drop: float = 0.0) -> Draw:
    """An item's dialects mostly move together; now and then one moves alone."""
    cases = keys(items, dialects=dialects)

    def draw(random: Generator) -> Status:
        old, new = (np.repeat(side, dialects) for side in flips(random, items, churn=churn, drop=drop))
        alone = random.random((2, old.size)) < 0.01
        return judged(np.where(alone[0], 1 - old, old), np.where(alone[1], 1 - new, new), cases)[1]

    return draw


def pass_rates(random: Generator, items: int, *, coins: int = 0, mean: float = 0.8) -> np.ndarray:
    """How often each item passes: `mean` on average, most near 0 or 1, the first `coins` exactly half the time."""
    rates = random.beta(mean, 1 - mean, items)
    rates[:coins] = 0.5
    return rates


def repeated(items: int, *, trials: int, drop: float = 0.0) -> Draw:
    cases = keys(items, trials=trials)

    def draw(random: Generator) -> Status:
        rates = pass_rates(random, items)
        worse = np.where(random.random(items) < drop / rates.mean(), 0.0, rates)
        old, new = (random.random((items, trials)) < side[:, None] for side in (rates, worse))
        return judged(old.ravel().astype(float), new.ravel().astype(float), cases)[1]

    return draw


def real_valued(items: int, *, policy: Policy = POLICY) -> Draw:
    cases = keys(items, trials=2)

    def draw(random: Generator) -> Status:
        centre = np.repeat(random.beta(4, 1, items), 2)
        old, new = (np.clip(centre + random.normal(0, 0.1, centre.size), 0, 1) for _ in range(2))
        return judged(old, new, cases, policy)[1]

    return draw


def moving_databases(*, cluster: str) -> Draw:
    """Eight databases of 25 questions, each of which drifts by some points of its own, on average by none."""
    cases = keys(200, databases=8)
    policy = POLICY.model_copy(update={"cluster": cluster})
    owner = np.array([int(key.database.removeprefix("db")) for key in cases])

    def draw(random: Generator) -> Status:
        shift = random.normal(0, 0.06, 8)[owner]
        base = random.random(200) < 0.75
        broke, fixed = random.random(200) < np.clip(0.05 - shift, 0, 1), random.random(200) < np.clip(0.15 + 3 * shift, 0, 1)
        return judged(base.astype(float), np.where(base, ~broke, fixed).astype(float), cases, policy)[1]

    return draw


def ruled_slices(items: int, *, slices: int, with_whole: bool) -> Draw:
    """A rule for each of four parts of the items, corrected by Holm as one family; with the primary metric beside it or alone."""
    part = items // slices
    cases, whole = keys(part), keys(items)

    def draw(random: Generator) -> Status:
        old, new = flips(random, items, churn=0.1)
        parts = [slice(start, start + part) for start in range(0, items, part)]
        effects = [judged(old[where], new[where], cases)[0] for where in parts]
        adjusted = holm([effect.p for effect in effects])
        statuses = [status_of(effect, POLICY, p=p) for effect, p in zip(effects, adjusted, strict=True)]
        statuses += [judged(old, new, whole)[1]] if with_whole else []
        return "fail" if "fail" in statuses else "pass"

    return draw


def unmeasured(items: int, *, drop: float, hidden: float, churn: float = 0.05, at_random: bool = False) -> Draw:
    """The head loses `hidden` of what it broke (or of everything): both readings, and what the gate makes of them."""
    cases = keys(items)

    def draw(random: Generator) -> Status:
        old, new = flips(random, items, churn=churn, drop=drop)
        lost = (random.random(items) < hidden) & ((new < old) | at_random)
        hopeful, grim = (judged(old, np.where(lost, value, new), cases)[1] for value in (1.0, 0.0))
        return hopeful if hopeful == grim else "no_verdict"

    return draw


def quarantined(items: int, *, coins: int, runs: int, independent: bool) -> Draw:
    """Items measured unstable are left out; the evidence comes from runs of their own, or from the baseline's."""
    cases = keys(items)

    def draw(random: Generator) -> Status:
        rates = pass_rates(random, items, coins=coins)
        history = random.random((runs, items)) < rates
        base = history[-1] if not independent else random.random(items) < rates
        keep = np.array([not is_unstable(int(passes), runs) for passes in history.sum(axis=0)])
        head = random.random(items) < rates
        return judged(
            base[keep].astype(float), head[keep].astype(float), [k for k, kept in zip(cases, keep, strict=True) if kept]
        )[1]

    return draw


def measured_coins(items: int, *, coins: int, runs: int) -> Draw:
    """Coins among items that never flip: without the quarantine the coins alone decide."""
    cases = keys(items)

    def draw(random: Generator) -> Status:
        rates = np.where(np.arange(items) < coins, 0.5, random.random(items) < 0.8)
        keep = np.array([not is_unstable(int(passes), runs) for passes in (random.random((runs, items)) < rates).sum(axis=0)])
        old, new = (random.random(items) < rates for _ in range(2))
        return judged(old[keep].astype(float), new[keep].astype(float), [k for k, kept in zip(cases, keep, strict=True) if kept])[
            1
        ]

    return draw


def confirmed(items: int, *, both_sides: bool, drop: float = 0.0, mean: float = 0.8) -> Draw:
    """What changed is asked again, of both sides or of the head alone; those answers, not the first, are tested."""
    cases = keys(items)

    def draw(random: Generator) -> Status:
        rates = pass_rates(random, items, mean=mean)
        worse = np.where(random.random(items) < drop / rates.mean(), 0.0, rates)
        old, new = random.random(items) < rates, random.random(items) < worse
        changed = old != new
        again_old = np.where(changed & both_sides, random.random(items) < rates, old)
        again_new = np.where(changed, random.random(items) < worse, new)
        return judged(again_old.astype(float), again_new.astype(float), cases)[1]

    return draw


def scenarios() -> list[Scenario]:
    return [
        Scenario("no change: 100 items, churn 10 %", one_verdict(100, churn=0.1), 0.02, 0.06),
        Scenario("no change: 200 items, churn 10 %", one_verdict(200, churn=0.1), 0.03, 0.06),
        Scenario(
            "no change: 1,000 items, churn 10 %, min_drop 0", one_verdict(1000, churn=0.1, policy=Policy(min_drop=0)), 0.03, 0.06
        ),
        Scenario("no change: 60 items in 4 dialects, shared flips", shared_flips(60, dialects=4, churn=0.15), 0.03, 0.06),
        Scenario("no change: 200 items, 3 trials a side", repeated(200, trials=3), 0.02, 0.06),
        Scenario("no change: 100 items, real-valued, min_drop 0", real_valued(100, policy=Policy(min_drop=0)), 0.03, 0.06),
        Scenario("no change: 8 databases that drift, by database", moving_databases(cluster="database"), 0.02, 0.065),
        Scenario("no change: 4 slices with a rule, Holm", ruled_slices(400, slices=4, with_whole=False), 0.0, 0.06),
        Scenario("no change: the same and the primary metric", ruled_slices(400, slices=4, with_whole=True), 0.0, 0.1),
        Scenario(
            "no change: 200 items, 2 % unmeasured at random", unmeasured(200, drop=0, hidden=0.02, at_random=True), 0.0, 0.06
        ),
        Scenario(
            "no change: quarantine from 3 independent runs", quarantined(200, coins=0, runs=3, independent=True), 0.02, 0.06
        ),
        Scenario("no change: 10 measured coins among 200 steady items", measured_coins(200, coins=10, runs=10), 0.0, 0.06),
        Scenario("no change: confirmation, both sides asked again", confirmed(200, both_sides=True), 0.03, 0.06),
        Scenario("drop of 8 points: 200 items, churn 5 %", one_verdict(200, churn=0.05, drop=0.08), 0.8, 1.0),
        Scenario("drop of 8 points: 60 items in 4 dialects", shared_flips(60, dialects=4, churn=0.02, drop=0.08), 0.4, 1.0),
        Scenario("drop of 8 points: 200 items, 3 trials a side", repeated(200, trials=3, drop=0.08), 0.8, 1.0),
        Scenario("drop of 8 points: confirmation, both sides", confirmed(200, both_sides=True, drop=0.08), 0.5, 1.0),
        Scenario("drop of 2 points: 200 items, churn 5 %", one_verdict(200, churn=0.05, drop=0.02), 0.2, 0.35),
    ]


def warnings() -> list[Scenario]:
    """What the gate does not do, and why: the same draws judged in ways that people try."""
    return [
        Scenario("dialects counted as independent items", pooled(60, dialects=4, churn=0.15), 0.08, 1.0),
        Scenario("drifting databases, tested by item", moving_databases(cluster="item"), 0.05, 1.0),
        Scenario("quarantine by the baseline's own runs (3)", quarantined(200, coins=0, runs=3, independent=False), 0.1, 1.0),
        Scenario("confirmation that asks the head alone, accuracy 40 %", confirmed(200, both_sides=False, mean=0.4), 0.06, 1.0),
    ]


def pooled(items: int, *, dialects: int, churn: float) -> Draw:
    cases = keys(items * dialects)

    def draw(random: Generator) -> Status:
        old, new = (np.repeat(side, dialects) for side in flips(random, items, churn=churn))
        return judged(old, new, cases)[1]

    return draw


def red(scenario: Scenario, draws: int, *, seed: int = 1) -> float:
    """The share of red verdicts in `draws` seeded draws."""
    random = np.random.default_rng(seed)
    return sum(scenario.draw(random) == "fail" for _ in range(draws)) / draws


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--write", type=Path, help="a Markdown file whose table between the two markers is replaced")
    given = parser.parse_args()
    rows, outside = [], []
    for scenario in (*scenarios(), *warnings()):
        share = red(scenario, given.draws)
        rows.append(f"| {scenario.name} | {100 * share:.1f} % |")
        print(rows[-1], flush=True)
        if not scenario.low <= share <= scenario.high:
            outside.append(scenario.name)
    if given.write:
        before, rest = given.write.read_text(encoding="utf-8").split("<!-- simulation -->\n", 1)
        after = rest.split("<!-- end -->", 1)[1]
        table = "\n".join(["| Scenario | Red |", "|:--|--:|", *rows])
        given.write.write_text(f"{before}<!-- simulation -->\n{table}\n<!-- end -->{after}", encoding="utf-8")
    print(f"outside their bounds: {', '.join(outside) or 'none'}")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
