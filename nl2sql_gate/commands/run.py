"""`nl2sql-gate run`: the main job, from the settings to the exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import configuration, plugins, verdict
from nl2sql_gate.commands import against, conclude, credentials, databases, provenance, selection
from nl2sql_gate.commands.acceptance import read_acceptance
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.evaluate import Line, check_goldens, run_cases, run_goldens
from nl2sql_gate.github.event import Event, read_event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.judge import Planned, Rules
from nl2sql_gate.protocols import Generator, Scorer
from nl2sql_gate.records import CaseResult, Run, Schema, Warned
from nl2sql_gate.settings import Settings, secrets_in

PARTIAL = ("tag", "database", "query_type")
"""Flags that make a run a part of what the settings describe: it is compared on its part, and cannot become the baseline."""


@dataclass(frozen=True, slots=True)
class Job:
    """What stands before anything starts."""

    configuration: configuration.Configuration
    selection: selection.Selection
    generator: Generator
    scorers: tuple[Scorer, ...]
    event: Event | None
    started: datetime

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.configuration.settings


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
    loaded = configuration.load(flags, config=config, assignments=assignments)
    for secret in secrets_in(loaded.settings):
        redactor.add(secret)
    partial = bool(only) or any(flags.get(name) for name in PARTIAL)
    part = Part(
        tuple(only), selection.Shard.parse(shard) if shard else None, partial, narrowed=partial or bool(flags.get("dialect"))
    )
    with _terminated_as_interrupted():
        return run(loaded, redactor, part, started=started)


def run(loaded: configuration.Configuration, redactor: Redactor, part: Part, *, started: datetime) -> int:
    """The main job. Files first, comment next, the exit code last."""
    settings = loaded.settings
    event = read_event(os.environ)
    chosen = selection.select_cases(settings, only=part.only, partial=part.partial, shard=part.shard)
    scorers = tuple(plugins.load("scorer", name)() for name in settings.metrics)
    verdict.check_policy(settings.policy, chosen.items if not chosen.complete else chosen.dataset.items)
    compared = against.read_against(loaded)
    if part.narrowed or part.shard is not None:
        compared = compared.restricted({(item.id, name) for name, items in chosen.by_service.items() for item in items})
    if compared.baseline is None and settings.baseline:
        click.echo(compared.note, err=True)
    show_rows = _shows_rows(settings, chosen)
    given = read_acceptance(settings, event, items=chosen.dataset.items, baseline=compared.baseline)
    context = conclude.Context(settings, event, chosen.items, show_rows, given)
    missing = credentials.check_credentials(loaded, event)
    if missing is not None:
        return conclude.conclude_unasked(missing, chosen, scorers, compared, context, redactor)
    generator = _generator(settings, Path(settings.out))
    head = measure(Job(loaded, chosen, generator, scorers, event, started))
    return conclude.conclude(head, compared, context, redactor)


def _shows_rows(settings: Settings, chosen: selection.Selection) -> bool:
    """Rows of somebody's own database are nobody's business unless the settings say so."""
    if settings.report.show_rows is not None:
        return settings.report.show_rows
    return not any(databases.service_of(name, settings).existing for name in chosen.services)


def measure(job: Job) -> Run:
    """Start, provision, preflight, ask and judge: the run, not yet compared with anything."""
    from nl2sql_gate.generators.choice import finish, warnings_of
    from nl2sql_gate.prompt import PromptBuilder

    settings = job.settings
    prompts = PromptBuilder(settings.model.prompt)
    wanted = dict(job.selection.databases())
    if settings.reference:
        wanted.setdefault(settings.reference, frozenset(item.database for item in job.selection.items))
    sources = databases.read_sources(wanted, settings)
    workers = max(2, os.cpu_count() or 2)
    rules = Rules(settings.scoring.columns, settings.scoring.golden_mode, settings.scoring.state, clock=job.started)
    deadline = None if settings.limits.run_s is None else time.monotonic() + settings.limits.run_s
    with (
        databases.open_services(wanted, settings, workers=workers, sources=sources) as opened,
        _executor(workers) as executor,
    ):
        planned = selection.plan(job.selection, opened, settings)
        goldens = run_goldens(planned, rules, executor=executor)
        check_goldens(planned, goldens, max_errors=settings.limits.max_golden_errors)
        line = Line(
            generator=job.generator,
            scorers=job.scorers,
            prompts=prompts,
            schemas=_schemas(opened, settings),
            dsns={(name, db): base.dsn() for name, each in opened.items() for db, base in each.databases.items()},
            rules=rules,
            concurrency=settings.model.concurrency,
            deadline=deadline,
        )
        with conclude.progress(len(planned), settings) as progress:
            cases = asyncio.run(
                _ask(job.generator, planned, lambda: run_cases(planned, goldens, line, executor=executor, progress=progress))
            )
        prints = provenance.fingerprint(
            settings,
            job.selection,
            opened=opened,
            generator=job.generator,
            prompt_digest=prompts.digest,
            scorers=job.scorers,
            cases=cases,
        )
    if all(case.outcome != "unscored" for case in cases):
        # A run with gaps keeps its journal: the same command asks only for what is missing.
        finish(job.generator)
    facts = provenance.facts(settings, event=job.event, started=job.started, cases=cases)
    return Run(
        cases=cases,
        metrics=tuple(scorer.name for scorer in job.scorers),
        provenance={"fingerprint": prints, "facts": facts, **_shard(job.selection.shard)},
        warnings=(*job.selection.dataset.warnings, *warnings_of(job.generator), *_distinct(cases)),
        complete=job.selection.complete,
    )


async def _ask(generator: Generator, planned: Sequence[Planned], work: Callable[[], Any]) -> tuple[CaseResult, ...]:
    """One cheap call first: a refused key stops the run before any question is paid."""
    try:
        if planned:
            await generator.preflight()
        cases: tuple[CaseResult, ...] = await work()
        return cases
    finally:
        await generator.close()


def _generator(settings: Settings, out: Path) -> Generator:
    from nl2sql_gate.generators.choice import make_generator

    return make_generator(
        settings.model,
        load=partial(plugins.load, "generator"),
        replies=settings.replies,
        cache=settings.cache,
        journal=out / "replies.jsonl",
    )


def _schemas(opened: Mapping[str, databases.Opened], settings: Settings) -> dict[tuple[str, str], Schema]:
    schemas: dict[tuple[str, str], Schema] = {}
    for name, each in opened.items():
        given = settings.model.sample_values
        # Values of somebody's own database do not go to a model unless that is asked for.
        samples = given if given is not None else (0 if databases.service_of(name, settings).existing else 3)
        for database, base in each.databases.items():
            schemas[name, database] = base.schema(sample_values=samples)
    return schemas


def _shard(shard: selection.Shard | None) -> dict[str, Any]:
    return {} if shard is None else {"shard": {"index": shard.index, "count": shard.count, "items": list(shard.items)}}


def _distinct(cases: Sequence[CaseResult]) -> tuple[Warned, ...]:
    return tuple(dict.fromkeys(warned for case in cases for warned in case.warnings))


@contextmanager
def _executor(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for the databases. On the way out of an error nothing that waits is begun any more."""
    executor = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="database")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """A runner cancels a job by SIGTERM: stop servers and say so, exactly as for Ctrl-C."""
    previous = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
