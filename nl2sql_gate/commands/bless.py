"""`nl2sql-gate bless`: make a run the baseline. Only a complete run that passed, or a drop that somebody accepts by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nl2sql_gate.commands.against import store_of
from nl2sql_gate.configuration import load
from nl2sql_gate.errors import UsageError
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import baseline_bytes, read_run

HARMLESS = frozenset({"no_baseline"})
"""Reasons for no verdict with which a first baseline is made: there is nothing yet to compare with."""


@click.command("bless", help="Make RUN the baseline.")
@click.argument("run", metavar="RUN")
@click.option("--to", metavar="BASELINE", help="Where to: a file, or file:, branch:. The settings' baseline where not given.")
@click.option(
    "--accept-drop", metavar="REASON", help="Bless a run that failed only by a drop; the reason is kept in the baseline."
)
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml.")
def command(*, run: str, to: str | None, accept_drop: str | None, config: str | None) -> int:
    """Check, then write."""
    head = read_run(Path(run))
    refuse(head, accept_drop=accept_drop)
    location = to or load({}, config=config).settings.baseline
    if not location:
        raise UsageError(
            "there is no place for the baseline",
            meaning="Nothing was written.",
            next_step="Give --to FILE, or set baseline: in nl2sql-gate.yml.",
        )
    store = store_of(location)
    check_kept(store.fetch(), head, accept_drop=accept_drop)
    facts = head.provenance.get("facts", {})
    blessed = replace(head, provenance={**head.provenance, "blessed": {"accepted_drop": accept_drop or ""}})
    message = f"Bless {facts.get('gate', 'nl2sql')} at {str(facts.get('commit', ''))[:12] or 'an unknown commit'}"
    where = store.store(baseline_bytes(blessed), message=f"{message}\n\n{accept_drop}" if accept_drop else message)
    click.echo(f"blessed: {len(head.cases)} cases now stand as the baseline in {where}")
    return 0


def refuse(head: Run, *, accept_drop: str | None) -> None:
    """Raise `UsageError` where `head` must not become a baseline, with the reason."""
    decided: dict[str, Any] = dict(head.verdict or {})
    reasons = [str(reason.get("message", reason.get("code"))) for reason in decided.get("reasons", ())]
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
        return
    if not status:
        raise _refused("it holds no verdict", ["only a run.json that `nl2sql-gate run` finished can be blessed"])
    raise _refused(f"its verdict is {status}", reasons)


def check_kept(old: bytes | None, head: Run, *, accept_drop: str | None) -> None:
    """Raise `UsageError` where the baseline that stands there covers services that `head` leaves out."""
    if old is None or accept_drop:
        return
    before = {case.key.dialect for case in read_run(old, name="the baseline that stands there").cases}
    lost = sorted(before - {case.key.dialect for case in head.cases})
    if lost:
        raise _refused("the baseline that stands there covers more", [f"not in this run: {', '.join(lost)}"])


def _refused(why: str, where: list[str]) -> UsageError:
    return UsageError(
        f"this run cannot become the baseline: {why}",
        where=where,
        meaning="Later runs would be compared with it, so what it lacks could never be missed. Nothing was written.",
        next_step="Bless a complete run that passes; a drop that is meant: --accept-drop REASON.",
    )
