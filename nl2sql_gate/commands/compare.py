"""`nl2sql-gate compare`: two runs that are there already, compared and decided."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nl2sql_gate import configuration
from nl2sql_gate.commands import conclude
from nl2sql_gate.commands.against import Against
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.runfile import read_run


@click.command("compare", help="Compare run HEAD with BASELINE and decide; both are run or baseline files.")
@click.argument("head", metavar="HEAD")
@click.argument("baseline", metavar="BASELINE")
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml; its policy decides.")
@click.option("--anchor", metavar="FILE", help="A second, pinned baseline, judged by non-inferiority.")
@click.option("--out", metavar="PATH", help="Folder for the report.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting, e.g. policy.alpha=0.01.")
@click.pass_obj
def command(
    redactor: Redactor,
    /,
    *,
    head: str,
    baseline: str,
    config: str | None,
    anchor: str | None,
    out: str | None,
    assignments: Sequence[str],
) -> int:
    """Compare, decide and report; the exit code is the verdict's."""
    new = read_run(Path(head))
    metrics = [f"metrics=[{', '.join(new.metrics)}]"] if new.metrics else []
    loaded = configuration.load({"out": out}, config=config, assignments=[*metrics, *assignments])
    against = Against(read_run(Path(baseline)), read_run(Path(anchor)) if anchor else None, f"compared with {baseline}")
    return conclude.conclude(new, against, conclude.Context(loaded.settings), redactor)
