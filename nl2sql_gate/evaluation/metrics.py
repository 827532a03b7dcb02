"""SQLMorph's numbers from counts of cells, with its rules for empty results."""

from __future__ import annotations

from nl2sql_gate.scorers.precision_recall import harmonic_mean

Metrics = dict[str, float]

PERFECT: Metrics = {"EX": 1, "EXP": 1.0, "EXR": 1.0, "F1": 1.0}
NOTHING: Metrics = {"EX": 0, "EXP": 0.0, "EXR": 0.0, "F1": 0.0}


def from_counts(matched: float, *, predicted: float, ground_truth: float) -> Metrics:
    """EX is 0 here: equal results never come this far.

    No predicted cells: precision 1, recall 0. No ground-truth cells: precision 0, recall 1. Neither: all 1.
    """
    if not predicted and not ground_truth:
        return {"EX": 0, "EXP": 1.0, "EXR": 1.0, "F1": 1.0}
    if not ground_truth:
        return {"EX": 0, "EXP": 0.0, "EXR": 1.0, "F1": 0.0}
    if not predicted:
        return {"EX": 0, "EXP": 1.0, "EXR": 0.0, "F1": 0.0}
    return from_shares(matched / predicted, matched / ground_truth)


def from_shares(precision: float, recall: float) -> Metrics:
    """EX is 0; F1 from the two shares."""
    return {"EX": 0, "EXP": precision, "EXR": recall, "F1": harmonic_mean(precision, recall)}
