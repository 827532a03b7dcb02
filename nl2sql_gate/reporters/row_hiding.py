"""A report on somebody's own rows: everything that was measured, and no value that stands in a cell.

Rows are left out of cases and of the details of reasons. What a database says may quote a value ("invalid input syntax for type
integer: …"): of its words stays what the SQL itself holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from nl2sql_gate.judgement import Comparison, MetricComparison, Pair
from nl2sql_gate.records import CaseResult, Reason, Run, Score, ScoreFault, SqlError, Warned
from nl2sql_gate.reporters.report import Report

HIDDEN = "…"

_OURS = frozenset({"timeout", "too_many_rows", "too_many_bytes"})
"""Reasons of errors whose words are ours."""

_OWN_WORDS = frozenset(
    ("execution_accuracy", "execution_accuracy_bird", "execution_accuracy_spider", "soft_f1_bird", "r_ves", "exact_match")
)
_OWN_FAMILIES = re.compile(r"evalbench_\w+|\w+_(?:cell|row)_(?:exp|exr|f1)")
"""Scorers whose sentences name columns and counts alone. A judge, a program, a plugin may write whatever they were shown."""

_TEXTS = frozenset(
    (
        *("columns", "golden_columns", "generated_columns", "golden", "generated"),
        *("collateral", "missing", "different", "catalogue", "ignored"),
    )
)
"""Keys of details under which names, SQL or sentences stand; rows under the same key are lists of cells."""

_SAID_BY_DATABASE = frozenset({"eval_error", "setup_sql", "eval_query", "error", "refused", "golden_error", "golden_refused"})
_WARNED_BY_DATABASE = frozenset({"golden_alternative_fails", "cleanup_sql"})
_FREE_TEXT = frozenset({"P0001", "1644", "45000"})
"""Codes of errors that a function of the database raises in words of its own; SQL Server's begin at 50,000."""

