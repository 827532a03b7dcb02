"""Pair two runs case by case: what broke, what was fixed, what cannot be compared and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nl2sql_gate import fingerprint
from nl2sql_gate.errors import BaselineError, DatasetError
from nl2sql_gate.judgement import PASSING, Comparison, Difference, MetricComparison, Pair, should_have_value
from nl2sql_gate.records import CaseKey, CaseResult, Reason, Run, Score

_Question = tuple[str, str, str]


def pair(head: Run, baseline: Run) -> Comparison:
    """The head's cases against the baseline's, by case key and digest, in the head's order.

    What differs in the fingerprints is found first: scorers of two versions, and scores under other scoring settings, are not
    compared; cases on another product are not paired. Nothing paired makes the comparison `incomparable`, with the reason.
    Raises `DatasetError` or `BaselineError` where a run has two cases of one key.
    """
    new, old = _by_key(head, DatasetError), _by_key(baseline, BaselineError)
    prints = _fingerprint(baseline), _fingerprint(head)
    differences = [*fingerprint.differences(*prints), *_unsaid_versions(head, baseline), *_partial(head, baseline)]
    replaced = fingerprint.replaced_products(*prints)
    shared = [Pair(key, old[key], case) for key, case in new.items() if key in old]
    pairs, changed, golden, skipped = _sort(shared, replaced)
    asked = _questions(new) & _questions(old)
    lone = {key for key in new.keys() ^ old.keys() if _question(key) in asked}
    arrived = [Pair(key, None, case) for key, case in new.items() if key not in old and key not in lone]
    gone = [Pair(key, case, None) for key, case in old.items() if key not in new and key not in lone]
    refused = [difference for difference in differences if difference.severity == "refuse"]
    names = [name for name in head.metrics if name in baseline.metrics]
    return Comparison(
        pairs=tuple(pairs),
        metrics={name: _by_metric(name, pairs, refused) for name in names},
        changed=tuple(changed),
        new=tuple(arrived),
        removed=tuple(gone),
        golden_errors=tuple(golden),
        skipped=tuple(skipped),
        lone_trials=len(lone),
        head_cases=sum(map(should_have_value, head.cases)),
        baseline_cases=sum(map(should_have_value, baseline.cases)),
        paired_share=_paired_share(pairs, baseline),
        differences=tuple(differences),
        incomparable=_incomparable(pairs, names, changed=changed, head=head, baseline=baseline),
    )


def to_ask_again(comparison: Comparison, metric: str) -> tuple[CaseKey, ...]:
    """The cases whose value changed in either direction: what a confirmation asks again, of both sides."""
    return tuple(both.key for both in comparison.pairs if None not in (values := both.values(metric)) and values[0] != values[1])


def confirm(comparison: Comparison, again: Comparison, metric: str) -> Comparison:
    """`comparison` with the fresh answers of `again` in place of those that made its changed cases look changed.

    `again` pairs new answers of *both* sides, any number of trials. The answers that selected a case are not used again: they
    would bias the test. A changed case without a fresh answer becomes unmeasured. Comparing the head's fresh answers with a
    stored baseline is no confirmation: give that comparison to `verdict.Evidence`, which shows it and decides nothing by it.
    """
    selected = {key[:3] for key in to_ask_again(comparison, metric)}
    fresh: dict[_Question, list[Pair]] = {}
    for both in again.pairs:
        fresh.setdefault(_question(both.key), []).append(both)
    pairs: list[Pair] = []
    for both in comparison.pairs:
        question = _question(both.key)
        if question not in selected:
            pairs.append(both)
        elif question not in fresh:
            pairs.append(Pair(both.key, both.old, None if both.new is None else _unmeasured(both.new)))
        else:
            pairs += fresh[question]
            fresh[question] = []
    refused = [difference for difference in (*comparison.differences, *again.differences) if difference.severity == "refuse"]
    metrics = {name: _by_metric(name, pairs, refused) for name in comparison.metrics}
    return replace(comparison, pairs=tuple(pairs), metrics=metrics)


def _unmeasured(case: CaseResult) -> CaseResult:
    return replace(case, outcome="unscored", scores={}, reason=Reason("not_confirmed", "no fresh answer to confirm the change"))


def _by_key(run: Run, error: type[DatasetError | BaselineError]) -> dict[CaseKey, CaseResult]:
    found: dict[CaseKey, CaseResult] = {}
    for case in run.cases:
        if case.key in found:
            raise error(
                f"the {'baseline' if error is BaselineError else 'run'} has two cases of one key",
                where=[f"{case.key.id} in {case.key.dialect}, trial {case.key.trial}"],
                meaning="Which of them counts cannot be known.",
                next_step="Give every item an id of its own.",
            )
        found[case.key] = case
    return found


def _sort(shared: Iterable[Pair], replaced: frozenset[str]) -> tuple[list[Pair], list[Pair], list[Pair], list[Pair]]:
    pairs: list[Pair] = []
    changed: list[Pair] = []
    golden: list[Pair] = []
    skipped: list[Pair] = []
    for both in shared:
        outcomes = {case.outcome for case in (both.old, both.new) if case is not None}
        if "golden_error" in outcomes:
            golden.append(both)
        elif "skipped" in outcomes or both.key.dialect in replaced:
            skipped.append(both)
        elif both.old is not None and both.new is not None and both.old.digest != both.new.digest:
            changed.append(both)
        else:
            pairs.append(both)
    return pairs, changed, golden, skipped


def _by_metric(metric: str, pairs: Sequence[Pair], refused: Sequence[Difference]) -> MetricComparison:
    lists: dict[str, list[Pair]] = {name: [] for name in ("broke", "fixed", "passing", "failing", "unmeasured")}
    for both in pairs:
        lists[_change(*both.values(metric))].append(both)
    why = next((difference for difference in refused if not difference.metrics or metric in difference.metrics), None)
    return MetricComparison(
        metric,
        **{name: tuple(listed) for name, listed in lists.items()},
        incomparable=Reason("incomparable_scores", why.message, {"next_step": why.next_step}) if why else None,
    )


def _change(old: float | None, new: float | None) -> str:
    if old is None or new is None:
        return "unmeasured"
    if old >= PASSING:
        return "passing" if new >= PASSING else "broke"
    return "fixed" if new >= PASSING else "failing"


def _paired_share(pairs: Sequence[Pair], baseline: Run) -> float:
    """By question, not by trial: a head with fewer trials deletes nothing."""
    measured = {_question(case.key) for case in baseline.cases if should_have_value(case) and case.outcome != "unscored"}
    met = {_question(both.key) for both in pairs}
    return len(measured & met) / len(measured) if measured else 0.0


def _incomparable(
    pairs: Sequence[Pair], names: Sequence[str], *, changed: Sequence[Pair], head: Run, baseline: Run
) -> Reason | None:
    if not baseline.cases:
        return Reason("baseline_empty", "the baseline holds 0 cases")
    if not head.cases:
        return Reason("nothing_run", "0 items were run")
    if not pairs:
        why = f"all {len(changed)} common cases changed" if changed else "the runs have no case in common"
        return Reason("nothing_paired", f"nothing could be paired: {why}", {"changed": len(changed)})
    if not names:
        said = f"{', '.join(head.metrics) or 'none'} now, {', '.join(baseline.metrics) or 'none'} in the baseline"
        return Reason("no_common_metric", f"the runs have no metric in common: {said}")
    return None


def _unsaid_versions(head: Run, baseline: Run) -> list[Difference]:
    """Scorer versions that differ in the scores themselves, where the fingerprints do not say so."""
    said = [_mapping(_fingerprint(run).get("scorers")) for run in (baseline, head)]
    found = []
    for metric in head.metrics:
        if metric in said[0] and metric in said[1]:
            continue
        old, new = _versions(baseline, metric), _versions(head, metric)
        if old and new and old != new:
            found.append(fingerprint.scorer_difference(metric, ", ".join(sorted(old)), ", ".join(sorted(new))))
    return found


def _versions(run: Run, metric: str) -> set[str]:
    scores = (case.scores.get(metric) for case in run.cases if case.outcome == "answered")
    return {score.version for score in scores if isinstance(score, Score)}


def _partial(head: Run, baseline: Run) -> list[Difference]:
    said = [("baseline", baseline, "Bless a complete run."), ("head", head, "")]
    return [
        Difference(
            f"{name}.complete",
            old=None,
            new=None,
            severity="announce",
            message=f"the {name} is a partial run of {len(run.cases)} cases: filtered, sharded or interrupted",
            next_step=step,
        )
        for name, run, step in said
        if not run.complete
    ]


def _fingerprint(run: Run) -> Mapping[str, Any]:
    return _mapping(run.provenance.get("fingerprint"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _question(key: CaseKey) -> _Question:
    return key.id, key.dialect, key.database


def _questions(cases: Iterable[CaseKey]) -> set[_Question]:
    return {_question(key) for key in cases}
