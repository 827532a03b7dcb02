"""Compare a run with what it is compared with, leave out what was accepted, and decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nl2sql_gate import compare, verdict
from nl2sql_gate.commands.acceptance import Acceptance, accept
from nl2sql_gate.commands.against import Against
from nl2sql_gate.commands.noise import Noise, carrying, known_noise
from nl2sql_gate.judgement import Comparison, Exclusion, Verdict
from nl2sql_gate.records import CaseKey, CaseResult, Run
from nl2sql_gate.settings import Policy, Settings
from nl2sql_gate.waivers import Waiver


@dataclass(frozen=True, slots=True)
class Judged:
    """The head with its verdict, and what led to it. `idle` are waivers that match nothing any more."""

    head: Run
    verdict: Verdict
    comparison: Comparison | None = None
    idle: tuple[Waiver, ...] = ()
    noise: Noise | None = None


def judge(head: Run, against: Against, settings: Settings, given: Acceptance) -> Judged:
    """The verdict on `head`. Raises `SettingsError` for a trailer that names nothing, and for a policy about nothing."""
    noise = known_noise(settings, against.baseline)
    comparison = informing = None
    idle: tuple[Waiver, ...] = ()
    if against.baseline is not None:
        compared, informing = _confirmed(head, against, against.baseline, settings)
        unstable = noise.unstable if noise else ()
        metric = settings.policy.primary
        accepted = accept(compared, given, metric=metric, compared=(head, against.baseline), unstable=unstable)
        comparison, idle = accepted.comparison, accepted.idle
    evidence = verdict.Evidence(
        anchor=compare.pair(head, against.anchor) if against.anchor is not None else None,
        churn=noise.churn if noise else None,
        informing=informing,
        informing_name="first answers" if against.base_again is not None else "asked again",
    )
    part, policy = _of_shard(head, settings.policy) if "shard" in head.provenance else (head, settings.policy)
    decided = verdict.decide(comparison, part, policy, evidence=evidence)
    if against.base_again is not None:
        decided = _by_fresh_answers(decided)
    return Judged(carrying(replace(head, verdict=decided.to_json()), noise), decided, comparison, idle, noise)


def _by_fresh_answers(decided: Verdict) -> Verdict:
    """The accuracies as the confirmed comparison has them: beside its difference, those of the first answers would contradict."""
    confirmed = {row.metric: row.head for row in decided.rows if row.kind == "metric" and row.head is not None}
    return replace(decided, accuracy={**decided.accuracy, **confirmed})


def judge_as_before(head: Run, against: Against, settings: Settings) -> Judged:
    """The verdict on a run that ended, with what was left out of it then: waivers, trailers and labels were read at that time."""
    noise = known_noise(settings, against.baseline)
    comparison = compare.pair(head, against.baseline) if against.baseline is not None else None
    if comparison is not None:
        comparison = replace(comparison, excluded=tuple(_excluded(head)))
    evidence = verdict.Evidence(churn=noise.churn if noise else None)
    decided = verdict.decide(comparison, head, settings.policy, evidence=evidence)
    return Judged(replace(head, verdict=decided.to_json()), decided, comparison, noise=noise)


def _excluded(head: Run) -> Iterator[Exclusion]:
    listed = (head.verdict or {}).get("excluded")
    for entry in listed if isinstance(listed, list | tuple) else ():
        try:
            key = CaseKey(str(entry["id"]), str(entry["dialect"]), str(entry["database"]), int(entry["trial"]))
            said = {name: str(entry.get(name, "")) for name in ("reason", "expiry", "link", "evidence")}
            yield Exclusion(key, entry["kind"], **said)
        except (KeyError, TypeError, ValueError):
            # A file that somebody wrote by hand: what cannot be read leaves nothing out.
            continue


def _confirmed(head: Run, against: Against, baseline: Run, settings: Settings) -> tuple[Comparison, Comparison | None]:
    """The comparison that decides, and one that only informs.

    Where both sides were asked again, what changed is judged by the fresh answers alone; with a stored baseline the head's fresh
    answers decide nothing, since asking one side again would favour it.
    """
    first = compare.pair(head, baseline)
    if against.head_again is None:
        return first, None
    if against.base_again is not None:
        return compare.confirm(first, compare.pair(against.head_again, against.base_again), settings.policy.primary), first
    again = replace(against.head_again, cases=tuple(_renumbered(case, settings.trials) for case in against.head_again.cases))
    questions = {case.key[:3] for case in again.cases}
    asked = replace(baseline, cases=tuple(case for case in baseline.cases if case.key[:3] in questions))
    return first, compare.pair(again, asked)


def _renumbered(case: CaseResult, trials: int) -> CaseResult:
    return replace(case, key=case.key._replace(trial=case.key.trial - trials))


def _of_shard(head: Run, policy: Policy) -> tuple[Run, Policy]:
    """A shard is asked only what its own items can answer; `merge` asks the whole."""
    here = {case.key.id for case in head.cases}
    ids = tuple(name for name in policy.required.ids if name in here)
    return replace(head, complete=False), policy.model_copy(update={"required": policy.required.model_copy(update={"ids": ids})})
