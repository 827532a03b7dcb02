"""`nl2sql-gate import`: a dataset, predictions or configs of another tool, in the forms of this one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from nl2sql_gate.commands.dataset_words import say_warnings, written
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.records import Dataset


@click.command("import", help="Convert a dataset, predictions or EvalBench configs; SOURCE is read as `run` reads it.")
@click.argument("source", metavar="[SOURCE]", required=False)
@click.option("--to", metavar="FILE", help="Write the items here, in EvalBench's form.")
@click.option("--format", "name", default="auto", show_default=True, help="Format of SOURCE.")
@click.option("--dialect", default="", help="Dialect of golden SQL and predictions where the files do not say it.")
@click.option("--map", "mapping", multiple=True, metavar="KEY=COLUMN", help="Column of a table: question, golden_sql, database …")
@click.option("--strict", is_flag=True, help="Refuse a source that is not strict JSON.")
@click.option("--predictions", metavar="FILE", help="Predictions of BIRD, Spider or EvalBench for these items.")
@click.option("--replies-to", metavar="FILE", help="Write them here as recorded replies, for --replies.")
@click.option("--pairing", default="auto", show_default=True, help="What keys of predictions are: auto, id or position.")
@click.option("--run-config", metavar="FILE", help="EvalBench run config to convert, with the configs that it names.")
@click.option("--settings-to", metavar="FILE", help="Write its settings here.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
def command(  # noqa: PLR0913 - one option each
    *,
    source: str | None,
    to: str | None,
    name: str,
    dialect: str,
    mapping: Sequence[str],
    strict: bool,
    predictions: str | None,
    replies_to: str | None,
    pairing: str,
    run_config: str | None,
    settings_to: str | None,
    force: bool,
) -> int:
    """Convert what is asked for and say what was read, written and left out; 0 where all of it was converted."""
    _refuse_incomplete(source, to, predictions, replies_to, run_config, settings_to)
    dataset = _load(source, name, dialect, mapping, strict=strict) if source else None
    if dataset is not None and to:
        from nl2sql_gate.dataset.export import evalbench_json

        written(to, evalbench_json(dataset.items), force=force)
    if dataset is not None and replies_to:
        _replies(dataset, predictions, replies_to, dialect=dialect, pairing=pairing, force=force)
    if run_config and settings_to:
        _settings(run_config, settings_to, force=force)
    return 0


def _refuse_incomplete(
    source: str | None,
    to: str | None,
    predictions: str | None,
    replies_to: str | None,
    run_config: str | None,
    settings_to: str | None,
) -> None:
    wrong = []
    if not source and not run_config:
        wrong.append("there is nothing to convert: give SOURCE or --run-config")
    if source and not to and not replies_to:
        wrong.append("SOURCE needs --to FILE, or --replies-to FILE for its predictions")
    if (to or predictions or replies_to) and not source:
        wrong.append("--to, --predictions and --replies-to need SOURCE, the dataset")
    if predictions and not replies_to:
        wrong.append("--predictions needs --replies-to FILE")
    if bool(run_config) != bool(settings_to):
        wrong.append("--run-config and --settings-to go together")
    if wrong:
        raise SettingsError(
            "this import is incomplete",
            where=wrong,
            meaning="Nothing was written.",
            next_step="For example: nl2sql-gate import dev.json --to items.json",
        )


def _load(source: str, name: str, dialect: str, mapping: Sequence[str], *, strict: bool) -> Dataset:
    from nl2sql_gate.dataset import ReadOptions, load
    from nl2sql_gate.dialects import canonical

    options = ReadOptions(dialect=canonical(dialect) if dialect else "", columns=_columns(mapping))
    dataset = load(source, format=name, strict=strict, options=options)
    types = Counter(item.query_type for item in dataset.items)
    databases = {item.database for item in dataset.items}
    dialects = Counter(each for item in dataset.items for each in item.dialects)
    without = sum(not item.golden_sql for item in dataset.items)
    click.echo(f"read      {source}: {len(dataset.items)} items, {len(databases)} databases")
    click.echo("types     " + ", ".join(f"{count} {kind}" for kind, count in sorted(types.items())))
    click.echo("dialects  " + (one_line(", ".join(f"{count} {each}" for each, count in dialects.items())) or "any"))
    if without:
        click.echo(f"skipped   {without} without golden SQL; they are kept and will be skipped")
    say_warnings(dataset.warnings)
    return dataset


def _columns(mapping: Sequence[str]) -> dict[str, str]:
    found = {}
    for each in mapping:
        key, equals, column = each.partition("=")
        if not equals or not key.strip() or not column.strip():
            raise SettingsError(
                f"--map {each!r} is not KEY=COLUMN",
                meaning="Nothing was read.",
                next_step="For example: --map question=Frage --map golden_sql=SQL --map database=Schema",
            )
        found[key.strip()] = column.strip()
    return found


def _replies(dataset: Dataset, predictions: str | None, to: str, *, dialect: str, pairing: str, force: bool) -> None:
    from nl2sql_gate.dataset.predictions import generated_in, pair_predictions, replies_text

    if predictions:
        paired = pair_predictions(predictions, dataset.items, dialect=dialect, pairing=pairing)
        replies = paired.replies
        click.echo(f"paired    {predictions}: {len(replies)} predictions with {len({reply.id for reply in replies})} items")
        say_warnings(paired.warnings)
    else:
        replies = generated_in(dataset.items)
        if not replies:
            raise SettingsError(
                f"the items of {dataset.path} hold no generated SQL",
                meaning="No replies were written.",
                next_step="Give the predictions as a file: --predictions FILE",
            )
        click.echo(f"found     {len(replies)} replies as generated_sql of the items")
    written(to, replies_text(replies), force=force)


def _settings(run_config: str, to: str, *, force: bool) -> None:
    from nl2sql_gate.dataset.evalbench_config import convert_run_config

    converted = convert_run_config(run_config, to_folder=Path(to).parent)
    click.echo(f"converted {run_config}")
    if converted.notes:
        click.echo("no equivalent, or another one:")
        for key, text in converted.notes:
            click.echo(one_line(f"  {key}: {text}"))
    written(to, settings_text(converted.settings, source=os.path.basename(run_config)), force=force)  # noqa: PTH119 - a name only


def settings_text(settings: Mapping[str, Any], *, source: str) -> str:
    """Settings as a file, with a line that says where they come from."""
    import yaml

    body = yaml.safe_dump({"version": 1, **settings}, sort_keys=False, allow_unicode=True, width=100)
    return f"# Converted from {one_line(source)}. docs/settings.md says what each key means.\n{body}"
