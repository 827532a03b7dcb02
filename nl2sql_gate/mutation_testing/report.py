"""What mutation testing found, in words: counts, scores, and the weak items with what their data lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nl2sql_gate.mutation.operators import BY_NAME
from nl2sql_gate.mutation_testing.equivalence import Mark
from nl2sql_gate.mutation_testing.fates import MutatedItem, Tried, counts_of, mutation_score


def services_of(items: Sequence[MutatedItem]) -> dict[str, list[MutatedItem]]:
    """The items by service, in the order of the run."""
    found: dict[str, list[MutatedItem]] = {}
    for item in items:
        found.setdefault(item.key.dialect, []).append(item)
    return found


def summary(items: Sequence[MutatedItem], *, idle: Sequence[Mark] = (), shown: int = 20) -> Iterator[str]:
    """The lines for a terminal; at most `shown` weak items are named for each service."""
    for service, tested in services_of(items).items():
        counts = counts_of(tested)
        named = ", ".join(f"{number} {fate}" for fate, number in counts.items() if number or fate in {"killed", "survived"})
        yield f"mutants   {service}: {sum(counts.values())} of {len(tested)} items: {named}"
        yield f"score     {service}: {_percent(tested)}"
        yield from _problems(tested)
        yield from _weak(tested, shown)
        yield from _contradicted(tested)
    for mark in idle:
        yield f"idle      line {mark.line}: no mutant of {mark.id} is marked by it any more: {mark.sql[:100]}"


def _percent(items: Sequence[MutatedItem]) -> str:
    every = [tested for item in items for tested in item.mutants]
    score = mutation_score(every)
    if score is None:
        return "none: no mutant ran"
    counts = counts_of(items)
    return f"{100 * score:.1f} % ({counts['killed']}/{counts['killed'] + counts['survived']} killed)"


def _problems(items: Sequence[MutatedItem]) -> Iterator[str]:
    for item in items:
        if item.problem is not None:
            yield f"left out  {item.key.id}: {item.problem.message}"
        elif not any(tested.fate == "killed" for tested in item.mutants):
            yield f"weak      {item.key.id}: none of its {len(item.mutants)} mutants runs and differs"


def _weak(items: Sequence[MutatedItem], shown: int) -> Iterator[str]:
    weak = sorted((item for item in items if item.survivors), key=lambda item: item.score or 0.0)
    for item in weak[:shown]:
        yield f"weak      {item.key.id}: {_percent([item])}; its data does not show"
        yield from (f"            {_survivor(tested)}" for tested in item.survivors)
    if len(weak) > shown:
        yield f"          and {len(weak) - shown} more weak items"


def _survivor(tested: Tried) -> str:
    return ", ".join(
        f"{name}: {change} (needs {BY_NAME[name].needs})"
        for name, change in zip(tested.mutant.operators, tested.mutant.changes, strict=True)
    )


def _contradicted(items: Sequence[MutatedItem]) -> Iterator[str]:
    for item in items:
        for tested in item.mutants:
            if tested.fate == "killed" and tested.reason.startswith("marked as equivalent"):
                yield f"wrong     {item.key.id}: {tested.reason}"
