"""Scores of many cases by many metrics: every case executed once, every text embedded once, all texts in one request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.protocols import Embedding, Scorer
from nl2sql_gate.records import Case, Score


class Remembered:
    """Vectors that were asked for ahead, by text; what was not is asked for now."""

    def __init__(self, inner: Embedding) -> None:
        self._inner = inner
        self._known: dict[str, Sequence[float]] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Embed `texts` in one request: a model on this machine is faster with many texts of like length at once."""
        missing = sorted(set(texts) - self._known.keys())
        self._known.update(zip(missing, self._inner.embed(missing), strict=True))

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order."""
        if any(text not in self._known for text in texts):
            self.learn(texts)
        return [self._known[text] for text in texts]


class Wanted:
    """An embedding that only writes down what it is asked for."""

    def __init__(self) -> None:
        self.texts: set[str] = set()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Raise `ScorerFault`: a technique asks once, and there is nothing to be compared yet."""
        self.texts.update(texts)
        raise ScorerFault("the texts are only counted")


def scores_of(
    cases: Sequence[Case], make: Callable[[Embedding], Sequence[Scorer]], embedding: Embedding | None, executor: Executor
) -> list[dict[str, Score]]:
    """For each case its scores by name, without those that a scorer could not give. `make` builds the scorers on an embedding."""
    wanted = Wanted()
    asking = make(wanted)
    found = list(executor.map(lambda case: _scores(case, asking), cases))
    if not wanted.texts or embedding is None:
        return found
    remembered = Remembered(embedding)
    remembered.learn(wanted.texts)
    scorers = make(remembered)

    def completed(case: Case, known: dict[str, Score]) -> dict[str, Score]:
        return known | _scores(case, [scorer for scorer in scorers if scorer.name not in known])

    return list(executor.map(completed, cases, found))


def _scores(case: Case, scorers: Sequence[Scorer]) -> dict[str, Score]:
    found = {}
    for scorer in scorers:
        with suppress(ScorerFault):
            found[scorer.name] = scorer.score(case)
    return found
