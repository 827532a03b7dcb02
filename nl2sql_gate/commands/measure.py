"""From a plan to a run: servers started, databases built, goldens run, questions asked, replies judged.

One system is measured, or two beside each other over the same goldens and databases: the head of a change and its base.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from nl2sql_gate.commands import conclude, databases, provenance, selection
from nl2sql_gate.errors import EndpointError, Fault
from nl2sql_gate.evaluate import GoldenKey, Line, Side, check_goldens, run_goldens, run_sides
from nl2sql_gate.github.event import Event
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned, Rules
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.protocols import Generator, Scorer
from nl2sql_gate.records import CaseKey, CaseResult, Run, Schema, Warned
from nl2sql_gate.settings import Settings

Choose = Callable[[Sequence[Run]], Collection[CaseKey]]
"""Which cases to ask again, from the first answers of all systems."""


@dataclass(frozen=True, slots=True)
class System:
    """What is asked: a model with its prompt, by `settings` of its own. `facts` go into its run's provenance.

    `shift` is added to the numbers of its trials while it is asked, so that a system can be asked the same twice.
    """

    settings: Settings
    generator: Generator
    prompts: PromptBuilder
    facts: Mapping[str, Any] = field(default_factory=dict)
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """What stands before anything starts: the head, its base where that is asked too. `again` chooses what is asked once more."""

    systems: tuple[System, ...]
    selection: selection.Selection
    scorers: tuple[Scorer, ...]
    event: Event | None
    started: datetime
    again: Choose | None = None

    @property
    def settings(self) -> Settings:
        """The settings of the run: all but the model of every system."""
        return self.systems[0].settings


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of every system, and one of what all were asked once more; `again` is empty where there was nothing to ask."""

    first: tuple[Run, ...]
    again: tuple[Run, ...] = ()

    @property
    def head(self) -> Run:
        """The run that is judged."""
        return self.first[0]


@dataclass(frozen=True, slots=True)
class Bench:
    """Databases that are up, with the plan and its goldens."""

    opened: Mapping[str, databases.Opened]
    executor: ThreadPoolExecutor
    planned: Sequence[Planned]
    goldens: Mapping[GoldenKey, Golden | Fault]
    rules: Rules
    deadline: float | None
    warnings: tuple[Warned, ...] = ()


def measure(job: Job, bench: Bench) -> Measured:
    """The runs, not yet compared with anything."""
    from nl2sql_gate.generators.choice import finish

    measured = asyncio.run(_Asking(job, bench).everything())
    if all(case.outcome != "unscored" for run in (*measured.first, *measured.again) for case in run.cases):
        # A run with gaps keeps its journal: the same command asks only for what is missing.
        for generator in _distinct(system.generator for system in job.systems):
            finish(generator)
    return measured


@contextmanager
def open_bench(settings: Settings, chosen: selection.Selection) -> Iterator[Bench]:
    """Databases, plan and golden answers of `chosen`. Raises `DatasetError` where golden SQL fails too often."""
    with start_bench(settings, chosen) as ready:
        yield ready()


@contextmanager
def start_bench(settings: Settings, chosen: selection.Selection) -> Iterator[Callable[[], Bench]]:
    """As `open_bench`, but without waiting for the servers: what it yields waits for them, and runs the goldens."""
    wanted = dict(chosen.databases())
    if settings.reference:
        wanted.setdefault(settings.reference, frozenset(item.database for item in chosen.items))
    sources = databases.read_sources(wanted, settings)
    workers = max(2, os.cpu_count() or 2)
    scoring = settings.scoring
    rules = Rules(scoring.columns, scoring.golden_mode, scoring.state, clock=datetime.now(UTC))
    deadline = None if settings.limits.run_s is None else time.monotonic() + settings.limits.run_s
    odd = tuple(dict.fromkeys(warned for source in sources.values() for warned in source.warnings))
    with (
        databases.start_services(wanted, settings, workers=workers, sources=sources) as started,
        _executor(workers) as executor,
    ):

        def ready() -> Bench:
            opened = started()
            planned = selection.plan(chosen, opened, settings)
            goldens = run_goldens(planned, rules, executor=executor)
            check_goldens(planned, goldens, max_errors=settings.limits.max_golden_errors)
            return Bench(opened, executor, planned, goldens, rules, deadline, odd)

        yield ready


