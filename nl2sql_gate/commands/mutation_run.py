"""What `mutate` and `sensitivity` share: their options, and mutants run beside their goldens in every service."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from nl2sql_gate import configuration, plugins
from nl2sql_gate.commands import measure, selection
from nl2sql_gate.embeddings import default_embedding
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned
from nl2sql_gate.mutation import Recipe
from nl2sql_gate.mutation_testing.equivalence import Equivalents, read_equivalents
from nl2sql_gate.mutation_testing.fates import MutatedItem, Tried
from nl2sql_gate.protocols import Embedding, Scorer
from nl2sql_gate.records import Case
from nl2sql_gate.settings import Settings, secrets_in

Result = TypeVar("Result")

STATEMENT_S = 5.0
"""A join without its condition may run for ever; a mutant that takes longer than this tells nothing that is worth the wait."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Metrics to compute for kept mutants: of at most `per_error` of each kind of error, drawn by `seed` (`None`: of all)."""

    metrics: tuple[str, ...] = ()
    per_error: int | None = None
    seed: int = 0


NO_MORE = Scoring()


def mutation_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which mutants are made."""
    decorators = (
        click.option("--seed", type=int, default=0, show_default=True, help="Chooses places and values."),
        click.option("--depth", type=click.IntRange(1, 5), default=1, show_default=True, help="Most errors in one mutant."),
        click.option("--sites", default="1", show_default=True, help="Places of each operator in a query: a number, or all."),
        click.option("--operator", "operators", multiple=True, metavar="NAME", help="This error only. May be repeated."),
        click.option(
            "--sequence", "sequences", multiple=True, metavar="NAME,NAME…", help="These errors in turn. May be repeated."
        ),
        click.option("--most", type=click.IntRange(1), help="At most so many mutants of a query, drawn by seed."),
        click.option("--equivalents", metavar="FILE", help="Survivors that mean the same as golden SQL, with reasons."),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def recipe_of(*, seed: int, depth: int, sites: str, operators: Sequence[str], most: int | None) -> Recipe:
    """The recipe that the options name. Raises `SettingsError`."""
    if sites != "all" and not (sites.isdecimal() and int(sites) > 0):
        raise SettingsError(f"--sites {sites!r} is neither a number nor all", meaning="Nothing was mutated.")
    recipe = Recipe(seed, depth, None if sites == "all" else int(sites), tuple(operators), most)
    recipe.chosen()
    return recipe


def sequences_of(given: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The operators of each sequence."""
    return tuple(tuple(name.strip() for name in text.split(",") if name.strip()) for text in given)


def marks_of(equivalents: str | None) -> Equivalents:
    """The marks of a file, none where there is none."""
    return read_equivalents(Path(equivalents)) if equivalents else Equivalents()


def settings_of(
    redactor: Redactor, flags: dict[str, Any], *, config: str | None, assignments: Sequence[str], rows: int | None = None
) -> Settings:
    """The settings, with limits for statements that may never end, and for `rows` of results, unless they are set."""
    settings = configuration.load(flags, config=config, assignments=assignments).settings
    for secret in secrets_in(settings):
        redactor.add(secret)
    given = settings.limits.model_fields_set
    wanted: dict[str, Any] = {"max_golden_errors": 1.0}
    if "statement_s" not in given:
        wanted["statement_s"] = STATEMENT_S
    if rows is not None and "rows" not in given:
        wanted["rows"] = rows
    return settings.model_copy(update={"trials": 1, "limits": settings.limits.model_copy(update=wanted)})


def run_mutants(
    settings: Settings,
    chosen: selection.Selection,
    *,
    recipe: Recipe,
    sequences: tuple[tuple[str, ...], ...] = (),
    equivalents: Equivalents,
    scoring: Scoring = NO_MORE,
) -> list[MutatedItem]:
    """Every mutant of the chosen items run and judged, in dataset order; some of the kept ones scored by more metrics."""
    from nl2sql_gate.mutation_testing.kill import Bench, try_mutants

    killer = plugins.load("scorer", "execution_accuracy")()
    # Before anything runs: where there is nothing to embed with, that is an error.
    embedding = default_embedding() if any("semantic" in name for name in scoring.metrics) else None
    with measure.open_bench(settings, chosen) as bench:
        schemas = {
            (name, database): found.schema(sample_values=0)
            for name, each in bench.opened.items()
            for database, found in each.databases.items()
        }
        testing = Bench(bench.rules, killer, recipe, sequences, schemas, equivalents)

        def tested(planned: Planned) -> MutatedItem:
            return try_mutants(planned, bench.goldens[planned.key.id, planned.key.dialect], testing)

        found = _shown(bench.executor.map(tested, bench.planned), len(bench.planned), "mutants")
        return _scored(found, bench, scoring, embedding) if scoring.metrics else found


def _scored(
    items: Sequence[MutatedItem], bench: measure.Bench, scoring: Scoring, embedding: Embedding | None
) -> list[MutatedItem]:
    """The items with only the mutants that were drawn for each kind of error, scored."""
    from nl2sql_gate.mutation_testing.kill import executed
    from nl2sql_gate.mutation_testing.scoring import scores_of
    from nl2sql_gate.mutation_testing.sensitivity import drawn

    chosen = drawn(items, scoring.per_error, seed=scoring.seed)
    kept = [
        (planned, golden, tested)
        for planned, item in zip(bench.planned, items, strict=True)
        for tested in item.mutants
        if id(tested) in chosen and isinstance(golden := bench.goldens[planned.key.id, planned.key.dialect], Golden)
    ]

    def ran(entry: tuple[Planned, Golden, Tried]) -> Case | None:
        planned, golden, tested = entry
        return executed(tested, planned, golden, rules=bench.rules)

    cases = _shown(bench.executor.map(ran, kept), len(kept), "results")
    there = [(id(tested), case) for (_, _, tested), case in zip(kept, cases, strict=True) if case is not None]
    scores = scores_of([case for _, case in there], lambda given: _scorers(scoring.metrics, given), embedding, bench.executor)
    added = {key: found for (key, _), found in zip(there, scores, strict=True)}

    def completed(tested: Tried) -> Tried:
        return dataclasses.replace(tested, scores={**tested.scores, **added.get(id(tested), {})})

    return [
        dataclasses.replace(item, mutants=tuple(completed(tested) for tested in item.mutants if id(tested) in chosen))
        for item in items
    ]


def _scorers(metrics: Sequence[str], embedding: Embedding) -> tuple[Scorer, ...]:
    """The scorers of these names, those that embed on `embedding`."""
    return tuple(
        plugins.load("scorer", name)(embedding=embedding) if "semantic" in name else plugins.load("scorer", name)()
        for name in metrics
    )


def _shown(results: Iterator[Result], count: int, label: str) -> list[Result]:
    """All results, with a bar on a terminal."""
    if not sys.stderr.isatty():
        return list(results)
    with click.progressbar(results, length=count, label=label, file=sys.stderr) as shown:
        return list(shown)
