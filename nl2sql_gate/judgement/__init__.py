"""The values of a judgement, frozen: pairs of cases, the comparison of two runs, the rows of a verdict, the verdict.

`compare.pair` makes a `Comparison`, `verdict.decide` a `Verdict`; reporters only read them. All `to_json` results are plain
dicts, lists, numbers and text, the keys sorted, the cases in dataset order.
"""

from __future__ import annotations

from nl2sql_gate.judgement.comparison import (
    PASSING,
    Change,
    Comparison,
    Difference,
    Exclusion,
    MetricComparison,
    Pair,
    Severity,
    should_have_value,
    value_of,
)
from nl2sql_gate.judgement.plain import reason_json
from nl2sql_gate.judgement.verdict import Coverage, Figure, Row, RowKind, Status, Verdict

__all__ = [
    "PASSING",
    "Change",
    "Comparison",
    "Coverage",
    "Difference",
    "Exclusion",
    "Figure",
    "MetricComparison",
    "Pair",
    "Row",
    "RowKind",
    "Severity",
    "Status",
    "Verdict",
    "reason_json",
    "should_have_value",
    "value_of",
]
