"""A run: its cases, each with one outcome, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nl2sql_gate.records.items import QueryType, Warned
from nl2sql_gate.records.questions import CaseKey
from nl2sql_gate.records.results import ResultSet, SqlError
from nl2sql_gate.records.scores import Reason, Score, ScoreFault

Outcome = Literal["answered", "no_sql", "sql_error", "timeout", "golden_error", "unscored", "skipped"]
MODEL_FAILURES: tuple[str, ...] = ("no_sql", "sql_error", "timeout")
"""Outcomes that score 0 in every scorer."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case as a run stores it. Results are capped copies for reports, never for scoring."""

    key: CaseKey
    outcome: Outcome
    digest: str
    query_type: QueryType = "dql"
    question: str = ""
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    sql: str = ""
    golden_sql: tuple[str, ...] = ()
    reply: str = ""
    rule: str = ""
    scores: Mapping[str, Score | ScoreFault] = field(default_factory=dict)
    reason: Reason | None = None
    error: SqlError | None = None
    result: ResultSet | None = None
    golden_result: ResultSet | None = None
    result_rows: int = 0
    golden_rows: int = 0
    latency_s: float | None = None
    sql_s: float | None = None
    golden_s: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    model: str = ""
    replayed: bool = False
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """All cases in dataset order, and where they come from.

    `provenance` is plain JSON: what must agree or be announced before two runs are compared (`fingerprint`), and facts (`facts`).
    `complete` is false for a filtered, sharded, interrupted or otherwise partial run.
    """

    cases: tuple[CaseResult, ...]
    metrics: tuple[str, ...]
    provenance: Mapping[str, Any]
    warnings: tuple[Warned, ...] = ()
    complete: bool = True
    verdict: Mapping[str, Any] | None = None
