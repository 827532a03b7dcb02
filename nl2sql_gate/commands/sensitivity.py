"""`nl2sql-gate sensitivity`: how much each metric sees of each kind of error, on this dataset's data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from nl2sql_gate.commands import selection
from nl2sql_gate.commands.mutation_run import (
    Scoring,
    marks_of,
    mutation_options,
    recipe_of,
    run_mutants,
    sequences_of,
    settings_of,
)
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.errors import DatasetError, SettingsError
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.mutation_testing.sensitivity import EXECUTION, TECHNIQUES, metrics_of, sensitivity
from nl2sql_gate.runfile import write_atomically

ROWS = 500
"""Pairing the rows of two results takes long where they have many; a mutant with more than this tells the metrics nothing new."""


@click.command("sensitivity", help="Mean EX, EXP, EXR and F1 of every technique over mutants, by kind of error.")
@mutation_options
@click.option(
    "--technique", "techniques", multiple=True, type=click.Choice([*EXECUTION, *TECHNIQUES]), help="This one only. Repeatable."
)
@click.option(
    "--per-error", type=click.IntRange(0), default=25, show_default=True, help="Mutants scored of each kind of error; 0: all."
)
@click.option(
    "--to", metavar="FOLDER", help="Write sensitivity.csv, .json, .txt and .svg there; the output folder where not given."
)
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
    techniques: Sequence[str],
    per_error: int,
    to: str | None,
    config: str | None,
    only: Sequence[str],
    shard: str | None,
    assignments: Sequence[str],
    **flags: Any,
) -> int:
    """Mutate, run, score by every technique; 0 where a mutant could be scored."""
    from nl2sql_gate.mutation_testing import sensitivity_views as views

    recipe = recipe_of(seed=seed, depth=depth, sites=sites, operators=operators, most=most)
    settings = settings_of(redactor, flags, config=config, assignments=assignments, rows=ROWS)
    chosen = selection.select_cases(settings, only=only, shard=selection.Shard.parse(shard) if shard else None)
    wanted = tuple(techniques) or _possible()
    items = run_mutants(
        settings,
        chosen,
        recipe=recipe,
        sequences=sequences_of(sequences),
        equivalents=marks_of(equivalents),
        scoring=Scoring(metrics_of(wanted), per_error or None, seed),
    )
    rows = sensitivity(items, wanted)
    if not rows:
        raise DatasetError(
            "no mutant runs and differs",
            meaning="There is nothing that a metric could see.",
            next_step="nl2sql-gate mutate names what became of the mutants.",
        )
    click.echo(redactor(views.as_text(rows)), nl=False)
    folder = Path(to or settings.out)
    written = {"csv": views.as_csv(rows), "json": views.as_json(rows), "txt": views.as_text(rows), "svg": views.as_svg(rows)}
    for suffix, text in written.items():
        write_atomically(folder / f"sensitivity.{suffix}", text.encode("utf-8"))
    click.echo(one_line(f"written   {folder}/sensitivity.csv, .json, .txt, .svg"))
    return 0


def _possible() -> tuple[str, ...]:
    """All techniques, without the semantic ones where there is nothing to embed with."""
    from nl2sql_gate.embeddings import default_embedding

    try:
        default_embedding()
    except SettingsError as error:
        left = [name for name in TECHNIQUES if "semantic" in name]
        click.echo(f"left out  {', '.join(left)}: {error.what}", err=True)
        return (*EXECUTION, *(name for name in TECHNIQUES if name not in left))
    return (*EXECUTION, *TECHNIQUES)
