"""The end of a run: compare, decide, write the files, tell, and give the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nl2sql_gate import plugins
from nl2sql_gate.commands import bless, credentials, history
from nl2sql_gate.commands.acceptance import Acceptance, read_acceptance
from nl2sql_gate.commands.advice import age_days, hints
from nl2sql_gate.commands.against import Against
from nl2sql_gate.commands.databases import service_of
from nl2sql_gate.commands.selection import Selection
from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.event import Event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.judgement import Comparison, Verdict
from nl2sql_gate.protocols import Scorer
from nl2sql_gate.records import Item, Place, Run
from nl2sql_gate.reporters.report import Links, Report, Reproduction
from nl2sql_gate.reporters.row_hiding import without_rows
from nl2sql_gate.runfile import redact_run, write_baseline, write_file, write_run
from nl2sql_gate.settings import Settings
from nl2sql_gate.waivers import idle_error

FILES = {"markdown": "summary.md", "html": "report.html", "json": "report.json", "junit": "junit.xml"}


@dataclass(frozen=True, slots=True)
class Context:
    """What the end of a run knows beside the run: settings, where it runs, the items behind the cases, and what was accepted.

    Without `show_rows` the settings and the services of the run's cases decide.
    """

    settings: Settings
    event: Event | None = None
    items: Sequence[Item] = ()
    show_rows: bool | None = None
    acceptance: Acceptance | None = None


def conclude(head: Run, against: Against, context: Context, redactor: Redactor) -> int:
    """Judge `head`, write all files to `out`, publish, and return the exit code.

    Raises `SettingsError` for waivers that match nothing any more: last, when the files are written and the report is out.
    """
    from nl2sql_gate.commands.judging import judge
    from nl2sql_gate.commands.publish import publish

    settings = context.settings
    # Before anything is compared, shortened or shown: of half a secret nobody would know that it is one.
    head, against = redact_run(head, redactor), redacted(against, redactor)
    judged = judge(head, against, settings, context.acceptance or read_acceptance(settings, context.event))
    judged = replace(judged, verdict=credentials.excused(judged.verdict, head))
    judged = replace(judged, head=replace(judged.head, verdict=judged.verdict.to_json()))
    lines = [judged.noise.words(today=datetime.now(UTC).date())] if judged.noise else []
    told = [f"waivers that match nothing: {', '.join(map(str, judged.idle))}"] if judged.idle else []
    told += [said] if (said := first_baseline(judged.head, against, context)) else []
    report = make_report(judged.head, against, judged.comparison, judged.verdict, context)
    report = replace(report, provenance=(*report.provenance, *lines), hints=(*told, *report.hints))
    write_files(report, judged.head, settings, redactor)
    write_sides(against, settings, redactor)
    code = UsageError.exit_code if judged.idle else exit_code(judged.verdict, settings)
    publish(report, settings, event=context.event, redactor=redactor, code=code)
    if judged.idle:
        raise idle_error(judged.idle)
    return code


def redacted(against: Against, redactor: Redactor) -> Against:
    """What the head is compared with, without secrets."""

    def clean(run: Run | None) -> Run | None:
        return None if run is None else redact_run(run, redactor)

    return replace(
        against,
        baseline=clean(against.baseline),
        anchor=clean(against.anchor),
        head_again=clean(against.head_again),
        base_again=clean(against.base_again),
    )


def first_baseline(head: Run, against: Against, context: Context) -> str:
    """What `on_missing_baseline: bless` did, in words; empty where there is nothing to do."""
    settings = context.settings
    if settings.policy.on_missing_baseline != "bless" or not settings.baseline or against.baseline or against.beside:
        return ""
    try:
        if context.event is None:
            return "not made the baseline: on_missing_baseline: bless acts on the default branch in GitHub Actions only"
        bless.refuse_place(context.event)
        bless.refuse(head, accept_drop=None)
        return f"made the first baseline: {bless.promote(head, settings.baseline, settings)}"
    except UsageError as error:
        return f"not made the baseline: {'; '.join((error.what, *error.where))}"


def conclude_unasked(
    words: str, chosen: Selection, scorers: Sequence[Scorer], against: Against, context: Context, redactor: Redactor
) -> int:
    """A run that asked nothing, for want of credentials: reports are written, and say so."""
    from nl2sql_gate import verdict
    from nl2sql_gate.commands.publish import publish

    decided = verdict.without_run("no_credentials", words)
    names = tuple(scorer.name for scorer in scorers)
    head = Run((), names, {"fingerprint": {}, "facts": {}}, chosen.dataset.warnings, complete=False, verdict=decided.to_json())
    report = make_report(head, against, None, decided, context)
    write_files(report, head, context.settings, redactor)
    code = exit_code(decided, context.settings)
    publish(report, context.settings, event=context.event, redactor=redactor, code=code)
    return code


def exit_code(decided: Verdict, settings: Settings) -> int:
    """The exit code of a verdict by the policy."""
    from nl2sql_gate import verdict

    return verdict.exit_code(decided, settings.policy)


def make_report(head: Run, against: Against, comparison: Comparison | None, decided: Verdict, context: Context) -> Report:
    """The material of all reporters, without rows where they may not be shown."""
    settings = context.settings
    required = {*settings.policy.required.ids}
    required |= {case.key.id for case in head.cases if set(case.tags) & set(settings.policy.required.tags)}
    report = Report(
        head=head,
        verdict=decided,
        comparison=comparison,
        baseline=against.baseline,
        gate=settings.gate,
        primary=settings.policy.primary,
        provenance=tuple(provenance_lines(head, against)),
        hints=tuple(hints(decided, head, against, settings, shown=shown)),
        links=Links(run=context.event.run_url, source=context.event.source_url) if context.event else Links(),
        reproduction=reproduction(settings),
        history=history.trend(settings.baseline, metric=settings.policy.primary),
        required=frozenset(required),
        places={item.id: shown_place(item.place) for item in context.items},
        show_rows=shows_rows(settings, {case.key.dialect for case in head.cases})
        if context.show_rows is None
        else context.show_rows,
    )
    return report if report.show_rows else without_rows(report)


def shows_rows(settings: Settings, services: Iterable[str]) -> bool:
    """Whether rows are shown: those of somebody's own database are nobody's business unless the settings say so."""
    if settings.report.show_rows is not None:
        return settings.report.show_rows
    return not any(service_of(name, settings).existing for name in services)


def shown_place(place: Place) -> Place:
    """The place relative to the workspace, as annotations and links need it; outside Actions, to the working folder."""
    try:
        return Place(str(Path(place.file).relative_to(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())), place.line)
    except ValueError:
        return place


def provenance_lines(head: Run, against: Against) -> list[str]:
    """Where the figures come from, as finished lines."""
    prints, facts = head.provenance.get("fingerprint", {}), head.provenance.get("facts", {})
    engines = [
        f"{name}: {engine['product']} {engine['version']} ({engine['way']})"
        for name, engine in _mapping(prints, "engines").items()
        if isinstance(engine, Mapping) and {"product", "version", "way"} <= set(engine)
    ]
    lines = [against.note if against.beside else f"{against.note}{_age(against.baseline, head)}"]
    if against.head_again is not None:
        count = len({case.key[:3] for case in against.head_again.cases})
        both = "both sides: the fresh answers decide" if against.base_again else "the head alone: shown, and decides nothing"
        lines.append(f"{count} question{'s' if count > 1 else ''} that changed asked again of {both}")
    lines += [", ".join(engines)] if engines else []
    model = _mapping(prints, "model")
    names = model.get("served")
    served = ", ".join(map(str, names if isinstance(names, list | tuple) else ())) or str(model.get("name", ""))
    of = len(head.cases) if facts.get("no_credentials") else facts.get("asked", 0)
    replayed = f"{facts.get('replayed', 0)} of {of} replies replayed"
    lines.append(f"model: {model.get('generator', '')} {served}".rstrip() + f", {replayed}")
    return lines


def _age(baseline: Run | None, head: Run) -> str:
    if baseline is None:
        return ""
    made = _mapping(baseline.provenance, "facts")
    commit = f" of {str(made['commit'])[:8]}" if made.get("commit") else ""
    days = age_days(baseline, head)
    if days is None:
        return f"{commit}, of unknown age"
    return f"{commit}, newer than this run" if days < 0 else f"{commit}, {days} day{'' if days == 1 else 's'} old"


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def reproduction(settings: Settings) -> Reproduction:
    """The command that answers one case again from the run's own replies."""
    import shlex

    # A report of a run that was made elsewhere knows of no dataset: then the settings file there does.
    config = ["--dataset", shown(settings.dataset)] if settings.dataset else []
    config += ["--setup-directory", shown(settings.setup_directory)] if settings.setup_directory else []
    # Recorded replies stay where they are; those of a model lie in the folder of the run.
    recorded = settings.replies if settings.replies and not settings.model.base_url else None
    words = ["run", *config, "--replies", shown(recorded) if recorded else f"{shown(settings.out)}/replies.jsonl"]
    # A folder of its own, so that the run stays whole; always the same, so that no report depends on where it lies.
    line = shlex.join([*words, "--out", REPRODUCED])
    return Reproduction(local=f"nl2sql-gate {line}", docker=f'docker run --rm -v "$PWD:/work" -w /work {IMAGE} {line}')


