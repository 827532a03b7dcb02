"""The relaxed techniques: which columns of two results belong together, and which cells then match.

The words come from SQLMorph. The rules here are the gate's: typed cells with the tolerance of `cell_equality`, names without
regard to case, counts always taken (equal sets of rows do not end the comparison), and one rule for empty results. The rules of
SQLMorph's own class are in `nl2sql_gate.evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import ResultSet, Row
from nl2sql_gate.scorers.cell_matching import match_cells
from nl2sql_gate.scorers.column_pairing import Pairs, pairs_by_name, pairs_by_similarity, project, similarities
from nl2sql_gate.scorers.precision_recall import CellCounts
from nl2sql_gate.scorers.row_matching import match_rows
from nl2sql_gate.scorers.row_texts import match_texts, row_texts
from nl2sql_gate.scorers.token_matching import match_tokens, value_tokens


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts over cells (over rows for `unified_column_and_semantic_row`), with what a report shows beside them.

    `columns` are pairs of names, golden's first. `near` are unequal rows that belong together, with their equal cells.
    """

    counts: CellCounts
    unit: str = "cells"
    columns: tuple[tuple[str, str], ...] = ()
    equal_rows: int = 0
    near: tuple[tuple[Row, Row, float], ...] = ()


Technique = Callable[[ResultSet, ResultSet, Embedding | None], Measured]


def exact_column_and_exact_cell(golden: ResultSet, generated: ResultSet, embedding: Embedding | None = None) -> Measured:
    """Whole rows over the columns of the same name: one wrong cell costs the row."""
    del embedding
    return _whole_rows(golden, generated, pairs_by_name(golden.columns, generated.columns))


def exact_column_and_partial_cell(golden: ResultSet, generated: ResultSet, embedding: Embedding | None = None) -> Measured:
    """Cells over the columns of the same name, rows paired so that most cells agree."""
    del embedding
    return _single_cells(golden, generated, pairs_by_name(golden.columns, generated.columns))


def semantic_column_and_exact_cell(golden: ResultSet, generated: ResultSet, embedding: Embedding | None = None) -> Measured:
    """Whole rows over the columns of similar meaning."""
    return _whole_rows(golden, generated, _by_meaning(golden, generated, embedding))


def semantic_column_and_partial_cell(golden: ResultSet, generated: ResultSet, embedding: Embedding | None = None) -> Measured:
    """Cells over the columns of similar meaning, rows paired so that most cells agree."""
    return _single_cells(golden, generated, _by_meaning(golden, generated, embedding))


def no_column_and_partial_cell(golden: ResultSet, generated: ResultSet, embedding: Embedding | None = None) -> Measured:
    """Values of a row wherever they stand in it, rows paired so that most values are shared: swapped cells go unseen."""
    del embedding
    return Measured(match_tokens(*value_tokens(golden.rows, generated.rows)))


def unified_column_and_semantic_row(golden: ResultSet, generated: ResultSet, embedding: Embedding | None = None) -> Measured:
    """Rows as texts of similar meaning; no similarity is too low to count."""
    texts = row_texts(golden, generated)
    equal_columns = tuple((name, name) for name in texts.columns if name in golden.columns and name in generated.columns)
    if sorted(texts.golden) == sorted(texts.generated):
        total = len(texts.golden) * texts.coverage
        counts = CellCounts.exactly(total, generated=len(texts.generated), golden=len(texts.golden))
        return Measured(counts, "rows", equal_columns, len(texts.golden))
    found = match_texts(texts, _needed(embedding))
    near = tuple((golden.rows[i], generated.rows[j], round(similar, 4)) for i, j, similar in found.pairs if similar < 1)
    return Measured(found.counts, "rows", equal_columns, len(found.pairs) - len(near), near)


TECHNIQUES: dict[str, Technique] = {
    "exact_column_and_exact_cell": exact_column_and_exact_cell,
    "exact_column_and_partial_cell": exact_column_and_partial_cell,
    "semantic_column_and_exact_cell": semantic_column_and_exact_cell,
    "semantic_column_and_partial_cell": semantic_column_and_partial_cell,
    "no_column_and_partial_cell": no_column_and_partial_cell,
    "unified_column_and_semantic_row": unified_column_and_semantic_row,
}
SEMANTIC = frozenset(name for name in TECHNIQUES if "semantic" in name)


def _by_meaning(golden: ResultSet, generated: ResultSet, embedding: Embedding | None) -> Pairs:
    by_name = pairs_by_name(golden.columns, generated.columns)
    if golden.columns == generated.columns and len(set(golden.columns)) == len(golden.columns):
        # The same names in the same order mean the same; nothing has to be asked.
        return by_name
    return pairs_by_similarity(similarities(golden, generated, _needed(embedding)))


def _needed(embedding: Embedding | None) -> Embedding:
    if embedding is None:
        raise TypeError("a semantic technique needs an embedding")
    return embedding


def _whole_rows(golden: ResultSet, generated: ResultSet, pairs: Pairs) -> Measured:
    ours, theirs = _projected(golden, generated, pairs)
    match = match_rows(ours, theirs) if pairs else None
    counts = _counts(golden, generated, match.matched * len(pairs) if match else 0)
    return Measured(counts, columns=_names(golden, generated, pairs), equal_rows=match.matched if match else 0)


def _single_cells(golden: ResultSet, generated: ResultSet, pairs: Pairs) -> Measured:
    if not pairs:
        return Measured(_counts(golden, generated, 0))
    ours, theirs = _projected(golden, generated, pairs)
    match = match_cells(ours, theirs, close=True)
    counts = _counts(golden, generated, match.cells, match.best)
    near = tuple((one, other, float(cells)) for one, other, cells in match.pairs if cells)
    return Measured(counts, columns=_names(golden, generated, pairs), equal_rows=match.equal_rows, near=near)


def _counts(golden: ResultSet, generated: ResultSet, matched: int, best: int | None = None) -> CellCounts:
    there, here = len(golden.rows) * len(golden.columns), len(generated.rows) * len(generated.columns)
    return CellCounts(matched, here, there, matched if best is None else best)


def _projected(golden: ResultSet, generated: ResultSet, pairs: Pairs) -> tuple[Sequence[Row], Sequence[Row]]:
    return project(golden.rows, [i for i, _ in pairs]), project(generated.rows, [j for _, j in pairs])


def _names(golden: ResultSet, generated: ResultSet, pairs: Pairs) -> tuple[tuple[str, str], ...]:
    return tuple((golden.columns[i], generated.columns[j]) for i, j in pairs)
