"""Reports made of whole runs, compared and decided by the product itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nl2sql_gate.compare import pair
from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import CaseKey, CaseResult, Reason, ResultSet, Run, Score
from nl2sql_gate.reporters.report import Report, Reproduction
from nl2sql_gate.settings import Policy
from nl2sql_gate.verdict import decide

METRICS = ("execution_accuracy", "execution_accuracy_bird")


def case(name: str, value: int = 1, *, dialect: str = "sqlite", trial: int = 0, **changes: Any) -> CaseResult:
    """An answered case; `value` is its score by every metric."""
    reason = None if value else Reason("rows_missing", "1 row missing")
    made = CaseResult(
        key=CaseKey(name, dialect, "shop", trial),
        outcome="answered",
        digest=f"digest of {name}",
        question=f"How many {name}?",
        tags=("counting",),
        difficulty="easy",
        sql="SELECT 1" if value else "SELECT 2",
        golden_sql=("SELECT 1",),
        reply="```sql\nSELECT 1\n```",
        scores={metric: Score(float(value), reason) for metric in METRICS},
        reason=reason,
        result=ResultSet(("n",), ((1,),) if value else ((2,),)),
        golden_result=ResultSet(("n",), ((1,),)),
        result_rows=1,
        golden_rows=1,
        latency_s=0.5,
        tokens_in=100,
        tokens_out=10,
    )
    return replace(made, **changes)


def run_of(cases: Sequence[CaseResult]) -> Run:
    """A complete run."""
    return Run(tuple(cases), METRICS, {"fingerprint": {"prompt": {"digest": "p"}}, "facts": {}})


def report_on(
    head: Sequence[CaseResult], baseline: Sequence[CaseResult] | None = None, *, verdict: Verdict | None = None, **changes: Any
) -> Report:
    """A report on `head` cases against `baseline` cases, decided under the default policy."""
    now = run_of(head)
    old = run_of(baseline) if baseline is not None else None
    comparison = pair(now, old) if old is not None else None
    decided = verdict or decide(comparison, now, Policy())
    report = Report(
        head=now,
        verdict=decided,
        comparison=comparison,
        baseline=old,
        gate="orders-eval",
        provenance=("baseline main@a1b2c3d, 2 days old", "0 faults"),
        reproduction=Reproduction(
            local="nl2sql-gate run --replies nl2sql-gate-out/run.json",
            docker='docker run --rm -v "$PWD:/w" -w /w ghcr.io/example/gate:v1 run --replies nl2sql-gate-out/run.json',
        ),
    )
    return replace(report, **changes)
