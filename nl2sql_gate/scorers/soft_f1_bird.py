"""Soft F1 as BIRD's mini-dev defines it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.records import Case, Execution, Reason, Row, Score, Side, SqlError
from nl2sql_gate.scorers.cell_equality import cell_key
from nl2sql_gate.scorers.precision_recall import harmonic_mean


class SoftF1Bird:
    """F1 over the values of rows at the same place, in [0, 1].

    Rows: repeated rows are dropped, the rest is a sequence: the n-th generated row meets the n-th golden row, also without an
    ORDER BY, so a right result in another order is nearly worthless here. Columns: not looked at within a row.
    Values: Python's equality; no tolerance. NULL equals NULL.
    Empty results: 1 where both are empty, 0 where one is.
    Forgives: columns in another order, repeated values in a row, extra and missing columns in part.
    dml and ddl, which BIRD does not have: the mean over the results of eval_query.
    Equals `calculate_f1_score` of BIRD mini-dev; of several golden queries the best value counts. Values that do not hash, on
    which the original stops, compare by content.
    """

    name = "soft_f1_bird"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        value = max(_value(case, golden) for golden in case.goldens)
        reason = None if value >= 1 else Reason("soft_f1", f"soft F1 {value:.3f}, rows compared place by place")
        return Score(value, reason, self.version)


def _value(case: Case, golden: Side) -> float:
    if case.query_type == "dql" or not golden.evals:
        return soft_f1(_rows(golden.result), _rows(case.generated.result))
    given = [*case.generated.evals, *[SqlError("it did not run")] * (len(golden.evals) - len(case.generated.evals))]
    shares = [
        0.0 if isinstance(theirs, SqlError) else soft_f1(_rows(ours), _rows(theirs))
        for ours, theirs in zip(golden.evals, given, strict=False)
    ]
    return sum(shares) / len(shares)


def _rows(ran: Execution) -> Sequence[Row]:
    if isinstance(ran, SqlError):
        raise ScorerFault(f"golden's eval_query failed: {ran.message}")
    return ran.rows


def soft_f1(golden: Sequence[Row], generated: Sequence[Row]) -> float:
    """The F1 of two results, rows already in their order."""
    if not golden and not generated:
        return 1.0
    ours, theirs = _distinct(golden), _distinct(generated)
    found = only_generated = only_golden = 0.0
    for one, other in zip(ours, theirs, strict=False):
        width, here, there = len(one), set(one), set(other)
        hits = sum(value in here for value in other)
        found += hits / width
        only_generated += (len(other) - hits) / width
        only_golden += sum(value not in there for value in one) / width
    only_golden += max(0, len(ours) - len(theirs))
    only_generated += max(0, len(theirs) - len(ours))
    precision = found / (found + only_generated) if found + only_generated else 0.0
    recall = found / (found + only_golden) if found + only_golden else 0.0
    return harmonic_mean(precision, recall)


def _distinct(rows: Sequence[Row]) -> list[tuple[Hashable, ...]]:
    try:
        return list(dict.fromkeys(rows))
    except TypeError:
        return list(dict.fromkeys(tuple(map(cell_key, row)) for row in rows))