class _Asking:
    """One run's questions, asked of all its systems."""

    def __init__(self, job: Job, bench: Bench) -> None:
        self._job = job
        self._bench = bench
        self._lines = [self._line(system) for system in job.systems]

    async def everything(self) -> Measured:
        """One cheap call to each first: a refused key stops the run before any question is paid."""
        job = self._job
        async with AsyncExitStack() as stack:
            for generator in _distinct(system.generator for system in job.systems):
                stack.push_async_callback(generator.close)
                if self._bench.planned:
                    await self._preflight(generator)
            first = await self._ask(self._bench.planned)
            keys = job.again(first) if job.again is not None else ()
            questions = {key[:3] for key in keys}
            chosen = [case for case in self._bench.planned if case.key[:3] in questions]
            if not chosen:
                return Measured(first)
            # Trials of their own numbers: neither a cache nor a journal gives the answers that are to be confirmed.
            fresh = await self._ask([_later(case, job.settings.trials) for case in chosen])
        return Measured(first, fresh)

    async def _preflight(self, generator: Generator) -> None:
        deadline = self._bench.deadline
        try:
            async with asyncio.timeout(None if deadline is None else max(0.0, deadline - time.monotonic())):
                await generator.preflight()
        except TimeoutError as error:
            raise EndpointError(
                "the model endpoint does not answer",
                where=["the deadline of the run (limits.run_s) came before the answer to the first call"],
                meaning="No question was asked, so nothing can be said about the change.",
                next_step="Run again when the endpoint is well, or raise limits.run_s.",
            ) from error

    async def _ask(self, planned: Sequence[Planned]) -> tuple[Run, ...]:
        systems, bench = self._job.systems, self._bench
        sides = [
            Side([_later(case, system.shift) for case in planned], line)
            for system, line in zip(systems, self._lines, strict=True)
        ]
        with conclude.progress(len(planned) * len(sides), self._job.settings) as progress:
            found = await run_sides(sides, bench.goldens, executor=bench.executor, progress=progress)
        whole = planned is bench.planned
        return tuple(self._run(system, cases, whole=whole) for system, cases in zip(systems, found, strict=True))

    def _line(self, system: System) -> Line:
        bench = self._bench
        return Line(
            generator=system.generator,
            scorers=self._job.scorers,
            prompts=system.prompts,
            schemas=_schemas(bench.opened, system.settings),
            dsns={(name, db): found.dsn() for name, each in bench.opened.items() for db, found in each.databases.items()},
            rules=bench.rules,
            concurrency=self._job.settings.model.concurrency,
            deadline=bench.deadline,
        )

    def _run(self, system: System, cases: tuple[CaseResult, ...], *, whole: bool) -> Run:
        from nl2sql_gate.generators.choice import warnings_of

        job = self._job
        prints = provenance.fingerprint(
            system.settings,
            job.selection,
            opened=self._bench.opened,
            generator=system.generator,
            prompt_digest=system.prompts.digest,
            scorers=job.scorers,
            cases=cases,
        )
        facts = provenance.facts(system.settings, event=job.event, started=job.started, cases=cases)
        return Run(
            cases=tuple(_earlier(case, system.shift) for case in cases),
            metrics=tuple(scorer.name for scorer in job.scorers),
            provenance={"fingerprint": prints, "facts": {**facts, **system.facts}, **_shard(job.selection.shard)},
            warnings=(*job.selection.dataset.warnings, *self._bench.warnings, *warnings_of(system.generator), *_said(cases)),
            complete=job.selection.complete and whole,
        )


def _later(case: Planned, shift: int) -> Planned:
    return replace(case, key=case.key._replace(trial=case.key.trial + shift)) if shift else case


def _earlier(case: CaseResult, shift: int) -> CaseResult:
    return replace(case, key=case.key._replace(trial=case.key.trial - shift)) if shift else case


def _distinct(generators: Iterator[Generator]) -> list[Generator]:
    """Each generator once: two systems may share one."""
    return list({id(generator): generator for generator in generators}.values())


def _schemas(opened: Mapping[str, databases.Opened], settings: Settings) -> dict[tuple[str, str], Schema]:
    schemas: dict[tuple[str, str], Schema] = {}
    for name, each in opened.items():
        given = settings.model.sample_values
        # Values of somebody's own database do not go to a model unless that is asked for.
        samples = given if given is not None else (0 if databases.service_of(name, settings).existing else 3)
        for database, found in each.databases.items():
            schemas[name, database] = found.schema(sample_values=samples)
    return schemas


def _shard(shard: selection.Shard | None) -> dict[str, Any]:
    return {} if shard is None else {"shard": {"index": shard.index, "count": shard.count, "items": list(shard.items)}}


def _said(cases: Sequence[CaseResult]) -> tuple[Warned, ...]:
    return tuple(dict.fromkeys(warned for case in cases for warned in case.warnings))


@contextmanager
def _executor(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for the databases. On the way out of an error nothing that waits is begun any more."""
    executor = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="database")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
