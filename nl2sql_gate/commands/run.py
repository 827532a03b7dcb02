"""`nl2sql-gate run`: the main job, from the settings to the exit code."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import configuration
from nl2sql_gate.commands import against, beside, conclude, credentials, selection
from nl2sql_gate.commands.acceptance import read_acceptance
from nl2sql_gate.commands.masking import mask
from nl2sql_gate.commands.measure import Job, Measured, measure, start_bench
from nl2sql_gate.commands.noise import known_noise
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.commands.scoring import make_scorers
from nl2sql_gate.configuration import Configuration
from nl2sql_gate.github.checkout import guard
from nl2sql_gate.github.event import read_event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.interrupts import as_interrupt
from nl2sql_gate.policy_names import check_policy
from nl2sql_gate.records import CaseKey, Run
from nl2sql_gate.settings import Settings, secrets_in

PARTIAL = ("tag", "database", "query_type")
"""Flags that make a run a part of what the settings describe: it is compared on its part, and cannot become the baseline."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of the whole a run is: named items, a shard, or what filter flags leave. `narrowed` by a flag of any kind."""

    only: tuple[str, ...] = ()
    shard: selection.Shard | None = None
    partial: bool = False
    narrowed: bool = False


@click.command("run", help="Ask, run, score, compare, decide, report: the whole gate.")
@run_options
@click.pass_obj
def command(
    redactor: Redactor,
    /,
    config: str | None,
    only: Sequence[str],
    shard: str | None,
    assignments: Sequence[str],
    **flags: Any,
) -> int:
    """Run the gate; the exit code is the verdict's."""
    started = datetime.now(UTC)
    # Before the settings are read: they, too, would be the fork's.
    guard(read_event(os.environ), os.environ, Path.cwd())
    loaded = configuration.load(flags, config=config, assignments=assignments)
    for secret in secrets_in(loaded.settings):
        redactor.add(secret)
    mask(redactor)
    filtered = bool(only) or any(flags.get(name) for name in PARTIAL)
    part = Part(
        tuple(only), selection.Shard.parse(shard) if shard else None, filtered, narrowed=filtered or bool(flags.get("dialect"))
    )
    reload = partial(_load_in, flags, config, tuple(assignments))
    with _terminated_as_interrupted():
        return run(loaded, redactor, part, reload=reload, started=started)


def _load_in(flags: Mapping[str, Any], config: str | None, assignments: Sequence[str], folder: Path) -> Configuration:
    """The settings of this command line, as they are in `folder`."""
    here = Path.cwd()
    inside = config is not None and Path(config).is_relative_to(here)
    shown = str(Path(config).relative_to(here)) if config is not None and inside else config
    return configuration.load(flags, config=shown, assignments=assignments, folder=folder)


def run(loaded: Configuration, redactor: Redactor, part: Part, *, reload: beside.Reload, started: datetime) -> int:
    """The main job. Files first, comment next, the exit code last."""
    settings = loaded.settings
    event = read_event(os.environ)
    chosen = selection.select_cases(settings, only=part.only, partial=part.partial, shard=part.shard)
    scorers = make_scorers(settings)
    check_policy(settings.policy, chosen.items if not chosen.complete else chosen.dataset.items)
    compared = against.read_against(loaded)
    if part.narrowed or part.shard is not None:
        compared = compared.restricted({(item.id, name) for name, items in chosen.by_service.items() for item in items})
    known_noise(settings, compared.baseline)  # A file that cannot be read is said now, not after everything is paid.
    given = read_acceptance(settings, event, items=chosen.dataset.items, baseline=compared.baseline)
    context = conclude.Context(settings, event, chosen.items, conclude.shows_rows(settings, chosen.services), given)
    missing = credentials.check_credentials(loaded, event)
    if missing is not None and not credentials.can_replay(settings):
        return conclude.conclude_unasked(missing, chosen, scorers, compared, context, redactor)
    # Servers start while the libraries that ask a model are loaded.
    with start_bench(settings, chosen) as ready, _base(loaded, compared, reload, offline=missing or "") as base:
        if base is not None:
            for secret in secrets_in(base.system.settings):
                redactor.add(secret)
            mask(redactor)
            compared = replace(compared, note=f"compared with {base.words}")
        elif settings.baseline and compared.baseline is None:
            compared = replace(compared, note=_first_run(compared, settings))
            click.echo(compared.note, err=True)
        head = beside.head_system(settings, shared=base is not None and base.shares, offline=missing or "")
        systems = (head,) if base is None else (head, base.system)
        recorded = any(beside.is_recorded(system.settings) for system in systems)
        again = partial(_changed, compared, settings) if settings.policy.confirm and not recorded else None
        measured = measure(Job(systems, chosen, scorers, event, started, again), ready())
    return conclude.conclude(measured.head, _with_answers(compared, measured), context, redactor)


def _with_answers(compared: against.Against, measured: Measured) -> against.Against:
    """What there is to compare with, now that the base was asked and some things were asked again."""
    _, base, *_ = *measured.first, None
    head_again, base_again, *_ = *measured.again, None, None
    return replace(compared, baseline=base or compared.baseline, head_again=head_again, base_again=base_again)


def _base(
    loaded: Configuration, compared: against.Against, reload: beside.Reload, *, offline: str
) -> AbstractContextManager[beside.Beside | None]:
    return beside.base_system(loaded, reload, offline=offline) if compared.beside else nullcontext()


def _first_run(compared: against.Against, settings: Settings) -> str:
    if compared.beside:
        return f"{settings.baseline} has no settings of this gate yet: this is the first run"
    return compared.note


def _changed(compared: against.Against, settings: Settings, runs: Sequence[Run]) -> tuple[CaseKey, ...]:
    from nl2sql_gate import compare

    head, baseline, *_ = *runs, compared.baseline
    return () if baseline is None else compare.to_ask_again(compare.pair(head, baseline), settings.policy.primary)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """A runner cancels a job by SIGTERM: stop servers and say so, exactly as for Ctrl-C."""
    previous = signal.signal(signal.SIGTERM, as_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
