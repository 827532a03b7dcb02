"""`nl2sql-gate baseline`: look at the baseline, fetch it into a file, or push a file that was blessed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from nl2sql_gate.commands import bless, conclude, history
from nl2sql_gate.commands.against import store_of
from nl2sql_gate.commands.noise import known_noise
from nl2sql_gate.configuration import load, locate_baseline
from nl2sql_gate.errors import BaselineError, UsageError
from nl2sql_gate.github.event import read_event
from nl2sql_gate.judgement import value_of
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import baseline_bytes, read_run, write_file
from nl2sql_gate.settings import Settings


@click.group("baseline", help="Show, fetch or push the baseline.")
def command() -> None:
    """Work on the baseline as a thing of its own."""


@command.command("show", help="Say what stands as the baseline, how old it is, and what it was measured with.")
@click.argument("baseline", metavar="[BASELINE]", required=False)
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml.")
def show(*, baseline: str | None, config: str | None) -> int:
    """Print it."""
    settings, location = _located(baseline, config)
    run, chosen = _fetched(settings, location)
    facts, prints = _mapping(run.provenance, "facts"), _mapping(run.provenance, "fingerprint")
    lines = {
        "baseline": conclude.shown(location.removeprefix("file:")) + (f" ({chosen})" if chosen else ""),
        "made": f"{facts.get('created') or 'at an unknown time'} of {facts.get('commit') or 'an unknown commit'}",
        "cases": f"{len(run.cases)}{'' if run.complete else ', a partial run'}",
        settings.policy.primary: _share(run, settings.policy.primary),
        "model": str(_mapping(prints, "model").get("name") or _mapping(prints, "model").get("generator") or "unknown"),
        "engines": ", ".join(f"{name} {each.get('product', '')} {each.get('version', '')}" for name, each in _engines(prints)),
        "scorers": ", ".join(f"{name} {version}" for name, version in sorted(_mapping(prints, "scorers").items())),
        "verdict": str((run.verdict or {}).get("status", "none")),
        "accepted drop": str(_mapping(run.provenance, "blessed").get("accepted_drop", "")),
        "rescored": str(_mapping(run.provenance, "rescored").get("created", "")),
    }
    for name, value in lines.items():
        if value:
            click.echo(f"{name:<20}  {value}")
    noise = known_noise(settings.model_copy(update={"baseline": location}), run)
    if noise is not None:
        click.echo(f"{'noise':<20}  {noise.words(today=datetime.now(UTC).date())}")
    for point in history.trend(location, metric=settings.policy.primary):
        click.echo(f"{'history':<20}  {point.label}  {100 * point.value:.1f} % of {point.n}  {point.status}")
    return 0


@command.command("fetch", help="Write the baseline into a file.")
@click.argument("baseline", metavar="[BASELINE]", required=False)
@click.option("--to", required=True, metavar="FILE", help="The file to write.")
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml.")
def fetch(*, baseline: str | None, to: str, config: str | None) -> int:
    """Fetch it, read it, write it."""
    settings, location = _located(baseline, config)
    run, _ = _fetched(settings, location)
    write_file(Path(to), baseline_bytes(run))
    click.echo(f"fetched: {len(run.cases)} cases from {location.removeprefix('file:')} to {to}")
    return 0


@command.command("push", help="Store FILE, a baseline that was blessed, where the settings keep baselines.")
@click.argument("file", metavar="FILE")
@click.option("--to", metavar="BASELINE", help="Where to: file:, branch:, https:. The settings' if not given.")
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml.")
def push(*, file: str, to: str | None, config: str | None) -> int:
    """Store a blessed baseline elsewhere, or one that was rescored."""
    run = read_run(Path(file))
    settings, location = _located(to, config)
    if "blessed" not in run.provenance:
        raise UsageError(
            "only what was blessed can be pushed",
            where=[f"{file} was never made a baseline"],
            meaning="Nothing was written.",
            next_step=f"Bless it: nl2sql-gate bless {file}",
        )
    bless.refuse_place(read_event(os.environ))
    accepted = str(_mapping(run.provenance, "blessed").get("accepted_drop", ""))
    click.echo(f"pushed: {bless.promote(run, location, settings, accept_drop=accepted)}")
    return 0


def _located(given: str | None, config: str | None) -> tuple[Settings, str]:
    settings = load({}, config=config).settings
    location = locate_baseline(given, Path.cwd()) if given else settings.baseline
    if not location:
        raise UsageError(
            "no baseline is named",
            meaning="Nothing was done.",
            next_step="Name it, or set baseline: in nl2sql-gate.yml.",
        )
    return settings, location


def _fetched(settings: Settings, location: str) -> tuple[Run, str]:
    store = store_of(location, gate=settings.gate)
    content = store.fetch()
    if content is None:
        raise BaselineError(
            "there is no baseline yet",
            where=[location.removeprefix("file:")],
            meaning="A run would be the first.",
            next_step="Make one: nl2sql-gate bless nl2sql-gate-out/run.json",
        )
    return read_run(content, name=location.removeprefix("file:")), str(getattr(store, "chosen", ""))


def _share(run: Run, metric: str) -> str:
    values = [value for case in run.cases if (value := value_of(case, metric)) is not None]
    return f"{100 * sum(values) / len(values):.1f} % ({sum(values):g}/{len(values)})" if values else "nothing measured"


def _engines(prints: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, each) for name, each in sorted(_mapping(prints, "engines").items()) if isinstance(each, Mapping)]


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}
