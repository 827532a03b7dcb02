"""`nl2sql-gate post`: comment on a pull request that may not comment itself, from a workflow of the base repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import click

from nl2sql_gate.commands.publish import say
from nl2sql_gate.commands.pull_request import TOKEN, Told, leg_of
from nl2sql_gate.errors import UsageError
from nl2sql_gate.github import poster
from nl2sql_gate.github.client import Client
from nl2sql_gate.github.event import Event, read_event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.settings import Settings


@click.command("post", help="Comment for the run of a fork: run by a workflow_run workflow of the base repository.")
@click.option("--gate", metavar="NAME", default=Settings.model_fields["gate"].default, show_default=True, help="The gate's name.")
@click.option("--artifact", metavar="NAME", help="Artifact with comment.md; nl2sql-gate-<gate> where not given.")
@click.option("--leg", metavar="NAME", default="", help="Leg of a matrix whose artifact it is.")
@click.pass_obj
def command(redactor: Redactor, /, *, gate: str, artifact: str | None, leg: str) -> int:
    """Post; 0 also where GitHub or the artifact stood in the way, since no verdict hangs on it."""
    event, token, run = _circumstances(os.environ)
    with closing(Client(event.repository, token, api_url=event.api_url)) as client:
        posted = poster.post(client, run, gate=gate, artifact=artifact or f"nl2sql-gate-{gate}", leg=leg_of(leg))
    say(Told("warning" if posted.failed else "notice", posted.words), redactor)
    return 0


def _circumstances(environ: Mapping[str, str]) -> tuple[Event, str, poster.ForkRun]:
    event = read_event(environ)
    run = poster.fork_run(Path(environ.get("GITHUB_EVENT_PATH", "")))
    if event is None or event.name != "workflow_run" or run is None:
        raise UsageError(
            "there is no run to comment for",
            where=[f"the event is {event.name or 'unknown' if event else 'none: this is no workflow'}"],
            meaning="Nothing was posted.",
            next_step="Run it in a workflow with on: workflow_run, as nl2sql-gate init --forks writes it.",
        )
    token = environ.get(TOKEN, "")
    if not token:
        raise UsageError(
            "there is no token to comment with",
            meaning="Nothing was posted.",
            next_step="Give GITHUB_TOKEN, or the action's github_token, and the job permissions: pull-requests: write.",
        )
    return event, token, run
