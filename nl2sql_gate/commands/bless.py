"""`nl2sql-gate bless`: make a run the baseline. Only a complete run that passed, or a drop that somebody accepts by name."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nl2sql_gate.commands import history
from nl2sql_gate.commands.against import store_of
from nl2sql_gate.configuration import load
from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.event import Event, read_event
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import baseline_bytes, read_run
from nl2sql_gate.settings import Settings

NO_DROP = ("floor_", "required_", "budget_")
"""How the codes of causes begin that no accepted drop explains."""

HARMLESS = frozenset({"no_baseline"})
"""Reasons for no verdict with which a first baseline is made: there is nothing yet to compare with."""


@click.command("bless", help="Make RUN the baseline.")
@click.argument("run", metavar="RUN")
@click.option("--to", metavar="BASELINE", help="Where to: a file, or file:, branch:, https:. The settings' if not given.")
@click.option(
    "--accept-drop", metavar="REASON", help="Bless a run that failed only by a drop; the reason is kept in the baseline."
)
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml.")
def command(*, run: str, to: str | None, accept_drop: str | None, config: str | None) -> int:
    """Check, then write."""
    head = read_run(Path(run))
    refuse(head, accept_drop=accept_drop)
    refuse_place(read_event(os.environ))
    settings = load({}, config=config).settings
    location = to or settings.baseline
    if not location:
        raise UsageError(
            "there is no place for the baseline",
            meaning="Nothing was written.",
            next_step="Give --to FILE, or set baseline: in nl2sql-gate.yml.",
        )
    click.echo(f"blessed: {promote(head, location, settings, accept_drop=accept_drop)}")
    return 0


def promote(head: Run, location: str, settings: Settings, *, accept_drop: str | None = None) -> str:
    """Store `head` as the baseline and add it to the history; in words what stands where now.

    What may be blessed is checked before, by `refuse`; here only that nothing which the old baseline covers gets lost.
    """
    facts = head.provenance.get("facts", {})
    gate = str(facts.get("gate") or settings.gate)
    store = store_of(location, gate=gate)
    check_kept(store.fetch(), head, accept_drop=accept_drop)
    blessed = replace(head, provenance={**head.provenance, "blessed": {"accepted_drop": accept_drop or ""}})
    message = f"Bless {gate} at {str(facts.get('commit', ''))[:12] or 'an unknown commit'}"
    where = store.store(baseline_bytes(blessed), message=f"{message}\n\n{accept_drop}" if accept_drop else message)
    metric = settings.policy.primary if settings.policy.primary in head.metrics else next(iter(head.metrics), "")
    history.append(blessed, location, metric=metric, accepted_drop=accept_drop or "")
    return f"{len(head.cases)} cases now stand as the baseline in {where}"


def refuse(head: Run, *, accept_drop: str | None) -> None:
    """Raise `UsageError` where `head` must not become a baseline, with the reason."""
    decided: dict[str, Any] = dict(head.verdict or {})
    reasons = [str(reason.get("message") or reason.get("code")) for reason in decided.get("reasons", ())]
    codes = {str(reason.get("code")) for reason in decided.get("reasons", ())}
    if "shard" in head.provenance:
        raise _refused("it is one shard", ["join all shards first: nl2sql-gate merge RUN…"])
    if not head.complete:
        raise _refused("it is a partial run", ["a filtered, sharded or interrupted run leaves cases out"])
    if not head.cases or not any(case.scores for case in head.cases):
        raise _refused("nothing was measured in it", reasons)
    status = decided.get("status")
    first = status == "no_verdict" and codes and codes <= HARMLESS
    if status == "pass" or first:
        return
    if accept_drop and status in {"fail", "undecided"}:
        # A drop may be meant; a floor that is missed or a required item that breaks says that the policy no longer is.
        others = [code for code in (str(cause[0]) for cause in decided.get("causes", ())) if code.startswith(NO_DROP)]
        if not others:
            return
        raise _refused(
            "it failed by more than a drop", reasons, step="Correct the policy first: --accept-drop accepts drops only."
        )
    if not status:
        raise _refused("it holds no verdict", ["only a run.json that `nl2sql-gate run` finished can be blessed"])
    raise _refused(f"its verdict is {status}", reasons)


def refuse_place(event: Event | None) -> None:
    """Raise `UsageError` in a workflow that does not run on the default branch: a change must not judge by itself."""
    if event is None or event.on_default_branch:
        return
    branch, default = event.head_ref or "an unknown branch", event.default_branch or "unknown"
    raise _refused(
        "this workflow does not run on the default branch",
        [f"event {event.name} on {branch}; the default branch is {default}"],
    )


def check_kept(old: bytes | None, head: Run, *, accept_drop: str | None) -> None:
    """Raise `UsageError` where the baseline that stands there covers services that `head` leaves out."""
    if old is None or accept_drop:
        return
    before = {case.key.dialect for case in read_run(old, name="the baseline that stands there").cases}
    lost = sorted(before - {case.key.dialect for case in head.cases})
    if lost:
        raise _refused("the baseline that stands there covers more", [f"not in this run: {', '.join(lost)}"])


def _refused(why: str, where: list[str], *, step: str = "") -> UsageError:
    return UsageError(
        f"this run cannot become the baseline: {why}",
        where=where,
        meaning="Later runs would be compared with it, so what it lacks could never be missed. Nothing was written.",
        next_step=step or "Bless a complete run that passes; a drop that is meant: --accept-drop REASON.",
    )