REPRODUCED = "nl2sql-gate-reproduced"
IMAGE = "ghcr.io/nl2sql-gate/nl2sql-gate:1"


def shown(path: str) -> str:
    """The path relative to the working directory, where it lies below it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path


def write_files(report: Report, head: Run, settings: Settings, redactor: Redactor) -> None:
    """`run.json`, `baseline.json` and the report in every format asked for; each is there whole or not at all.

    `head` is the run as it was measured: `run.json` is the team's own, and what the report hides stands there.
    """
    out = Path(settings.out)
    write_run(head, out / "run.json", redact=redactor)
    write_baseline(head, out / "baseline.json", redact=redactor)
    for name in settings.report.formats:
        text = plugins.load("reporter", name)().render(report)
        write_file(out / FILES[name], redactor(text).encode("utf-8", "replace"))


def write_sides(against: Against, settings: Settings, redactor: Redactor) -> None:
    """The base that was asked beside the head, and what was asked once more; files of an earlier run would only mislead."""
    found = {
        "base.json": against.baseline if against.beside else None,
        "again.json": against.head_again,
        "base-again.json": against.base_again,
    }
    for name, run in found.items():
        path = Path(settings.out) / name
        if run is None:
            path.unlink(missing_ok=True)
        else:
            write_run(run, path, redact=redactor)


def progress(total: int, settings: Settings) -> Any:
    """A bar on a terminal, a line now and then in a log."""
    from nl2sql_gate.reporters.progress import Progress

    interactive = sys.stderr.isatty() and not os.environ.get("CI")
    return Progress(total, sys.stderr, interactive=interactive, metric=settings.policy.primary)
