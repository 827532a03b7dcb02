"""How alike the rows of two results are as texts: all columns in one line, compared by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import ResultSet
from nl2sql_gate.scorers.cell_matching import MAX_ASSIGNMENT
from nl2sql_gate.scorers.column_pairing import unit_vectors
from nl2sql_gate.scorers.precision_recall import CellCounts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RowTexts:
    """Both results as texts over the sorted union of their column names."""

    columns: tuple[str, ...]
    golden: tuple[str, ...]
    generated: tuple[str, ...]
    coverage: float


@dataclass(frozen=True, slots=True)
class RowSimilarity:
    """`pairs` are (golden row, generated row, similarity in [0, 1]); `counts` are over rows."""

    counts: CellCounts
    pairs: tuple[tuple[int, int, float], ...]


def row_texts(golden: ResultSet, generated: ResultSet) -> RowTexts:
    """Each row as its values joined by ` | `, `N/A` for a column that its side lacks; the last column of a name counts.

    `coverage` is the share of golden's column names that the generated side has; 1 where golden has only one.
    """
    ours, theirs = set(golden.columns), set(generated.columns)
    columns = tuple(sorted(ours | theirs))
    coverage = 1.0 if len(ours) <= 1 else len(ours & theirs) / len(ours)
    return RowTexts(columns, _texts(golden, columns), _texts(generated, columns), coverage)


def match_texts(texts: RowTexts, embedding: Embedding) -> RowSimilarity:
    """Pair rows so that their similarities, equal texts counting 1, have the greatest sum; coverage scales all of them.

    Up to `MAX_ASSIGNMENT` pairs the pairing is the best one; beyond, equal texts pair up first and the rest is paired in order.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not texts.golden or not texts.generated:
        return RowSimilarity(CellCounts.exactly(0.0, generated=len(texts.generated), golden=len(texts.golden)), ())
    ours, theirs = list(range(len(texts.golden))), list(range(len(texts.generated)))
    pairs: list[tuple[int, int, float]] = []
    proven = len(ours) * len(theirs) <= MAX_ASSIGNMENT
    if not proven:
        pairs = _equal_texts(texts)
        ours = sorted(set(ours) - {i for i, _, _ in pairs})
        theirs = sorted(set(theirs) - {j for _, j, _ in pairs})
        side = int(MAX_ASSIGNMENT**0.5)
        ours, theirs = ours[:side], theirs[:side]
    if ours and theirs:
        similar = _similarities([texts.golden[i] for i in ours], [texts.generated[j] for j in theirs], embedding)
        rows, columns = linear_sum_assignment(similar, maximize=True)
        pairs += [(ours[i], theirs[j], float(np.clip(similar[i, j], 0, 1))) for i, j in zip(rows, columns, strict=True)]
    total = sum(similarity for _, _, similarity in pairs) * texts.coverage
    best = total if proven else min(len(texts.golden), len(texts.generated)) * texts.coverage
    return RowSimilarity(CellCounts(total, len(texts.generated), len(texts.golden), best), tuple(pairs))


def _texts(result: ResultSet, columns: Sequence[str]) -> tuple[str, ...]:
    places = {name: i for i, name in enumerate(result.columns)}
    return tuple(" | ".join(str(row[places[name]]) if name in places else "N/A" for name in columns) for row in result.rows)


def _similarities(golden: list[str], generated: list[str], embedding: Embedding) -> NDArray[np.float64]:
    import numpy as np

    places = {text: i for i, text in enumerate(dict.fromkeys([*golden, *generated]))}
    if len(places) == 1:
        return np.ones((len(golden), len(generated)))
    vectors = np.asarray(unit_vectors(list(places), embedding), dtype=np.float64)
    ours, theirs = [places[text] for text in golden], [places[text] for text in generated]
    similar: NDArray[np.float64] = vectors[ours] @ vectors[theirs].T
    similar[np.asarray(ours)[:, None] == np.asarray(theirs)[None, :]] = 1.0
    return np.clip(similar, 0.0, 1.0)


def _equal_texts(texts: RowTexts) -> list[tuple[int, int, float]]:
    waiting: dict[str, list[int]] = {}
    for i, text in enumerate(texts.golden):
        waiting.setdefault(text, []).append(i)
    return [(waiting[text].pop(), j, 1.0) for j, text in enumerate(texts.generated) if waiting.get(text)]
