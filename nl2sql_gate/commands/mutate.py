"""`nl2sql-gate mutate`: golden SQL with the errors that models make, and which of them the dataset's rows show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from nl2sql_gate.commands import selection
from nl2sql_gate.commands.dataset_words import say_warnings
from nl2sql_gate.commands.mutation_run import (
    marks_of,
    mutation_options,
    recipe_of,
    run_mutants,
    sequences_of,
    settings_of,
)
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.mutation import Recipe
from nl2sql_gate.mutation_testing.fates import MutatedItem, mutation_score
from nl2sql_gate.runfile import write_atomically
from nl2sql_gate.settings import Settings


@click.command("mutate", help="Mutate golden SQL, run the mutants, and name the items whose data does not show an error.")
@mutation_options
@click.option("--to", metavar="FILE", help="Write the mutants there.")
@click.option("--form", type=click.Choice(["lines", "sqlmorph"]), default="lines", show_default=True, help="Form of the file.")
@click.option("--no-run", is_flag=True, help="Start no database: mutants are written, and nobody knows which of them differ.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="Exit 1 where the mutation score of a service is lower.")
@click.option("--list", "listed", is_flag=True, help="List the error operators.")
@run_options
@click.pass_obj
def command(  # noqa: PLR0913 - as many options
    redactor: Redactor,
    /,
    *,
    seed: int,
    depth: int,
    sites: str,
    operators: Sequence[str],
    sequences: Sequence[str],
    most: int | None,
    equivalents: str | None,
    to: str | None,
    form: str,
    no_run: bool,
    min_score: float | None,
    listed: bool,
    config: str | None,
    only: Sequence[str],
    shard: str | None,
    assignments: Sequence[str],
    **flags: Any,
) -> int:
    """Mutate; 1 only under --min-score."""
    if listed:
        _list()
        return 0
    recipe = recipe_of(seed=seed, depth=depth, sites=sites, operators=operators, most=most)
    marks = marks_of(equivalents)
    settings = settings_of(redactor, flags, config=config, assignments=assignments)
    chosen = selection.select_cases(settings, only=only, shard=selection.Shard.parse(shard) if shard else None)
    say_warnings(chosen.dataset.warnings)
    in_turn = sequences_of(sequences)
    if no_run:
        items = list(_unrun(settings, chosen, recipe=recipe, sequences=in_turn))
        click.echo(f"mutants   {sum(len(item.mutants) for item in items)} of {len(items)} cases, none of them run")
    else:
        items = run_mutants(settings, chosen, recipe=recipe, sequences=in_turn, equivalents=marks)
        from nl2sql_gate.mutation_testing.report import summary

        for line in summary(items, idle=marks.idle(items)):
            indent = line[: len(line) - len(line.lstrip())]
            click.echo(indent + one_line(redactor(line)))
    if to:
        _write(Path(to), items, form=form, kept=not no_run, redactor=redactor)
    return _code(items, min_score)


def _list() -> None:
    from nl2sql_gate.mutation import OPERATORS

    width = max(len(operator.name) for operator in OPERATORS)
    for operator in OPERATORS:
        mark = "*" if operator.published else " "
        click.echo(f"{mark} {operator.name.ljust(width)}  {operator.group.ljust(10)}  {operator.summary}")
    click.echo("* of SQLMorph's experiment")


def _unrun(
    settings: Settings, chosen: selection.Selection, *, recipe: Recipe, sequences: tuple[tuple[str, ...], ...]
) -> Iterator[MutatedItem]:
    from nl2sql_gate.commands.databases import service_of
    from nl2sql_gate.golden import mode_of
    from nl2sql_gate.mutation import Mutations, mutate, mutate_in_turn
    from nl2sql_gate.mutation_testing.forms import untested
    from nl2sql_gate.records import CaseKey

    for item in chosen.items:
        for name in chosen.services:
            if item not in chosen.by_service[name]:
                continue
            dialect = service_of(name, settings).dialect
            listed = item.golden_sql.pick(dialect)
            is_sequence = mode_of(item, settings.scoring.golden_mode) == "sequence"
            sql = ";\n".join(text.strip().rstrip(";") for text in (listed if is_sequence else listed[:1]))
            if sequences:
                found = [mutate_in_turn(sql, dialect, names, recipe=recipe) for names in sequences]
                mutations = Mutations(sql, sql, tuple(mutant for mutant in found if mutant is not None))
            else:
                mutations = mutate(sql, dialect, recipe=recipe)
            yield MutatedItem(CaseKey(item.id, name, item.database, 1), item, dialect, sql, untested(mutations))


def _write(to: Path, items: Sequence[MutatedItem], *, form: str, kept: bool, redactor: Redactor) -> None:
    from nl2sql_gate.mutation_testing.forms import json_lines, sqlmorph_json

    text = sqlmorph_json(items, kept=kept) if form == "sqlmorph" else json_lines(items)
    write_atomically(to, redactor(text).encode("utf-8", "replace"))
    click.echo(one_line(f"written   {to}"))


def _code(items: Sequence[MutatedItem], min_score: float | None) -> int:
    from nl2sql_gate.mutation_testing.report import services_of

    low = False
    for service, tested in services_of(items).items() if min_score is not None else ():
        score = mutation_score(each for item in tested for each in item.mutants)
        if min_score is not None and (score is None or score < min_score):
            low = True
            shown = "there is none" if score is None else f"{100 * score:.1f} %"
            click.echo(f"too low   {service}: {shown}, wanted {100 * min_score:g} % (--min-score)", err=True)
    return int(low)
