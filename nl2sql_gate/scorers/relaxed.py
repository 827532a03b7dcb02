"""Scorers for the relaxed techniques: precision (EXP), recall (EXR) and F1 of each, which see how near a miss was."""

from __future__ import annotations

import threading
from typing import Any

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import Case, Reason, ResultSet, Score, SqlError
from nl2sql_gate.scorers.difference import shown_row
from nl2sql_gate.scorers.precision_recall import CellCounts
from nl2sql_gate.scorers.techniques import SEMANTIC, TECHNIQUES, Measured

SHOWN_NEAR = 3
_last = threading.local()


class RelaxedScorer:
    """A share of cells that match, in [0, 1]; the technique says which cells those are.

    Rows: a multiset, duplicates count, order never does; rows pair up one to one in the best way.
    Columns: by name without regard to case, by meaning (cosine similarity above 0.7), or not at all, as the technique says;
    columns without a partner count against precision (generated) or recall (golden).
    NULL equals NULL only; numbers, time and the rest as in `cell_equality`.
    Empty results: 1 where both are empty, 0 where one is.
    Forgives, in part: wrong rows, wrong cells, extra and missing columns. Never a gate by itself.
    dml and ddl: the same over the results of eval_query.
    Named after SQLMorph's techniques, whose own rules (set-based short circuit, greedy pairing) are in `nl2sql_gate.evaluation`.
    """

    technique = ""
    measure = ""
    name = ""
    version = "1"

    def __init__(self, *, embedding: Embedding | None = None) -> None:
        if embedding is None and self.technique in SEMANTIC:
            from nl2sql_gate.embeddings import default_embedding

            embedding = default_embedding()
        self._embedding = embedding

    def score(self, case: Case) -> Score:
        """The share, against the golden alternative with the best F1; the reason tells counts, columns and the nearest rows."""
        measured = self._measured(case)
        value = float(getattr(measured.counts, self.measure))
        return Score(value, None if value >= 1 else _reason(measured), self.version)

    def _measured(self, case: Case) -> Measured:
        """Measured once for precision, recall and F1 of a case, which are scored one after the other."""
        kept: tuple[Case, str, Embedding | None, Measured] | None = getattr(_last, "kept", None)
        if kept is not None and kept[0] is case and kept[1] == self.technique and kept[2] is self._embedding:
            return kept[3]
        measured = max((self._measure(golden, generated) for golden, generated in _results(case)), key=lambda m: m.counts.f1)
        _last.kept = (case, self.technique, self._embedding, measured)
        return measured

    def _measure(self, golden: list[ResultSet], generated: list[ResultSet]) -> Measured:
        technique = TECHNIQUES[self.technique]
        parts = [technique(ours, theirs, self._embedding) for ours, theirs in zip(golden, generated, strict=True)]
        return parts[0] if len(parts) == 1 else _total(parts)


def _results(case: Case) -> list[tuple[list[ResultSet], list[ResultSet]]]:
    """For each golden alternative its results beside the generated ones."""
    if case.query_type == "dql":
        return [([golden.result], [case.generated.result]) for golden in case.goldens]
    golden = [result for result in case.goldens[0].evals if not isinstance(result, SqlError)]
    if not golden or len(golden) < len(case.goldens[0].evals):
        raise ScorerFault("there is no eval_query whose rows could be compared")
    given = [ResultSet((), ()) if isinstance(result, SqlError) else result for result in case.generated.evals]
    given += [ResultSet((), ())] * (len(golden) - len(given))
    return [(golden, given)]


def _total(parts: list[Measured]) -> Measured:
    counts = CellCounts(
        sum(part.counts.matched for part in parts),
        sum(part.counts.generated for part in parts),
        sum(part.counts.golden for part in parts),
        sum(part.counts.best for part in parts),
    )
    columns = tuple(pair for part in parts for pair in part.columns)
    near = tuple(pair for part in parts for pair in part.near)
    return Measured(counts, parts[0].unit, columns, sum(part.equal_rows for part in parts), near)


def _reason(measured: Measured) -> Reason:
    counts = measured.counts
    words = (
        f"{counts.matched:g} {measured.unit} match, of {counts.generated} generated (precision {counts.precision:.3f}) "
        f"and {counts.golden} golden (recall {counts.recall:.3f})"
    )
    detail: dict[str, Any] = {
        "matched": counts.matched,
        "generated": counts.generated,
        "golden": counts.golden,
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "equal_rows": measured.equal_rows,
        "columns": [list(pair) for pair in measured.columns[:20]],
        "near": [
            {"golden": shown_row(one), "generated": shown_row(other), "matched": cells}
            for one, other, cells in measured.near[:SHOWN_NEAR]
        ],
    }
    if counts.best > counts.matched:
        words += f"; a better pairing of the rows, too many to try, could match up to {counts.best:g}"
        detail["at_most"] = counts.best
    return Reason("partial", words, detail)


def _of(technique: str) -> tuple[type[RelaxedScorer], type[RelaxedScorer], type[RelaxedScorer]]:
    words = (TECHNIQUES[technique].__doc__ or "").split("\n", 1)[0]

    def scorer(measure: str, suffix: str) -> type[RelaxedScorer]:
        title = "".join(part.capitalize() for part in [*technique.split("_"), *measure.split("_")])
        parts = {
            "__doc__": f"{measure.capitalize()}: {words}\n\n    {RelaxedScorer.__doc__}",
            "__module__": __name__,
            "technique": technique,
            "measure": measure,
            "name": f"{technique}_{suffix}",
        }
        return type(title, (RelaxedScorer,), parts)

    return scorer("precision", "exp"), scorer("recall", "exr"), scorer("f1", "f1")


ExactColumnExactCellExp, ExactColumnExactCellExr, ExactColumnExactCellF1 = _of("exact_column_and_exact_cell")
ExactColumnPartialCellExp, ExactColumnPartialCellExr, ExactColumnPartialCellF1 = _of("exact_column_and_partial_cell")
SemanticColumnExactCellExp, SemanticColumnExactCellExr, SemanticColumnExactCellF1 = _of("semantic_column_and_exact_cell")
SemanticColumnPartialCellExp, SemanticColumnPartialCellExr, SemanticColumnPartialCellF1 = _of("semantic_column_and_partial_cell")
NoColumnPartialCellExp, NoColumnPartialCellExr, NoColumnPartialCellF1 = _of("no_column_and_partial_cell")
UnifiedColumnSemanticRowExp, UnifiedColumnSemanticRowExr, UnifiedColumnSemanticRowF1 = _of("unified_column_and_semantic_row")
