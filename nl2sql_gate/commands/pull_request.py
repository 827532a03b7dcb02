"""Tell a pull request: one comment per gate, a check run where it is wanted, and files for whoever may comment later.

Whatever GitHub says to it becomes words. The verdict is there already, and nothing here changes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nl2sql_gate.github import checks, comment
from nl2sql_gate.github.annotations import Annotation
from nl2sql_gate.github.client import Client
from nl2sql_gate.github.comment_body import marker
from nl2sql_gate.github.event import Event
from nl2sql_gate.github.limits import CHECK_SUMMARY_BYTES, COMMENT_BYTES
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.reporters import markdown, wording
from nl2sql_gate.reporters.commenting import comment_action
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.runfile import write_file
from nl2sql_gate.settings import Settings

COMMENT_FILE = "comment.md"
EVENT_FILE = "pr.json"
LEG = "NL2SQL_GATE_LEG"
TOKEN = "GITHUB_TOKEN"  # noqa: S105 - a variable's name
_LEG_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a comment or a check run, in words for the log."""

    level: Literal["notice", "warning"]
    words: str


@dataclass(frozen=True, slots=True)
class Telling:
    """All that a pull request is told from: the report, who asks, and the exit code that stands already."""

    report: Report
    settings: Settings
    event: Event
    redactor: Redactor
    code: int
    annotations: tuple[Annotation, ...] = ()


def leg_of(text: str) -> str:
    """The name of a leg of a matrix: the values of the matrix's JSON object, or the text that is given instead."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return one_line(text, width=_LEG_WIDTH)
    if values is None:
        return ""
    listed = values.values() if isinstance(values, dict) else [values]
    words = (each if isinstance(each, str) else json.dumps(each, sort_keys=True) for each in listed)
    return one_line(" ".join(words), width=_LEG_WIDTH)


def named_leg(report: Report, leg: str) -> Report:
    """The report with the leg in the gate's name, so that sections of one comment can be told apart."""
    return replace(report, gate=f"{report.gate} ({leg})") if leg else report


def write_for_poster(telling: Telling | None, report: Report, settings: Settings, redactor: Redactor, *, leg: str = "") -> None:
    """`comment.md`, for any host and for the poster; `pr.json` with the event, where it is a pull request's.

    The poster believes nothing of `pr.json`: it is for people and programs of the same repository.
    """
    out = Path(settings.out)
    reporter = markdown.MarkdownReporter(COMMENT_BYTES, markdown.COMMENT_LEVELS)
    _write(out / COMMENT_FILE, f"{marker(report.gate)}\n{reporter.render(named_leg(report, leg))}", redactor)
    if telling is None or not telling.event.pull_request:
        (out / EVENT_FILE).unlink(missing_ok=True)
        return
    event = telling.event
    known: dict[str, str | int] = {
        "format": "nl2sql-gate/pr/v1",
        "gate": settings.gate,
        "leg": leg,
        "repository": event.repository,
        "pull_request": event.pull_request,
        "head_sha": event.head_sha,
        "base_sha": event.base_sha,
        "run_id": event.run_id,
        "run_attempt": event.run_attempt,
        "status": report.verdict.status,
        "exit_code": telling.code,
    }
    _write(out / EVENT_FILE, json.dumps(known, indent=2, ensure_ascii=False) + "\n", redactor)


def tell(telling: Telling, environ: Mapping[str, str]) -> Iterator[Told]:
    """Comment and check run, as the settings want them. Never raises for what GitHub does or says."""
    event, settings = telling.event, telling.settings
    wants_comment = bool(event.pull_request) and comment_action(telling.report, settings.report.comment) != "nothing"
    if not event.repository or not (wants_comment or settings.report.check_run):
        return
    token = environ.get(TOKEN, "")
    if not token:
        yield Told("warning", _without_token())
        return
    with closing(Client(event.repository, token, api_url=event.api_url)) as client:
        for wanted, step in ((wants_comment, _comment), (settings.report.check_run, _check)):
            if wanted:
                try:
                    yield step(client, telling, environ)
                except Exception as error:  # noqa: BLE001 - the verdict stands whatever goes wrong in telling it
                    yield Told("warning", f"the pull request could not be told: {type(error).__name__}: {error}")


def _comment(client: Client, telling: Telling, environ: Mapping[str, str]) -> Told:
    event, report = telling.event, telling.report
    leg = leg_of(environ.get(LEG, ""))
    shown = named_leg(report, leg)

    def render(earlier: tuple[str, ...], room: int) -> str:
        reporter = markdown.MarkdownReporter(room, markdown.COMMENT_LEVELS)
        return telling.redactor(reporter.render(replace(shown, earlier=earlier)))

    action = comment_action(report, telling.settings.report.comment)
    run = (_number(event.run_id), _number(event.run_attempt) or 1)
    message = comment.Message(render, report.verdict.status, event.head_sha, only_update=action == "update")
    posted = comment.post(client, event.pull_request, comment.Speaker(report.gate, run, leg), message)
    # A fork's token may never comment: that is how it is meant, and the poster comments instead.
    return Told("warning" if posted.failed and not event.lacks_secrets else "notice", posted.words)


def _check(client: Client, telling: Telling, environ: Mapping[str, str]) -> Told:
    event, report = telling.event, telling.report
    shown = named_leg(report, leg_of(environ.get(LEG, "")))
    text = markdown.MarkdownReporter(CHECK_SUMMARY_BYTES, markdown.COMMENT_LEVELS).render(shown)
    check = checks.Check(
        name=f"nl2sql-gate {shown.gate}",
        head_sha=event.head_sha,
        passed=telling.code == 0,
        title=telling.redactor(f"{wording.WORDS[report.verdict.status]}: {wording.headline(report)}"),
        summary=telling.redactor(text),
        details_url=event.run_url,
        annotations=telling.annotations,
    )
    published = checks.publish(client, check)
    return Told("warning" if published.failed and not event.lacks_secrets else "notice", published.words)


def _without_token() -> str:
    return (
        "there is no token, so the pull request is not told; the report is in the run's summary.\n"
        "The action takes the job's own token unless github_token: says otherwise; for the command line set GITHUB_TOKEN."
    )


def _write(path: Path, text: str, redactor: Redactor) -> None:
    write_file(path, redactor(text).encode("utf-8", "replace"))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
