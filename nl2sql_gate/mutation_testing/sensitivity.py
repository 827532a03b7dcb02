"""How much each metric sees of each error: mean EX, EXP, EXR and F1 over kept mutants, by operator and technique."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from nl2sql_gate.mutation import OPERATORS
from nl2sql_gate.mutation_testing.fates import MutatedItem, Tried

EXECUTION = ("execution_accuracy", "execution_accuracy_bird")
TECHNIQUES = (
    "exact_column_and_exact_cell",
    "exact_column_and_partial_cell",
    "semantic_column_and_exact_cell",
    "semantic_column_and_partial_cell",
    "no_column_and_partial_cell",
    "unified_column_and_semantic_row",
)
MEASURES = ("exp", "exr", "f1")
TOTAL = "all errors"


@dataclass(frozen=True, slots=True)
class Seen:
    """One metric's mean score over the mutants of one kind of error; of 1 it sees nothing, of 0 everything is lost.

    `technique` is `execution_accuracy`, BIRD's, or a relaxed one; `exp`, `exr` and `f1` are nothing for the first two. `ex` is
    the share that this execution accuracy takes for right; strict EX is nought for all kept mutants: that is why they are kept.
    """

    error: str
    technique: str
    n: int
    ex: float | None = None
    exp: float | None = None
    exr: float | None = None
    f1: float | None = None


def metrics_of(techniques: Sequence[str]) -> tuple[str, ...]:
    """The scorers that must be computed beside execution accuracy for these techniques."""
    relaxed = [f"{name}_{measure}" for name in techniques if name not in EXECUTION for measure in MEASURES]
    return (*[name for name in EXECUTION if name in techniques or name == EXECUTION[0]], *relaxed)


def sensitivity(items: Iterable[MutatedItem], techniques: Sequence[str]) -> tuple[Seen, ...]:
    """A row for each kind of error, in the operators' own order, and technique; all errors together last."""
    kinds: dict[tuple[str, ...], list[Tried]] = {}
    for item in items:
        for tested in item.mutants:
            if tested.fate == "killed":
                kinds.setdefault(tested.mutant.operators, []).append(tested)
    places = {operator.name: place for place, operator in enumerate(OPERATORS)}
    ordered = sorted(kinds, key=lambda names: (len(names), [places[name] for name in names]))
    groups = {error_of(kinds[names][0]): kinds[names] for names in ordered}
    if groups:
        groups[TOTAL] = [tested for group in groups.values() for tested in group]
    return tuple(_seen(error, technique, group) for error, group in groups.items() for technique in techniques)


def drawn(items: Iterable[MutatedItem], most: int | None, *, seed: int) -> frozenset[int]:
    """The kept mutants that are scored, by `id()`: of each kind of error at most `most`, drawn by seed."""
    kinds: dict[tuple[str, ...], list[Tried]] = {}
    for item in items:
        for tested in item.mutants:
            if tested.fate == "killed":
                kinds.setdefault(tested.mutant.operators, []).append(tested)
    chosen: list[Tried] = []
    for names, group in kinds.items():
        draw = Random("\n".join((str(seed), *names)))  # noqa: S311 - repeatable, not secret
        chosen += group if most is None or len(group) <= most else draw.sample(group, most)
    return frozenset(id(tested) for tested in chosen)


def error_of(tested: Tried) -> str:
    """The kind of error of a mutant: its operators in their order."""
    return " → ".join(tested.mutant.operators)


def _seen(error: str, technique: str, group: Sequence[Tried]) -> Seen:
    if technique in EXECUTION:
        values = [tested.scores[technique].value for tested in group if technique in tested.scores]
        return Seen(error, technique, len(values), ex=_mean(values))
    scored = [tested for tested in group if f"{technique}_f1" in tested.scores]
    means = {measure: _mean([t.scores[f"{technique}_{measure}"].value for t in scored]) for measure in MEASURES}
    strict = _mean([tested.scores[EXECUTION[0]].value for tested in scored if EXECUTION[0] in tested.scores])
    return Seen(error, technique, len(scored), ex=strict, **means)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def by_error(rows: Iterable[Seen]) -> Mapping[str, Mapping[str, Seen]]:
    """The rows by kind of error, then by technique."""
    found: dict[str, dict[str, Seen]] = {}
    for row in rows:
        found.setdefault(row.error, {})[row.technique] = row
    return found
