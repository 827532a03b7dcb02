"""`nl2sql-gate rescore`: the stored SQL of a run or baseline under today's scorers and databases, without asking the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import __version__, configuration
from nl2sql_gate.commands import conclude, provenance, selection
from nl2sql_gate.commands.measure import Bench, open_bench
from nl2sql_gate.commands.run_flags import run_options
from nl2sql_gate.commands.scoring import make_scorers
from nl2sql_gate.errors import Fault, UsageError
from nl2sql_gate.evaluate import settled
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned, Rules, judge_sql, wrong
from nl2sql_gate.judgement import value_of
from nl2sql_gate.protocols import Scorer
from nl2sql_gate.records import CaseKey, CaseResult, Reason, Run, Warned
from nl2sql_gate.runfile import baseline_bytes, read_run, run_bytes, write_file
from nl2sql_gate.settings import Settings, secrets_in

SHOWN = 20


@click.command("rescore", help="Score the stored SQL of RUN as today's scorers and databases do; the model is not asked.")
@click.argument("run", metavar="RUN")
@click.option("--to", metavar="FILE", help="Where to write the run; rescored.json in the output folder where not given.")
@run_options
@click.pass_obj
def command(
    redactor: Redactor,
    /,
    *,
    run: str,
    to: str | None,
    config: str | None,
    only: Sequence[str],
    shard: str | None,
    assignments: Sequence[str],
    **flags: Any,
) -> int:
    """Run and score; 0 where a run was written."""
    stored = read_run(Path(run))
    if only or shard:
        raise UsageError(
            "a part of a run cannot be rescored",
            where=["--only and --shard leave cases out"],
            meaning="Later runs would be compared with the part. Nothing was written.",
            next_step="Rescore the whole run.",
        )
    settings = configuration.load(flags, config=config, assignments=assignments).settings
    for secret in secrets_in(settings):
        redactor.add(secret)
    found = rescored(stored, settings)
    place = Path(to) if to else Path(settings.out) / "rescored.json"
    is_baseline = not any(case.reply or case.question for case in stored.cases)
    content = baseline_bytes(found, redact=redactor) if is_baseline else run_bytes(found, redact=redactor)
    write_file(place, content)
    _tell(stored, found, settings.policy.primary, place)
    return 0


def rescored(stored: Run, settings: Settings) -> Run:
    """`stored` as it would have been scored today: its SQL and timings of the model, everything else of now.

    Its verdict stays what it was, so that a run which failed does not become fit for a baseline by being scored again.
    Raises `UsageError` where the dataset and the run have no case in common.
    """
    scorers = make_scorers(settings)
    trials = max((case.key.trial for case in stored.cases), default=1)
    settings = settings.model_copy(update={"trials": trials})
    chosen = selection.select_cases(settings)
    known = {case.key: case for case in stored.cases}
    with open_bench(settings, chosen) as bench:
        planned = [case for case in bench.planned if case.key in known]
        if not planned:
            raise _foreign(known, bench)
        scoring = _Scoring(bench, scorers, bench.rules)
        cases = tuple(bench.executor.map(lambda case: scoring.of(case, known[case.key]), planned))
        prints = provenance.fingerprint_of_judging(settings, chosen, opened=bench.opened, scorers=scorers)
    old = stored.provenance.get("fingerprint", {})
    kept = {name: old[name] for name in ("model", "prompt") if name in old}
    lost = set(known) - {each.key for each in planned}
    present = {item.id for item in chosen.dataset.items}
    # What a filter leaves out makes the run a part; what left the dataset does not.
    filtered = any(key.id in present for key in lost)
    now = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "tool_version": __version__}
    return Run(
        cases=cases,
        metrics=tuple(scorer.name for scorer in scorers),
        provenance={**stored.provenance, "fingerprint": {**prints, **kept}, "rescored": now},
        warnings=(*chosen.dataset.warnings, *_changes(known, cases), *_lost([key for key in known if key in lost])),
        complete=stored.complete and not filtered,
        verdict=stored.verdict,
    )


@dataclass(frozen=True, slots=True)
class _Scoring:
    """Stored SQL against today's goldens."""

    bench: Bench
    scorers: Sequence[Scorer]
    rules: Rules

    def of(self, planned: Planned, stored: CaseResult) -> CaseResult:
        """One case: scored again, or why it cannot be."""
        golden: Golden | Fault = self.bench.goldens[planned.key.id, planned.key.dialect]
        fixed = settled(planned, golden)
        if fixed is not None or isinstance(golden, Fault):
            return _with_stored(fixed or planned.result("unscored"), stored)
        asked = _with_stored(planned.result("answered"), stored)
        if stored.question and stored.question != planned.item.question:
            return replace(asked, outcome="skipped", reason=Reason("question_changed", "the stored SQL answers another question"))
        if stored.outcome == "no_sql":
            return wrong(asked, "no_sql", stored.reason or Reason("no_sql", "the reply held no SQL"), self.scorers)
        if not stored.sql:
            why = f"there is no stored SQL: the case was {stored.outcome.replace('_', ' ')}"
            return replace(asked, outcome="unscored", reason=Reason("never_answered", why))
        return judge_sql(planned, replace(asked, warnings=golden.warnings), golden, scorers=self.scorers, rules=self.rules)


