"""`nl2sql-gate check`: audit the dataset before a model is paid for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import configuration, plugins
from nl2sql_gate.audit import auditor, rendering
from nl2sql_gate.audit.findings import GRAVITY, Finding
from nl2sql_gate.audit.waiving import read_waivers, waive
from nl2sql_gate.commands import databases, selection
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.evaluate import run_goldens
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.judge import Rules
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.protocols import Database
from nl2sql_gate.runfile import write_file
from nl2sql_gate.settings import Settings, secrets_in

RENDER = {"text": rendering.as_text, "json": rendering.as_json, "sarif": rendering.as_sarif}


@click.command("check", help="Audit the dataset: goldens run twice and under another light, ties, emptiness, disagreement.")
@run_options
@click.option(
    "--output-format", "form", type=click.Choice(list(RENDER)), default="text", show_default=True, help="Form of the findings."
)
@click.option("--output", metavar="FILE", help="Write the findings to FILE instead of the terminal.")
@click.option("--waive", "waivers", metavar="FILE", help="YAML list of {finding, item, reason}: findings that may stand.")
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "note"]), default="error", show_default=True, help="Exit 1 from here on."
)
@click.pass_obj
def command(  # noqa: PLR0913 - one argument an option
    redactor: Redactor,
    /,
    *,
    config: str | None,
    only: Sequence[str],
    shard: str | None,
    assignments: Sequence[str],
    form: str,
    output: str | None,
    waivers: str | None,
    fail_on: str,
    **flags: Any,
) -> int:
    """0 where nothing as grave as `--fail-on` is found that is not waived, else 1."""
    settings = configuration.load(flags, config=config, assignments=assignments).settings
    for secret in secrets_in(settings):
        redactor.add(secret)
    chosen = selection.select_cases(settings, only=only, shard=selection.Shard.parse(shard) if shard else None)
    found = findings(settings, chosen)
    if waivers:
        found = waive(found, read_waivers(Path(waivers)), path=Path(waivers))
    text = redactor(RENDER[form](found, items=len(chosen.items)))
    if output:
        write_file(Path(output), text.encode("utf-8", "replace"))
    else:
        click.echo(text, nl=False)
    return int(any(GRAVITY[finding.severity] >= GRAVITY[fail_on] for finding in found))


def findings(settings: Settings, chosen: selection.Selection) -> list[Finding]:
    """All findings about the chosen items, in every service of the run."""
    wanted = chosen.databases()
    sources = databases.read_sources(wanted, settings)
    workers = max(2, os.cpu_count() or 2)
    rules = Rules(settings.scoring.columns, settings.scoring.golden_mode, settings.scoring.state, clock=datetime.now(UTC))
    with (
        databases.open_services(wanted, settings, workers=workers, sources=sources) as opened,
        ThreadPoolExecutor(max_workers=workers, thread_name_prefix="audit") as executor,
    ):
        planned = selection.plan(chosen, opened, settings.model_copy(update={"trials": 1}))
        reversed_rows: dict[tuple[str, str], Database] = {}
        for (name, database), source in sources.items():
            other = auditor.in_reverse(source) if not databases.service_of(name, settings).existing else None
            if other is not None:
                reversed_rows[name, database] = opened[name].engine.provision(other)
        material = auditor.Material(
            dataset=chosen.dataset,
            items=chosen.items,
            planned=planned,
            goldens=run_goldens(planned, rules, executor=executor),
            schemas={
                (each.dialect, db): base.schema(sample_values=0)
                for each in opened.values()
                for db, base in each.databases.items()
            },
            prompts=PromptBuilder(settings.model.prompt),
            scorer=plugins.load("scorer", "execution_accuracy")(),
            reversed_rows=reversed_rows,
        )
        return auditor.audit(material, executor=executor)
