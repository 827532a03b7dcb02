"""`nl2sql-gate export`: a dataset in EvalBench's or BIRD's form."""

from __future__ import annotations

import click

from nl2sql_gate.commands.dataset_words import say_warnings, written


@click.command("export", help="Write a dataset in EvalBench's or BIRD's form; nothing of the items is lost.")
@click.argument("source", metavar="SOURCE")
@click.option("--to", required=True, metavar="FILE", help="Where to write it.")
@click.option("--form", type=click.Choice(["evalbench", "bird"]), default="evalbench", show_default=True, help="The form.")
@click.option("--format", "name", default="auto", show_default=True, help="Format of SOURCE.")
@click.option("--dialect", default="", help="For BIRD's form: the dialect of SQL, where items have several.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
def command(*, source: str, to: str, form: str, name: str, dialect: str, force: bool) -> int:
    """Export; 0 where every item was written."""
    from nl2sql_gate.dataset import load
    from nl2sql_gate.dataset.export import bird_json, evalbench_json
    from nl2sql_gate.dialects import canonical

    dataset = load(source, format=name)
    click.echo(f"read      {source}: {len(dataset.items)} items")
    say_warnings(dataset.warnings)
    wanted = canonical(dialect) if dialect else ""
    text = bird_json(dataset.items, dialect=wanted) if form == "bird" else evalbench_json(dataset.items)
    written(to, text, force=force)
    return 0
