"""Scores of many cases: every text embedded once, all in one request, and what a scorer cannot give is left out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.mutation_testing.scoring import scores_of
from nl2sql_gate.protocols import Embedding, Scorer
from nl2sql_gate.records import Case, Item, ResultSet, Score, Side, SqlField
from nl2sql_gate.scorers.relaxed import ExactColumnPartialCellF1, SemanticColumnPartialCellF1, UnifiedColumnSemanticRowF1


class Alien:
    """Every text is like itself and like nothing else."""

    def __init__(self) -> None:
        self.requests: list[list[str]] = []
        self._places: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.requests.append(list(texts))
        for text in texts:
            self._places.setdefault(text, len(self._places))
        return [[float(place == self._places[text]) for place in range(100)] for text in texts]


class Broken:
    name = "broken"
    version = "1"

    def score(self, case: Case) -> Score:
        raise ScorerFault(case.dialect)


def case(golden: Sequence[str], generated: Sequence[str], column: str = "a") -> Case:
    item = Item("1", "How many?", "dql", "shop", ("sqlite",), SqlField(everywhere=("SELECT 1",)))
    sides = [
        Side("SELECT 1", ResultSet((name,), tuple((cell,) for cell in cells)))
        for name, cells in (("a", golden), (column, generated))
    ]
    return Case(item, "sqlite", "dql", (sides[0],), sides[1])


def test_all_texts_are_asked_for_in_one_request_and_scores_are_those_of_the_scorer_alone() -> None:
    cases = [case(["x", "y"], ["x", "z"]), case(["x", "y"], ["y"], "b"), case(["x"], ["x"]), case(["x", "y"], ["x", "z"])]
    embedding = Alien()

    def make(given: Embedding) -> Sequence[Scorer]:
        return (
            ExactColumnPartialCellF1(),
            SemanticColumnPartialCellF1(embedding=given),
            UnifiedColumnSemanticRowF1(embedding=given),
            Broken(),
        )

    with ThreadPoolExecutor(2) as executor:
        found = scores_of(cases, make, embedding, executor)
    assert len(embedding.requests) == 1
    assert len(set(embedding.requests[0])) == len(embedding.requests[0])
    alone = make(Alien())[:3]
    assert found == [{scorer.name: scorer.score(each) for scorer in alone} for each in cases]
    assert found[0]["unified_column_and_semantic_row_f1"].value == 0.5


def test_where_no_vector_is_needed_none_is_asked_for() -> None:
    embedding = Alien()
    with ThreadPoolExecutor(1) as executor:
        found = scores_of([case(["x"], ["x"])], lambda given: (UnifiedColumnSemanticRowF1(embedding=given),), embedding, executor)
    assert [score.value for score in found[0].values()] == [1.0]
    assert embedding.requests == []
