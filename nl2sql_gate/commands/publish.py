"""Tell people: the terminal, and in GitHub Actions job summary, outputs, annotations and the pull request.

None of it changes the verdict.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from nl2sql_gate.commands.masking import in_actions, mask
from nl2sql_gate.commands.pull_request import COMMENT_FILE, LEG, Telling, Told, leg_of, named_leg, tell, write_for_poster
from nl2sql_gate.errors import GateError
from nl2sql_gate.github.annotations import Annotation, annotation_commands
from nl2sql_gate.github.commands import command, quoted
from nl2sql_gate.github.event import Event
from nl2sql_gate.github.outputs import metric_outputs
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.github.step_files import append_outputs, append_summary, room_in_summary
from nl2sql_gate.github.untrusted import fence, prose
from nl2sql_gate.records import Place
from nl2sql_gate.reporters import markdown
from nl2sql_gate.reporters.findings import broke, wrong
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.terminal import TerminalReporter
from nl2sql_gate.settings import Settings

WIDTH = 120
_FILES = {"summary_file": ("markdown", "summary.md"), "html_file": ("html", "report.html")}
_FILES |= {"json_file": ("json", "report.json"), "junit_file": ("junit", "junit.xml")}


def publish(report: Report, settings: Settings, *, event: Event | None, redactor: Redactor, code: int) -> None:
    """Print the report, and in Actions write summary and outputs, and tell the pull request. `code` is the exit code to come."""
    mask(redactor)
    print_report(report, redactor)
    annotations = tuple(annotated(report, redactor))
    telling = Telling(report, settings, event, redactor, code, annotations) if event is not None else None
    write_for_poster(telling, report, settings, redactor, leg=leg_of(os.environ.get(LEG, "")))
    if telling is None:
        return
    for line in annotation_commands(annotations):
        sys.stdout.write(line + "\n")
    _write_summary(report, redactor)
    output = os.environ.get("GITHUB_OUTPUT")
    if output:
        written = append_outputs(Path(output), outputs(report, settings, code=code))
        if not written:
            say(Told("warning", "the step's outputs cannot be written: later steps see none of them"), redactor)
    # Flushed: the pull request may take its time, and whoever watches the log has the verdict meanwhile.
    sys.stdout.flush()
    for told in tell(telling, os.environ):
        say(told, redactor)


def publish_error(error: GateError, redactor: Redactor) -> None:
    """Where there is no report: an annotation, and a summary with the message in four parts. Outside Actions nothing."""
    if not in_actions(os.environ):
        return
    text = redactor(str(error))
    sys.stdout.write(command("error", text, title="nl2sql-gate: no verdict") + "\n")
    sys.stdout.flush()
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        what, _, rest = text.partition("\n")
        heading = f"### ⚪ NL2SQL gate · no verdict · {prose(what, width=200)}"
        append_summary(Path(path), f"{heading}\n\n{fence(rest, 'text')}" if rest.strip() else heading)
    output = Path(os.environ.get("GITHUB_OUTPUT") or os.devnull)
    # A report may have been published before: then its outputs stand.
    if output.is_file() and os.access(output, os.R_OK) and "\nverdict<<" not in f"\n{output.read_text(errors='replace')}":
        append_outputs(output, {"verdict": "no_verdict", "exit_code": error.exit_code})


def publish_cancelled() -> None:
    """A note in the summary that the run was cancelled. The comment stays: the run that took its place brings it up to date."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if in_actions(os.environ) and path:
        append_summary(Path(path), "### ⚪ NL2SQL gate · cancelled\n\nThe run was cancelled before its end; nothing was judged.")


def print_report(report: Report, redactor: Redactor) -> None:
    """The report on the terminal. A runner is told to take no command from it: models and databases wrote parts of it."""
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 40)).columns) if sys.stdout.isatty() else WIDTH
    text = redactor(TerminalReporter(width, color=color).render(report))
    sys.stdout.write(quoted(text.rstrip("\n")) + "\n" if in_actions(os.environ) else text)
    sys.stdout.flush()


def annotated(report: Report, redactor: Redactor) -> list[Annotation]:
    """The verdict, then the cases that broke, at the item's line of the dataset."""
    status = report.verdict.status
    level = {"pass": "notice", "fail": "error"}.get(status, "warning")
    said = "; ".join(reason.message for reason in report.verdict.reasons) or status
    found = [Annotation(level, redactor(said), f"nl2sql-gate {report.gate}: {status}")]  # type: ignore[arg-type]
    findings = broke(report) if report.comparison is not None else wrong(report)
    for finding in findings if status != "pass" else ():
        title = redactor(f"{finding.key.id} [{finding.key.dialect}]")
        found.append(Annotation("warning", redactor(finding.why), title, report.places.get(finding.key.id, Place())))
    return found


def outputs(report: Report, settings: Settings, *, code: int) -> dict[str, str | float | None]:
    """The action's outputs: scalars, paths, and the metrics once more as one JSON object."""
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
    deltas = {row.metric: row.delta for row in decided.rows if row.kind == "metric" and row.delta is not None}
    given |= metric_outputs({name: figure.value for name, figure in decided.accuracy.items()}, deltas)
    out = Path(settings.out)
    shown = _shown(out)
    formats = settings.report.formats
    files = {name: str(shown / file) if kind in formats else "" for name, (kind, file) in _FILES.items()}
    fixed = {"report_directory": str(shown), "run_file": str(shown / "run.json"), "comment_file": str(shown / COMMENT_FILE)}
    return given | fixed | files


def _shown(path: Path) -> Path:
    """The path relative to the workspace, where later steps of the job look for it."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    return path.relative_to(workspace) if path.is_relative_to(workspace) else path


def _write_summary(report: Report, redactor: Redactor) -> None:
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    shown = named_leg(report, leg_of(os.environ.get(LEG, "")))
    text = redactor(markdown.summary(shown, max_bytes=room_in_summary(Path(path))))
    if not append_summary(Path(path), text):
        say(
            Told("warning", "the step's summary is full already or cannot be written, so the report is only in its files"),
            redactor,
        )


def say(told: Told, redactor: Redactor) -> None:
    """A line in the log; in Actions a warning is an annotation, and no command is taken from what others said."""
    words = redactor(told.words)
    if told.level == "warning" and in_actions(os.environ):
        sys.stdout.write(command("warning", words, title="nl2sql-gate") + "\n")
    else:
        sys.stdout.write(quoted(words) + "\n" if in_actions(os.environ) else words + "\n")
    sys.stdout.flush()