_FIRST_OF_USERS = 50_000
_QUOTES = "'\"`“”«»"
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|`([^`]*)`|“([^”]*)”|«([^»]*)»")
_VALUES = re.compile(r"(?<=\)=\()[^\n]*(?=\))|(?<![\w.])(?<!line )(?<!LINE )[+-]?\d[\d.,:eE+-]*(?!\w)")
_PLACES = frozenset({"field list", "where clause", "having clause", "on clause", "order clause", "group statement", "group by"})
"""What MySQL quotes beside names: parts of a statement."""


def without_rows(report: Report) -> Report:
    """`report` for readers who may not see rows."""
    hidden: dict[int, CaseResult] = {}

    def case(given: CaseResult) -> CaseResult:
        if id(given) not in hidden:
            hidden[id(given)] = _case(given)
        return hidden[id(given)]

    def run(given: Run) -> Run:
        sql = "\n".join(text for each in given.cases for text in (*each.golden_sql, each.sql))
        warnings = tuple(_warning(warned, sql) for warned in given.warnings)
        return replace(given, cases=tuple(map(case, given.cases)), warnings=warnings)

    return replace(
        report,
        head=run(report.head),
        baseline=None if report.baseline is None else run(report.baseline),
        comparison=None if report.comparison is None else _comparison(report.comparison, case),
    )


def without_values(message: str, sql: str) -> str:
    """What a database said, without quoted texts and numbers that do not stand in `sql`."""
    known = sql.lower()
    for match in _QUOTED.finditer(message):
        text = next(part for part in match.groups() if part is not None)
        if text.strip().lower() in _PLACES or all(part.strip().lower() in known for part in text.split(".")):
            continue
        # A value may hold quotes too: all up to the last one is hidden.
        end = max(message.rfind(quote) for quote in _QUOTES)
        message = f"{message[: match.start() + 1]}{HIDDEN}{message[max(end, match.start() + 1) :]}"
        break
    return _VALUES.sub(lambda number: number[0] if number[0].strip(".,:") in sql else HIDDEN, message)


def _case(case: CaseResult) -> CaseResult:
    sql = "\n".join((case.sql, *case.golden_sql))
    bare = replace(
        case,
        result=None,
        golden_result=None,
        error=None if case.error is None else _error(case.error, sql),
        warnings=tuple(_warning(warned, sql) for warned in case.warnings),
    )
    if case.outcome == "answered":
        scores = {name: _score(name, score, sql) for name, score in case.scores.items()}
        return replace(bare, scores=scores, reason=_reason_of_answer(case, scores))
    reason = None if case.reason is None else _reason(case.reason, case, sql)
    # The model's failures have one reason in all scores.
    failed = {name: replace(score, reason=reason) if isinstance(score, Score) else score for name, score in case.scores.items()}
    return replace(bare, scores=failed, reason=reason)


def _reason_of_answer(case: CaseResult, hidden: Mapping[str, Score | ScoreFault]) -> Reason | None:
    """The reason of the score from which the case has its own."""
    for name, score in case.scores.items():
        shown = hidden[name]
        if case.reason is not None and isinstance(score, Score) and isinstance(shown, Score) and score.reason == case.reason:
            return shown.reason
    return None if case.reason is None else Reason(case.reason.code, case.reason.code)


def _error(error: SqlError, sql: str) -> SqlError:
    if error.reason in _OURS:
        return error
    if error.code in _FREE_TEXT or (error.code.isdigit() and int(error.code) >= _FIRST_OF_USERS):
        return replace(error, message="an error that the database's own code raises; its words may quote rows")
    return replace(error, message=without_values(error.message, sql))


def _reason(reason: Reason, case: CaseResult, sql: str) -> Reason:
    message = reason.message
    if case.error is not None and case.error.message and case.error.message in message:
        message = message.replace(case.error.message, _error(case.error, sql).message)
    elif case.outcome == "unscored" or reason.code in _SAID_BY_DATABASE:
        message = without_values(message, sql)
    return replace(reason, message=message, detail=_detail(reason.detail))


def _score(name: str, score: Score | ScoreFault, sql: str) -> Score | ScoreFault:
    own = name in _OWN_WORDS or _OWN_FAMILIES.fullmatch(name) is not None
    if isinstance(score, ScoreFault):
        return ScoreFault(without_values(score.fault, sql) if own else "not measured; the scorer's words may quote rows")
    if score.reason is None:
        return score
    if not own or score.reason.code == "command":
        return replace(score, reason=Reason(score.reason.code, f"{score.reason.code}; the scorer's words may quote rows"))
    message = score.reason.message
    message = without_values(message, sql) if score.reason.code in _SAID_BY_DATABASE else message
    return replace(score, reason=replace(score.reason, message=message, detail=_detail(score.reason.detail)))


def _detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Counts, and texts where they are names or sentences."""
    return {
        name: value
        for name, value in detail.items()
        if isinstance(value, bool | int | float | None) or (name in _TEXTS and _is_text(value))
    }


def _is_text(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(part, str) for part in value)
    return isinstance(value, str)


def _warning(warned: Warned, sql: str) -> Warned:
    return replace(warned, message=without_values(warned.message, sql)) if warned.code in _WARNED_BY_DATABASE else warned


def _comparison(comparison: Comparison, case: Callable[[CaseResult], CaseResult]) -> Comparison:
    def hide(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        return tuple(replace(pair, old=pair.old and case(pair.old), new=pair.new and case(pair.new)) for pair in pairs)

    def metric(found: MetricComparison) -> MetricComparison:
        return replace(
            found,
            broke=hide(found.broke),
            fixed=hide(found.fixed),
            passing=hide(found.passing),
            failing=hide(found.failing),
            unmeasured=hide(found.unmeasured),
        )

    return replace(
        comparison,
        pairs=hide(comparison.pairs),
        metrics={name: metric(found) for name, found in comparison.metrics.items()},
        changed=hide(comparison.changed),
        new=hide(comparison.new),
        removed=hide(comparison.removed),
        golden_errors=hide(comparison.golden_errors),
        skipped=hide(comparison.skipped),
    )
