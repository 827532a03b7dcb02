"""The seven techniques on two results that are not equal, by SQLMorph's rules; each fills a context and returns the metrics.

Values compare by Python's equality, exactly: 1 equals 1.0, '1' does not equal 1, NULL equals NULL, no tolerance. Arrays and
documents compare by content. Names compare as they are spelled; of several columns of one name the last counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nl2sql_gate.evaluation import upstream
from nl2sql_gate.evaluation.configuration import Configuration, EvaluationTechnique
from nl2sql_gate.evaluation.metrics import NOTHING, Metrics, from_counts, from_shares
from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import ResultSet, Row
from nl2sql_gate.scorers.cell_matching import CellMatch, match_cells
from nl2sql_gate.scorers.column_pairing import Pairs, pairs_by_last_name, pairs_by_similarity, project, similarities
from nl2sql_gate.scorers.row_texts import RowTexts, match_texts, row_texts
from nl2sql_gate.scorers.token_matching import match_tokens, match_tokens_greedily, text_tokens

Context = dict[str, Any]
Pipeline = Callable[[Context, ResultSet, ResultSet, Configuration, Embedding | None], Metrics]


def exact_columns(
    context: Context, truth: ResultSet, predicted: ResultSet, configuration: Configuration, embedding: Embedding | None
) -> Metrics:
    """Columns of the same name. Without a common name nothing matches, whatever the rows."""
    del embedding
    pairs = pairs_by_last_name(truth.columns, predicted.columns)
    context["penalize_extra_pred_cols"] = configuration.penalize_extra_pred_cols
    context["common_cols"] = [truth.columns[i] for i, _ in pairs]
    context["gt_common_indices"] = [i for i, _ in pairs]
    context["pred_common_indices"] = [j for _, j in pairs]
    if not pairs:
        _store_counts(context, truth, len(predicted.rows) * len(predicted.columns), matched_rows=0, matched_cells=0)
        if configuration.upstream:
            context["has_error"] = True
        return dict(NOTHING)
    return _count(context, truth, predicted, (pairs, [i for i, _ in pairs], [j for _, j in pairs]), configuration)


def semantic_columns(
    context: Context, truth: ResultSet, predicted: ResultSet, configuration: Configuration, embedding: Embedding | None
) -> Metrics:
    """Columns of similar meaning: the assignment of the greatest total similarity, pairs above 0.7 only."""
    if embedding is None:
        raise TypeError("a semantic technique needs an embedding")
    matrix = similarities(truth, predicted, embedding)
    pairs = upstream.misread_pairs(matrix) if configuration.upstream else pairs_by_similarity(matrix)
    context["penalize_extra_pred_cols"] = configuration.penalize_extra_pred_cols
    context["gt_df"] = [dict(zip(truth.columns, row, strict=True)) for row in truth.rows]
    context["pred_df"] = [dict(zip(predicted.columns, row, strict=True)) for row in predicted.rows]
    context["similarity_matrix"] = matrix
    context["matched_cols"] = [(predicted.columns[j], truth.columns[i]) for i, j in pairs]
    context["num_matched_cols"] = len(pairs)
    context["col_matches"] = [
        {"pred_col": predicted.columns[j], "gt_col": truth.columns[i], "similarity": matrix[j][i]} for i, j in pairs
    ]
    whole_rows = configuration.technique is EvaluationTechnique.SEMANTIC_COLUMN_AND_EXACT_CELL
    ours, theirs = [i for i, _ in pairs], [j for _, j in pairs]
    if configuration.upstream and whole_rows:
        ours, theirs = upstream.misaligned(pairs)
    metrics = _count(context, truth, predicted, (pairs, ours, theirs), configuration)
    # Without a pair and without a penalty no predicted cell is left to count, which is not a precision of 1.
    return metrics if pairs or configuration.upstream or not predicted.rows else dict(NOTHING)


def no_columns(
    context: Context, truth: ResultSet, predicted: ResultSet, configuration: Configuration, embedding: Embedding | None
) -> Metrics:
    """The values of a row as a set of texts, wherever they stand."""
    del embedding
    ours, theirs = text_tokens(truth.rows), text_tokens(predicted.rows)
    counts = (match_tokens_greedily if configuration.upstream else match_tokens)(ours, theirs)
    context["gt_cell_sets"], context["pred_cell_sets"] = ours, theirs
    context["matched_cells"] = counts.matched
    context["ground_truth_cells"], context["predicted_cells"] = counts.golden, counts.generated
    _store_bound(context, counts.matched, counts.best)
    return from_counts(counts.matched, predicted=counts.generated, ground_truth=counts.golden)


def semantic_rows(
    context: Context, truth: ResultSet, predicted: ResultSet, configuration: Configuration, embedding: Embedding | None
) -> Metrics:
    """Rows as texts over the union of the columns, paired by meaning. One empty side: all 0."""
    del configuration
    if embedding is None:
        raise TypeError("a semantic technique needs an embedding")
    texts = row_texts(truth, predicted)
    found = match_texts(texts, embedding)
    total, p, g = found.counts.matched, len(predicted.rows), len(truth.rows)
    context.update(
        all_cols=list(texts.columns),
        gt_row_strings=list(texts.golden),
        pred_row_strings=list(texts.generated),
        gt_row_dicts=[dict(zip(truth.columns, row, strict=True)) for row in truth.rows],
        pred_row_dicts=[dict(zip(predicted.columns, row, strict=True)) for row in predicted.rows],
        coverage_penalty=texts.coverage,
        P=p,
        G=g,
        sum_matched_sim=total,
    )
    _store_rows(context, truth, predicted, texts, list(found.pairs))
    _store_bound(context, total, found.counts.best)
    return from_shares(total / p, total / g) if p and g else dict(NOTHING)


PIPELINES: dict[EvaluationTechnique, Pipeline] = {
    EvaluationTechnique.EXACT_COLUMN_AND_EXACT_CELL: exact_columns,
    EvaluationTechnique.EXACT_COLUMN_AND_PARTIAL_CELL: exact_columns,
    EvaluationTechnique.SEMANTIC_COLUMN_AND_EXACT_CELL: semantic_columns,
    EvaluationTechnique.SEMANTIC_COLUMN_AND_PARTIAL_CELL: semantic_columns,
    EvaluationTechnique.NO_COLUMN_AND_PARTIAL_CELL: no_columns,
    EvaluationTechnique.UNIFIED_COLUMN_AND_SEMANTIC_ROW: semantic_rows,
}
_PARTIAL = {EvaluationTechnique.EXACT_COLUMN_AND_PARTIAL_CELL, EvaluationTechnique.SEMANTIC_COLUMN_AND_PARTIAL_CELL}


def _count(
    context: Context,
    truth: ResultSet,
    predicted: ResultSet,
    columns: tuple[Pairs, list[int], list[int]],
    configuration: Configuration,
) -> Metrics:
    pairs, ours, theirs = columns
    golden, generated = project(truth.rows, ours), project(predicted.rows, theirs)
    context["gt_projected_rows"], context["pred_projected_rows"] = list(golden), list(generated)
    width = len(pairs)
    partial = configuration.technique in _PARTIAL
    exact, rest, best = _cells(golden, generated, configuration) if width else (0, 0, 0)
    matched = exact + (rest if partial else 0)
    cells = len(predicted.rows) * (len(predicted.columns) if configuration.penalize_extra_pred_cols else width)
    _store_counts(context, truth, cells, matched_rows=exact // width if width else 0, matched_cells=matched)
    if partial:
        context["exact_matched_cells"], context["partial_matched_cells"] = exact, rest
        _store_bound(context, exact + rest, best)
    return from_counts(matched, predicted=cells, ground_truth=context["ground_truth_cells"])


def _cells(golden: Any, generated: Any, configuration: Configuration) -> tuple[int, int, int]:
    """Cells of equal rows, cells of other pairs, and the most there could be."""
    if configuration.upstream:
        exact, rest = upstream.greedy_cells(golden, generated)
        return exact, rest, exact + rest
    match = match_cells(golden, generated, close=False)
    exact = match.equal_rows * (len(golden[0]) if golden else 0)
    return exact, match.cells - exact, _best(match)


def _best(match: CellMatch) -> int:
    return max(match.best, match.cells)


def _store_counts(context: Context, truth: ResultSet, predicted_cells: int, *, matched_rows: int, matched_cells: int) -> None:
    context["matched_rows"], context["matched_cells"] = matched_rows, matched_cells
    context["ground_truth_cells"] = len(truth.rows) * len(truth.columns)
    context["predicted_cells"] = predicted_cells


def _store_bound(context: Context, matched: float, best: float) -> None:
    """Say where the pairing of rows was too big a problem to be solved for certain."""
    if best > matched:
        context["matched_cells_at_most"] = best


def _store_rows(
    context: Context, truth: ResultSet, predicted: ResultSet, texts: RowTexts, pairs: list[tuple[int, int, float]]
) -> None:
    def left(rows: tuple[Row, ...], strings: tuple[str, ...], used: set[int]) -> list[dict[str, Any]]:
        return [{"row_index": n, "row": rows[n], "row_string": strings[n]} for n in range(len(rows)) if n not in used]

    ranked = sorted(pairs, key=lambda pair: -pair[2])
    context["matched_row_details"] = [
        {
            "predicted_row_index": j,
            "ground_truth_row_index": i,
            "raw_similarity": similar,
            "penalized_similarity": similar * texts.coverage,
            "predicted_row": predicted.rows[j],
            "ground_truth_row": truth.rows[i],
            "predicted_row_string": texts.generated[j],
            "ground_truth_row_string": texts.golden[i],
            "is_exact_match": texts.golden[i] == texts.generated[j],
        }
        for i, j, similar in ranked
    ]
    context["unmatched_pred_details"] = left(predicted.rows, texts.generated, {j for _, j, _ in pairs})
    context["unmatched_gt_details"] = left(truth.rows, texts.golden, {i for i, _, _ in pairs})
