"""`nl2sql-gate plan`: what a run would do, before anything is started or paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from nl2sql_gate import configuration
from nl2sql_gate.commands import databases, selection
from nl2sql_gate.commands.against import is_asked
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.records import DatabaseSource, Schema
from nl2sql_gate.settings import Settings

CHARACTERS_A_TOKEN = 4
REPLY_TOKENS = 150


@click.command("plan", help="Say what a run would do, ask and cost; nothing is started.")
@run_options
def command(*, config: str | None, only: Sequence[str], shard: str | None, assignments: Sequence[str], **flags: Any) -> int:
    """Print the plan; 0 where a run could start."""
    settings = configuration.load(flags, config=config, assignments=assignments).settings
    chosen = selection.select_cases(settings, only=only, shard=selection.Shard.parse(shard) if shard else None)
    sources = databases.read_sources(chosen.databases(), settings)
    cases = chosen.cases(settings.trials)
    types = Counter(item.query_type for items in chosen.by_service.values() for item in items)
    asked = not settings.replies or bool(settings.model.base_url)
    click.echo(f"dataset   {settings.dataset}: {len(chosen.items)} items of {len(chosen.dataset.items)}")
    click.echo(f"cases     {cases}: " + ", ".join(f"{len(items)} on {name}" for name, items in chosen.by_service.items()))
    click.echo(
        "types     " + ", ".join(f"{count} {name}" for name, count in sorted(types.items())) + f"; {settings.trials} trial(s)"
    )
    for (name, database), source in sources.items():
        rows = sum(len(table.rows) for table in source.tables)
        way = databases.service_of(name, settings).way
        click.echo(f"database  {database} on {name} ({way}): {len(source.tables)} tables with data, {rows} rows")
    sides = 2 if settings.baseline and is_asked(settings.baseline) else 1
    beside = f": head and {settings.baseline}, {cases} each" if sides > 1 else ""
    again = "; what changed is asked once more (policy.confirm)" if settings.policy.confirm else ""
    replayed = f" (replies recorded in {settings.replies})"
    click.echo(f"calls     {cases * sides}{beside}{again}" if asked else f"calls     0{replayed}")
    if asked:
        _cost(settings, chosen, sources, sides=sides)
    for warned in dict.fromkeys((*chosen.dataset.warnings, *(each for source in sources.values() for each in source.warnings))):
        click.echo(f"warning   {warned.subject}: {warned.message}".replace("warning   : ", "warning   "))
    return 0


def _cost(settings: Settings, chosen: selection.Selection, sources: dict[tuple[str, str], DatabaseSource], *, sides: int) -> None:
    """Tokens by length: four characters each, the setup script standing in for the schema; said to be rough.

    Another side is taken for as long as the head.
    """
    from nl2sql_gate.prompt import PromptBuilder

    prompts = PromptBuilder(settings.model.prompt)
    characters = 0
    for name, items in chosen.by_service.items():
        dialect = databases.service_of(name, settings).dialect
        for item in items:
            source = sources[name, item.database]
            ddl = "\n".join(statement.text for statement in source.setup)
            prompt = prompts.build(item, Schema(item.database, dialect, (), ddl), dialect)
            characters += sum(len(text) for _, text in prompt.messages)
    tokens_in = characters * settings.trials * sides // CHARACTERS_A_TOKEN
    tokens_out = chosen.cases(settings.trials) * sides * REPLY_TOKENS
    click.echo(f"tokens    about {tokens_in:,} in, {tokens_out:,} out (by length, not by a tokenizer)")
    prices = settings.model.prices
    if prices.input_per_million is None and prices.output_per_million is None:
        click.echo("cost      unknown: set model.prices")
        return
    cost = (tokens_in * (prices.input_per_million or 0) + tokens_out * (prices.output_per_million or 0)) / 1e6
    click.echo(f"cost      about {cost:.4f}")