def _with_stored(case: CaseResult, stored: CaseResult) -> CaseResult:
    """`case` with what the model did, as it is stored."""
    names = ("sql", "reply", "rule", "latency_s", "tokens_in", "tokens_out", "cost", "model", "replayed")
    return replace(case, **{name: getattr(stored, name) for name in names})


def _changes(known: Mapping[CaseKey, CaseResult], cases: Sequence[CaseResult]) -> list[Warned]:
    """Items that are not what they were when the SQL was written. Where only golden SQL was repaired that is what is wanted."""
    ids = dict.fromkeys(case.key.id for case in cases if known[case.key].digest != case.digest and case.outcome != "skipped")
    if not ids:
        return []
    named = ", ".join(list(ids)[:SHOWN]) + (f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else "")
    words = f"{len(ids)} items or their data changed since; their SQL was written for what they were: {named}"
    return [Warned("items_changed", words)]


def _lost(keys: Sequence[CaseKey]) -> list[Warned]:
    ids = list(dict.fromkeys(key.id for key in keys))
    named = ", ".join(ids[:SHOWN])
    return [Warned("items_gone", f"{len(ids)} items are no longer selected from the dataset: {named}")] if ids else []


def _tell(stored: Run, found: Run, metric: str, place: Path) -> None:
    old = {case.key: value_of(case, metric) for case in stored.cases}
    moved = [case.key for case in found.cases if old[case.key] != value_of(case, metric)]
    shares = f"{_share(stored, metric)} → {_share(found, metric)}"
    click.echo(f"rescored {len(found.cases)} of {len(stored.cases)} cases by {metric}: {shares}")
    for key in moved[:SHOWN]:
        case = next(case for case in found.cases if case.key == key)
        why = f" ({case.reason.message})" if case.reason and case.reason.message else ""
        click.echo(f"  {key.id} [{key.dialect}] {_word(old[key])} → {_word(value_of(case, metric))}{why}")
    if len(moved) > SHOWN:
        click.echo(f"  and {len(moved) - SHOWN} more")
    counts = Counter(case.outcome for case in found.cases if case.outcome in {"unscored", "skipped", "golden_error"})
    for outcome, count in sorted(counts.items()):
        click.echo(f"  {count} {outcome.replace('_', ' ')}")
    for warned in found.warnings:
        if warned.code in {"items_changed", "items_gone"}:
            click.echo(f"warning: {warned.message}", err=True)
    click.echo(f"written {conclude.shown(str(place))}")


def _share(run: Run, metric: str) -> str:
    values = [value for case in run.cases if (value := value_of(case, metric)) is not None]
    return f"{100 * sum(values) / len(values):.1f} % ({sum(values):g}/{len(values)})" if values else "nothing measured"


def _word(value: float | None) -> str:
    return "no value" if value is None else f"{value:g}"


def _foreign(known: Mapping[CaseKey, CaseResult], bench: Bench) -> UsageError:
    return UsageError(
        "the run and the dataset have no case in common",
        where=[
            f"in the run: {', '.join(f'{key.id} [{key.dialect}]' for key in list(known)[:3])} …",
            f"in the dataset: {', '.join(f'{case.key.id} [{case.key.dialect}]' for case in bench.planned[:3])} …",
        ],
        meaning="There is nothing to score. Nothing was written.",
        next_step="Give the dataset that the run was made with.",
    )
