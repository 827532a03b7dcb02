"""Records as plain JSON objects, one a case, in the words of the published format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nl2sql_gate.records import CaseResult, Place, Reason, ResultSet, Row, Run, Score, ScoreFault, SqlError, Warned
from nl2sql_gate.runfile.cells import encode_cell

RUN_FORMAT = "nl2sql-gate/run/v1"
BASELINE_FORMAT = "nl2sql-gate/baseline/v1"


def case_entry(case: CaseResult) -> dict[str, Any]:
    """Everything that is known of a case. The keys of `interface.md` are always there, others where they say something."""
    entry = {
        **_key(case),
        "type": case.query_type,
        "sql": case.sql,
        "scores": {name: score_entry(score) for name, score in case.scores.items()},
        "reason": reason_entry(case.reason),
        "error": error_entry(case.error),
        "latency_s": case.latency_s,
        "tokens": _tokens(case),
    }
    extra = {
        "question": case.question,
        "tags": list(case.tags),
        "difficulty": case.difficulty,
        "golden_sql": list(case.golden_sql),
        "reply": case.reply,
        "rule": case.rule,
        "result": result_entry(case.result),
        "golden_result": result_entry(case.golden_result),
        "result_rows": case.result_rows,
        "golden_rows": case.golden_rows,
        "model": case.model,
        "replayed": case.replayed,
        "warnings": [warned_entry(warning) for warning in case.warnings],
    }
    timings = {"sql_s": case.sql_s, "golden_s": case.golden_s, "cost": case.cost}
    entry.update({name: value for name, value in extra.items() if value})
    entry.update({name: value for name, value in timings.items() if value is not None})
    return entry


def baseline_case_entry(case: CaseResult) -> dict[str, Any]:
    """What a repository may keep of a case: no reply, no rows, and no message, since messages quote values of the database."""
    entry = {
        **_key(case),
        "type": case.query_type,
        "sql": case.sql,
        "scores": {name: _public_score(score) for name, score in case.scores.items()},
        "reason": {"code": case.reason.code} if case.reason else None,
        "error": {"code": case.error.code, "reason": case.error.reason} if case.error else None,
        "latency_s": case.latency_s,
        "tokens": _tokens(case),
    }
    return entry if case.cost is None else {**entry, "cost": case.cost}


def run_head(run: Run) -> dict[str, Any]:
    """The keys of a run file beside its cases."""
    head = {
        "format": RUN_FORMAT,
        "metrics": list(run.metrics),
        "provenance": run.provenance,
        "complete": run.complete,
        "warnings": [warned_entry(warning) for warning in run.warnings],
    }
    return head if run.verdict is None else {**head, "verdict": run.verdict}


def baseline_head(run: Run) -> dict[str, Any]:
    """The keys of a baseline file beside its cases."""
    head = {"format": BASELINE_FORMAT, "metrics": list(run.metrics), "provenance": run.provenance, "complete": run.complete}
    if run.verdict is None:
        return head
    reasons = [{"code": str(reason.get("code", ""))} for reason in run.verdict.get("reasons", ())]
    return {**head, "verdict": {"status": run.verdict.get("status", ""), "reasons": reasons}}


def score_entry(score: Score | ScoreFault) -> dict[str, Any]:
    """`{value, reason, version}` or `{fault}`."""
    if isinstance(score, ScoreFault):
        return {"fault": score.fault}
    return {"value": score.value, "reason": reason_entry(score.reason), "version": score.version}


def reason_entry(reason: Reason | None) -> dict[str, Any] | None:
    """`{code, message, detail}`, the last where there is any."""
    if reason is None:
        return None
    entry: dict[str, Any] = {"code": reason.code, "message": reason.message}
    return {**entry, "detail": dict(reason.detail)} if reason.detail else entry


def error_entry(error: SqlError | None) -> dict[str, Any] | None:
    """What the database said, in its words."""
    if error is None:
        return None
    return {"message": error.message, "code": error.code, "reason": error.reason, "elapsed_s": error.elapsed_s}


def result_entry(result: ResultSet | None) -> dict[str, Any] | None:
    """Column names beside positional rows of encoded cells."""
    if result is None:
        return None
    return {
        "columns": list(result.columns),
        "rows": rows_entry(result.rows),
        "rowcount": result.rowcount,
        "elapsed_s": result.elapsed_s,
    }


def rows_entry(rows: Iterable[Row]) -> list[list[Any]]:
    """Rows of encoded cells."""
    return [[encode_cell(cell) for cell in row] for row in rows]


def warned_entry(warning: Warned) -> dict[str, Any]:
    """A warning, with its place where it has one."""
    entry = {"code": warning.code, "message": warning.message, "subject": warning.subject}
    return entry if warning.place == Place() else {**entry, "place": {"file": warning.place.file, "line": warning.place.line}}


def _key(case: CaseResult) -> dict[str, Any]:
    return {
        "id": case.key.id,
        "dialect": case.key.dialect,
        "database": case.key.database,
        "trial": case.key.trial,
        "digest": case.digest,
        "outcome": case.outcome,
    }


def _tokens(case: CaseResult) -> Mapping[str, int | None] | None:
    if case.tokens_in is None and case.tokens_out is None:
        return None
    return {"in": case.tokens_in, "out": case.tokens_out}


def _public_score(score: Score | ScoreFault) -> dict[str, Any]:
    if isinstance(score, ScoreFault):
        return {"fault": "not measured"}
    return {"value": score.value, "reason": {"code": score.reason.code} if score.reason else None, "version": score.version}
