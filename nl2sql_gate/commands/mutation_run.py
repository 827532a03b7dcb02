"""What `mutate` and `sensitivity` share: their options, and mutants run beside their goldens in every service."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import configuration, plugins
from nl2sql_gate.commands import selection
from nl2sql_gate.commands.measure import open_bench
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.judge import Planned
from nl2sql_gate.mutation import Recipe
from nl2sql_gate.mutation_testing.equivalence import Equivalents, read_equivalents
from nl2sql_gate.mutation_testing.fates import TestedItem
from nl2sql_gate.settings import Settings, secrets_in

STATEMENT_S = 5.0
"""A join without its condition may run for ever; a mutant that takes longer than this tells nothing that is worth the wait."""


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
    metrics: Sequence[str] = (),
) -> list[TestedItem]:
    """Every mutant of the chosen items run and judged, in dataset order; `metrics` are computed beside."""
    from nl2sql_gate.mutation_testing.kill import Bench, test_item

    killer = plugins.load("scorer", "execution_accuracy")()
    scorers = tuple(plugins.load("scorer", name)() for name in metrics)
    with open_bench(settings, chosen) as bench:
        schemas = {
            (name, database): found.schema(sample_values=0)
            for name, each in bench.opened.items()
            for database, found in each.databases.items()
        }
        testing = Bench(bench.rules, killer, recipe, scorers, sequences, schemas, equivalents)

        def tested(planned: Planned) -> TestedItem:
            return test_item(planned, bench.goldens[planned.key.id, planned.key.dialect], testing)

        results = bench.executor.map(tested, bench.planned)
        if not sys.stderr.isatty():
            return list(results)
        with click.progressbar(results, length=len(bench.planned), label="mutants", file=sys.stderr) as shown:
            return list(shown)
