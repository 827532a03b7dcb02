"""Records from the validated objects of a run or baseline file."""

from __future__ import annotations

from nl2sql_gate.records import (
    CaseKey,
    CaseResult,
    Place,
    Reason,
    ResultSet,
    Run,
    Score,
    ScoreFault,
    SqlError,
    Warned,
)
from nl2sql_gate.runfile import format as form
from nl2sql_gate.runfile.cells import decode_cell


def restore_run(file: form.RunFile) -> Run:
    """The run that the file describes. Raises `ValueError` on a cell of an unknown type."""
    return Run(
        cases=tuple(map(restore_case, file.cases)),
        metrics=tuple(file.metrics),
        provenance=file.provenance,
        warnings=tuple(map(_warned, file.warnings)),
        complete=file.complete,
        verdict=None if file.verdict is None else file.verdict.model_dump(),
    )


def restore_case(entry: form.RunCaseEntry) -> CaseResult:
    """One case. Raises `ValueError` on a cell of an unknown type."""
    tokens = entry.tokens
    return CaseResult(
        key=CaseKey(entry.id, entry.dialect, entry.database, entry.trial),
        outcome=entry.outcome,
        digest=entry.digest,
        query_type=entry.type,
        question=entry.question,
        tags=tuple(entry.tags),
        difficulty=entry.difficulty,
        sql=entry.sql,
        golden_sql=tuple(entry.golden_sql),
        reply=entry.reply,
        rule=entry.rule,
        scores={name: _score(score) for name, score in entry.scores.items()},
        reason=_reason(entry.reason),
        error=_error(entry.error),
        result=_result(entry.result),
        golden_result=_result(entry.golden_result),
        result_rows=entry.result_rows,
        golden_rows=entry.golden_rows,
        latency_s=entry.latency_s,
        sql_s=entry.sql_s,
        golden_s=entry.golden_s,
        tokens_in=tokens.tokens_in if tokens else None,
        tokens_out=tokens.tokens_out if tokens else None,
        cost=entry.cost,
        model=entry.model,
        replayed=entry.replayed,
        warnings=tuple(map(_warned, entry.warnings)),
    )


def _score(entry: form.ScoreEntry | form.FaultEntry) -> Score | ScoreFault:
    if isinstance(entry, form.FaultEntry):
        return ScoreFault(entry.fault)
    return Score(entry.value, _reason(entry.reason), entry.version)


def _reason(entry: form.ReasonEntry | None) -> Reason | None:
    return None if entry is None else Reason(entry.code, entry.message, entry.detail)


def _error(entry: form.ErrorEntry | None) -> SqlError | None:
    return None if entry is None else SqlError(entry.message, entry.code, entry.reason, entry.elapsed_s)


def _result(entry: form.ResultEntry | None) -> ResultSet | None:
    if entry is None:
        return None
    rows = tuple(tuple(map(decode_cell, row)) for row in entry.rows)
    return ResultSet(tuple(entry.columns), rows, entry.rowcount, entry.elapsed_s)


def _warned(entry: form.WarnedEntry) -> Warned:
    return Warned(entry.code, entry.message, entry.subject, Place(entry.place.file, entry.place.line))
