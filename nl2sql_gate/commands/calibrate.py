"""`nl2sql-gate calibrate`: the same build measured several times at once, to know its noise before a change is judged by it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import compare, configuration, verdict
from nl2sql_gate.calibration import Calibration, Unstable, calibrate, unstable
from nl2sql_gate.commands import beside, conclude, credentials, history, noise, selection
from nl2sql_gate.commands.acceptance import Acceptance
from nl2sql_gate.commands.against import Against, read_against
from nl2sql_gate.commands.judging import judge
from nl2sql_gate.commands.measure import Job, System, measure, open_bench
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.commands.scoring import make_scorers
from nl2sql_gate.configuration import Configuration
from nl2sql_gate.errors import NoVerdictError, UsageError
from nl2sql_gate.github.event import read_event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import read_run, write_baseline, write_run
from nl2sql_gate.settings import Policy, Settings, secrets_in

MOST_TIMES = 20
DAYS = 90


@click.command("calibrate", help="Measure the same build several times at once: churn, false alarms, items that are coins.")
@click.argument("runs", metavar="[RUN]…", nargs=-1)
@click.option("--times", default=2, show_default=True, help=f"How often everything is asked, 2 to {MOST_TIMES}.")
@click.option("--days", default=DAYS, show_default=True, help="How long an unstable item stays in quarantine.")
@click.option("--to", metavar="FILE", help="Write there instead of beside the baseline, or the dataset.")
@run_options
@click.pass_obj
def command(  # noqa: PLR0913 - as many options
    redactor: Redactor,
    /,
    *,
    runs: Sequence[str],
    times: int,
    days: int,
    to: str | None,
    config: str | None,
    only: Sequence[str],
    shard: str | None,
    assignments: Sequence[str],
    **flags: Any,
) -> int:
    """Ask, compare the runs with each other, write what differs. RUN are earlier runs of the same build, as evidence."""
    started = datetime.now(UTC)
    if only or shard:
        raise _refused("--only and --shard leave items out", "Calibrate on the whole dataset, or on one that filters: select.")
    if not 2 <= times <= MOST_TIMES:  # noqa: PLR2004 - one run says nothing about noise
        raise _refused(f"--times {times}", f"Ask 2 to {MOST_TIMES} times.")
    loaded = configuration.load(flags, config=config, assignments=assignments)
    for secret in secrets_in(loaded.settings):
        redactor.add(secret)
    earlier = [read_run(Path(name)) for name in runs]
    found = _measured(loaded, times=times, started=started)
    known = _noise(found, loaded.settings, earlier=earlier, days=days)
    place = Path(to) if to else noise.noise_place(loaded.settings)
    noise.write_noise(known, place, gate=loaded.settings.gate)
    _write_runs(found, known, loaded, redactor)
    _tell(known, found[0], loaded.settings, place)
    return 0


def _measured(loaded: Configuration, *, times: int, started: datetime) -> tuple[Run, ...]:
    settings, event = loaded.settings, read_event(os.environ)
    if beside.is_recorded(settings):
        raise _refused("recorded replies are the same each time", "Calibrate with the model itself.")
    missing = credentials.check_credentials(loaded, event)
    if missing is not None:
        raise NoVerdictError(missing, meaning="Nothing was measured.", next_step="Calibrate on the default branch.")
    chosen = selection.select_cases(settings)
    scorers = make_scorers(settings)
    head = beside.head_system(settings)
    with open_bench(settings, chosen) as bench:
        return measure(Job(_systems(head, times), chosen, scorers, event, started), bench).first


def _systems(head: System, times: int) -> tuple[System, ...]:
    """One system under as many names, each with trial numbers of its own, so that a cache cannot answer twice alike."""
    trials = head.settings.trials
    return tuple(replace(head, shift=number * trials, facts={"repeat": f"{number + 1} of {times}"}) for number in range(times))


def _noise(found: Sequence[Run], settings: Settings, *, earlier: Sequence[Run], days: int) -> noise.Noise:
    calibrations: list[Calibration] = [
        calibrate(compare.pair(second, first), settings.policy) for first, second in pairwise(found)
    ]
    metric = settings.policy.primary
    evidence = [*history.runs(settings.baseline, metric=metric), *map(_comparable, (*earlier, *found))]
    coins: Sequence[Unstable] = unstable(evidence, metric, expiry=(datetime.now(UTC) + timedelta(days=days)).date())
    return noise.noise_of(calibrations, coins, runs=len(found), head=found[0])


def _comparable(run: Run) -> Run:
    """The run with its fingerprint as the history keeps it."""
    return replace(run, provenance={**run.provenance, "fingerprint": {"digest": history.fingerprint_digest(run)}})


def _write_runs(found: Sequence[Run], known: noise.Noise, loaded: Configuration, redactor: Redactor) -> None:
    """The first run with its verdict, so that it can be blessed, and the others as evidence for a later calibration."""
    out = Path(loaded.settings.out)
    against = read_against(loaded)
    accepted = Acceptance(today=datetime.now(UTC).date())
    judged = judge(found[0], Against() if against.beside else against, loaded.settings, accepted)
    head = noise.carrying(judged.head, known)
    write_run(head, out / "run.json", redact=redactor)
    write_baseline(head, out / "baseline.json", redact=redactor)
    for number, run in enumerate(found[1:], start=2):
        write_run(run, out / f"repeat-{number}.json", redact=redactor)


def _tell(known: noise.Noise, head: Run, settings: Settings, place: Path) -> None:
    shown = conclude.shown(str(place))
    flipped = f": {', '.join(known.flipped[:20])}" if known.flipped else ""
    click.echo(f"{known.runs} runs of one build, {known.items} items, {known.metric}")
    click.echo(f"churn         {100 * known.churn:.1f} %, {len(known.flipped)} items flipped{flipped}")
    click.echo(f"false alarms  {100 * known.false_alarms:.1f} % by this policy, at alpha {100 * settings.policy.alpha:g} %")
    evidence = verdict.Evidence(churn=known.churn)
    decided = verdict.decide(compare.pair(head, head), head, _quiet(settings.policy), evidence=evidence)
    provable = next((row.provable for row in decided.rows if row.provable is not None), None)
    could = (
        f"a drop of {100 * provable:.1f} points, four times in five" if provable and provable < 1 else "no drop on so few items"
    )
    click.echo(f"could prove   {could}")
    for entry in known.unstable:
        passes, trials = entry.counts()
        asked = f"{entry.question.id} [{entry.question.dialect}]"
        click.echo(f"quarantined   {asked}: passed {passes} of {trials}, until {entry.expiry}")
    if not known.unstable:
        click.echo("quarantined   none; an item is called unstable by at least three verdicts (--times, or earlier runs as RUN)")
    click.echo(f"written       {shown}; baselines blessed from now on carry it")


def _quiet(policy: Policy) -> Policy:
    """The policy without floors, slices and required items: only what could be seen is asked for here."""
    return Policy(primary=policy.primary, alpha=policy.alpha, min_drop=policy.min_drop, cluster=policy.cluster)


def _refused(why: str, step: str) -> UsageError:
    return UsageError("this cannot calibrate the gate", where=[why], meaning="Nothing was asked.", next_step=step)
