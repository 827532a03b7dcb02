"""Tell people: the terminal, and in GitHub Actions job summary, outputs and annotations. None of it changes the verdict."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from nl2sql_gate.github.annotations import Annotation, annotation_commands
from nl2sql_gate.github.commands import add_masks
from nl2sql_gate.github.event import Event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.github.step_files import append_outputs, append_summary, room_in_summary
from nl2sql_gate.records import Place
from nl2sql_gate.reporters import markdown
from nl2sql_gate.reporters.findings import broke, wrong
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.terminal import TerminalReporter
from nl2sql_gate.settings import Settings

WIDTH = 120


def publish(report: Report, settings: Settings, *, event: Event | None, redactor: Redactor, code: int) -> None:
    """Print the report, and in Actions write summary, outputs and annotations."""
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 40)).columns) if sys.stdout.isatty() else WIDTH
    sys.stdout.write(redactor(TerminalReporter(width, color=color).render(report)))
    sys.stdout.flush()
    if event is None:
        return
    for line in (*add_masks(redactor.values()), *annotation_commands(annotated(report, redactor))):
        sys.stdout.write(line + "\n")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        text = markdown.summary(report, max_bytes=room_in_summary(Path(summary)))
        append_summary(Path(summary), redactor(text))
    output = os.environ.get("GITHUB_OUTPUT")
    if output:
        append_outputs(Path(output), outputs(report, settings, code=code))


def annotated(report: Report, redactor: Redactor) -> list[Annotation]:
    """The verdict, then the cases that broke, at the item's line of the dataset."""
    status = report.verdict.status
    level = {"pass": "notice", "fail": "error"}.get(status, "warning")
    said = "; ".join(reason.message for reason in report.verdict.reasons) or status
    found = [Annotation(level, redactor(said), f"nl2sql-gate {report.gate}: {status}")]  # type: ignore[arg-type]
    findings = broke(report) if report.comparison is not None else wrong(report)
    for finding in findings if status != "pass" else ():
        title = f"{finding.key.id} [{finding.key.dialect}]"
        found.append(Annotation("warning", redactor(finding.why), title, report.places.get(finding.key.id, Place())))
    return found


def outputs(report: Report, settings: Settings, *, code: int) -> dict[str, str | float | None]:
    """The action's outputs: scalars and paths only."""
    decided = report.verdict
    given: dict[str, str | float | None] = {
        "verdict": decided.status,
        "exit_code": code,
        "cases": len(report.head.cases),
        "measured": decided.coverage[report.primary].measured if report.primary in decided.coverage else 0,
    }
    if report.comparison is not None:
        primary = report.comparison.by(report.primary)
        given |= {"broke": len(primary.broke), "fixed": len(primary.fixed)}
    for name, figure in decided.accuracy.items():
        given[name] = round(figure.value, 6)
    for row in decided.rows:
        if row.kind == "metric" and row.delta is not None:
            given[f"{row.metric}_delta"] = round(row.delta, 6)
    out = Path(settings.out)
    shown = out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out
    return given | {
        "report_directory": str(shown),
        "run_file": str(shown / "run.json"),
        "summary_file": str(shown / "summary.md") if "markdown" in settings.report.formats else "",
    }
