"""`nl2sql-gate report`: the report of a run once more, in any format."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from nl2sql_gate import configuration, plugins
from nl2sql_gate.commands import conclude
from nl2sql_gate.commands.against import Against
from nl2sql_gate.commands.judging import judge_as_before
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.reporters.terminal import TerminalReporter
from nl2sql_gate.runfile import read_run, write_file


@click.command("report", help="Render the report of RUN again.")
@click.argument("run", metavar="RUN")
@click.option(
    "--format", "name", default="terminal", show_default=True, help="terminal, markdown, html, json, junit or a plugin's."
)
@click.option("--baseline", metavar="FILE", help="Run or baseline to compare with.")
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml; its policy decides.")
@click.option("--output", metavar="FILE", help="Write to FILE instead of the terminal.")
@click.pass_obj
def command(redactor: Redactor, /, *, run: str, name: str, baseline: str | None, config: str | None, output: str | None) -> int:
    """Render; always 0, since the verdict was given when the run ended."""
    head = read_run(Path(run))
    metrics = [f"metrics=[{', '.join(head.metrics)}]"] if head.metrics else []
    settings = configuration.load({}, config=config, assignments=metrics).settings
    against = Against(read_run(Path(baseline)), None, f"compared with {baseline}") if baseline else Against()
    judged = judge_as_before(head, against, settings)
    report = conclude.make_report(judged.head, against, judged.comparison, judged.verdict, conclude.Context(settings))
    reporter = TerminalReporter() if name == "terminal" else plugins.load("reporter", name)()
    text = redactor(reporter.render(report))
    if output:
        write_file(Path(output), text.encode("utf-8", "replace"))
    else:
        sys.stdout.write(text)
    return 0
