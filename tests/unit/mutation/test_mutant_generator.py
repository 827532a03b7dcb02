"""The generator that plays a model: right and wrong at a set rate, and the gate closes as often as it promised."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path

import numpy as np
import pytest

from nl2sql_gate.effect import Sample, measure
from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.gates.drop import status_of
from nl2sql_gate.generators.mutant import Mutant, errs
from nl2sql_gate.plugins import load
from nl2sql_gate.records import Ask, CaseKey, Item, Prompt, Schema, SqlField
from nl2sql_gate.settings import Model, Policy
from nl2sql_gate.significance.power import power_of_test

GOLDEN = "SELECT a FROM t WHERE a > 1 AND b = 2"


def ask(number: int = 0, *, trial: int = 1, golden: str = GOLDEN, dialect: str = "sqlite", kind: str = "dql") -> Ask:
    item = Item(f"q{number}", "?", kind, "shop", (dialect,), SqlField(everywhere=(golden,)))  # type: ignore[arg-type]
    return Ask(CaseKey(item.id, dialect, "shop", trial), dialect, item, Prompt(()), Schema("shop", dialect, (), ""))


def answers(model: Model, count: int, *, replies: str | None = None, trial: int = 1) -> list[str]:
    async def all_of_them() -> list[str]:
        generator = Mutant(model, replies=replies)
        await generator.preflight()
        return [(await generator.complete(ask(number, trial=trial))).text for number in range(count)]

    return asyncio.run(all_of_them())


def wrong(rate: float, seed: int, count: int, *, trial: int = 1) -> list[bool]:
    return [errs(seed, ask(number, trial=trial), rate) for number in range(count)]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "mutants.jsonl"
    lines = [
        {"id": "q0", "dialect": "sqlite", "fate": "survived", "sql": "SELECT 0"},
        *({"id": f"q{n}", "dialect": "sqlite", "fate": "killed", "sql": f"SELECT {n}"} for n in range(3)),
        {"id": "q0", "dialect": "mysql", "fate": "killed", "sql": "SELECT 'mysql'"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_it_is_found_by_its_name() -> None:
    assert load("generator", "mutant") is Mutant


def test_it_answers_golden_at_rate_nought_and_never_at_rate_one() -> None:
    assert set(answers(Model(error_rate=0.0), 20)) == {GOLDEN}
    assert GOLDEN not in answers(Model(error_rate=1.0), 20)


def test_the_share_of_errors_is_the_rate() -> None:
    assert abs(sum(wrong(0.3, 5, 2000)) / 2000 - 0.3) < 0.03
    assert [text != GOLDEN for text in answers(Model(error_rate=0.3, seed=5), 40)] == wrong(0.3, 5, 40)


def test_the_same_seed_gives_the_same_answers() -> None:
    assert answers(Model(error_rate=0.5, seed=3), 30) == answers(Model(error_rate=0.5, seed=3), 30)


def test_with_one_seed_a_worse_model_errs_where_the_better_one_does_and_more() -> None:
    better, worse = wrong(0.2, 1, 200), wrong(0.4, 1, 200)
    assert all(b <= w for b, w in zip(better, worse, strict=True))
    assert sum(worse) > sum(better)


def test_seeds_and_trials_err_elsewhere() -> None:
    assert wrong(0.5, 1, 60) != wrong(0.5, 2, 60)
    assert wrong(0.5, 1, 60) != wrong(0.5, 1, 60, trial=2)


def test_mutants_that_were_run_are_taken_from_their_file(kept: Path) -> None:
    assert answers(Model(error_rate=1.0), 3, replies=str(kept)) == ["SELECT 0", "SELECT 1", "SELECT 2"]


def test_mariadb_takes_mysqls_mutants(kept: Path) -> None:
    generator = Mutant(Model(error_rate=1.0), replies=str(kept))
    assert asyncio.run(generator.complete(ask(dialect="mariadb"))).text == "SELECT 'mysql'"


def test_an_item_without_a_mutant_is_not_measured(kept: Path) -> None:
    generator = Mutant(Model(error_rate=1.0), replies=str(kept))
    with pytest.raises(EndpointFault, match="no mutant"):
        asyncio.run(generator.complete(ask(9)))
    with pytest.raises(EndpointFault, match="no mutant"):
        asyncio.run(Mutant(Model(error_rate=1.0), replies=None).complete(ask(golden="VACUUM")))


def test_a_sequence_is_answered_whole() -> None:
    item = Item("q", "?", "dml", "shop", ("sqlite",), SqlField(everywhere=("DELETE FROM t", "DELETE FROM u")))
    both = Ask(CaseKey("q", "sqlite", "shop", 1), "sqlite", item, Prompt(()), Schema("shop", "sqlite", (), ""))
    text = asyncio.run(Mutant(Model(error_rate=0.0), replies=None).complete(both)).text
    assert text == "DELETE FROM t;\nDELETE FROM u"


def test_it_needs_a_rate() -> None:
    with pytest.raises(SettingsError, match=r"model\.error_rate"):
        Mutant(Model(), replies=None)


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"id": 1, "dialect": "sqlite", "fate": "survived", "sql": "x"}'])
def test_a_file_that_holds_no_kept_mutants_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "mutants.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(SettingsError, match="mutants cannot be read"):
        Mutant(Model(error_rate=0.1), replies=str(path))


def test_its_identity_tells_rates_seeds_and_files_apart(kept: Path) -> None:
    models = (Model(error_rate=0.1), Model(error_rate=0.2), Model(error_rate=0.1, seed=1))
    identities = [Mutant(model, replies=None).identity() for model in models]
    identities.append(Mutant(models[0], replies=str(kept)).identity())
    assert len({json.dumps(identity, sort_keys=True) for identity in identities}) == 4


@pytest.mark.parametrize(("items", "old", "new"), [(200, 0.1, 0.2), (100, 0.2, 0.3), (200, 0.1, 0.1)])
def test_the_gate_closes_as_often_as_its_power_says(items: int, old: float, new: float) -> None:
    """Baseline and head are mutants with seeds of their own; `benchmarks/mutant_power.py` does the same with real runs."""
    keys = [CaseKey(f"q{n}", "sqlite", "shop", 1) for n in range(items)]
    policy = Policy(min_drop=0.0)
    closed, runs = 0, 100
    for seed in range(runs):
        before, after = (np.logical_not(wrong(rate, s, items)) for rate, s in ((old, 2 * seed), (new, 2 * seed + 1)))
        effect = measure(Sample.build(before.astype(float).tolist(), after.astype(float).tolist(), keys), alpha=policy.alpha)
        closed += status_of(effect, policy) == "fail"
    promised = power_of_test(items, new - old, churn=2 * old * (1 - new), alpha=policy.alpha)
    assert abs(closed / runs - promised) < 3 * math.sqrt(max(promised * (1 - promised), 0.01) / runs)
