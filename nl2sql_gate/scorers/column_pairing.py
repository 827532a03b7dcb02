"""Which generated column stands for which golden column, by name or by meaning."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence

from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import Cell, ResultSet, Row
from nl2sql_gate.scorers.cell_equality import cell_key

THRESHOLD = 0.7
"""Cosine similarity that two columns must exceed to be a pair."""
SAMPLE_VALUES = 10

Pairs = tuple[tuple[int, int], ...]
"""(golden column, generated column)"""


def pairs_by_name(golden: Sequence[str], generated: Sequence[str]) -> Pairs:
    """Columns of the same name: first those spelled alike, then those that differ in case only.

    A name that occurs several times pairs up as often as it occurs on both sides, in order.
    """
    pairs: list[tuple[int, int]] = []
    free_golden, free_generated = list(range(len(golden))), list(range(len(generated)))
    spellings: tuple[Callable[[str], str], ...] = (str, str.casefold)
    for spelling in spellings:
        waiting: dict[str, list[int]] = defaultdict(list)
        for j in free_generated:
            waiting[spelling(generated[j])].append(j)
        for i in list(free_golden):
            partners = waiting[spelling(golden[i])]
            if partners:
                j = partners.pop(0)
                pairs.append((i, j))
                free_golden.remove(i)
                free_generated.remove(j)
    return tuple(sorted(pairs))


def pairs_by_last_name(golden: Sequence[str], generated: Sequence[str]) -> Pairs:
    """Columns of the very same name, sorted by it; of several columns of one name the last counts (SQLMorph's rule)."""
    ours = {name: i for i, name in enumerate(golden)}
    theirs = {name: j for j, name in enumerate(generated)}
    return tuple((ours[name], theirs[name]) for name in sorted(ours.keys() & theirs.keys()))


def similarities(golden: ResultSet, generated: ResultSet, embedding: Embedding) -> list[list[float]]:
    """Cosine similarities of columns, a row for each generated one, from one request for all distinct texts."""
    texts = [column_text(result, c) for result in (generated, golden) for c in range(len(result.columns))]
    vectors = unit_vectors(texts, embedding)
    ours = vectors[len(generated.columns) :]
    return [[dot(vector, other) for other in ours] for vector in vectors[: len(generated.columns)]]


def unit_vectors(texts: Sequence[str], embedding: Embedding) -> list[Sequence[float]]:
    """A vector for each text; equal texts are asked for once."""
    distinct = list(dict.fromkeys(texts))
    found = dict(zip(distinct, embedding.embed(distinct), strict=True)) if distinct else {}
    return [found[text] for text in texts]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The similarity of two unit vectors."""
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def pairs_by_similarity(matrix: Sequence[Sequence[float]], *, threshold: float = THRESHOLD) -> Pairs:
    """The assignment of greatest total similarity, without the pairs at or below `threshold`; ordered by generated column."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not matrix or not matrix[0]:
        return ()
    similar = np.nan_to_num(np.asarray(matrix, dtype=np.float64))
    generated, golden = linear_sum_assignment(similar, maximize=True)
    return tuple((int(i), int(j)) for j, i in zip(generated, golden, strict=True) if similar[j, i] > threshold)


def column_text(result: ResultSet, column: int) -> str:
    """The words that stand for a column: its name, its kind, and its most frequent values.

    Kinds and values read as data frames print them, yet depend on no library: an integer column with NULLs stays one.
    Equally frequent values keep the order of the rows.
    """
    values = [row[column] for row in result.rows]
    text = f"Column name: {result.columns[column]}. Data type: {_kind(values)}. "
    known = Counter(cell_key(value) for value in values if value is not None)
    if not known:
        return text
    first: dict[Hashable, Cell] = {}
    for value in values:
        first.setdefault(cell_key(value), value)
    frequent = [str(first[key]) for key, _ in known.most_common(SAMPLE_VALUES)]
    return f"{text}Sample values: {', '.join(frequent)}"


def _kind(values: Sequence[Cell]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    if kinds and kinds <= {int, float}:
        return "float64"
    return "object"


def project(rows: Sequence[Row], columns: Sequence[int]) -> Sequence[Row]:
    """Rows with only `columns`, in that order; the rows themselves where that changes nothing."""
    if rows and list(columns) == list(range(len(rows[0]))):
        return rows
    if len(columns) == 1:
        only = columns[0]
        return [(row[only],) for row in rows]
    return list(map(operator.itemgetter(*columns), rows)) if columns else [()] * len(rows)
