"""Execution accuracy as the BIRD benchmark defines it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.records import Case, Execution, Reason, Row, Score, Side, SqlError
from nl2sql_gate.scorers.cell_equality import cell_key
from nl2sql_gate.sqltext.split import split_statements


class ExecutionAccuracyBird:
    """1 if the sets of golden and generated rows are equal, else 0.

    Rows: a set, so duplicates and order never count. Columns: by position, names ignored.
    Values: as the driver gives them, by Python's equality: NULL equals NULL, 1 equals 1.0, NaN equals no other NaN; no tolerance.
    Arrays and documents, on which the original stops with an error, compare by content.
    Empty results: equal to each other, whatever their columns.
    Forgives: duplicates, a missing DISTINCT, any ORDER BY, a LIMIT that cuts only duplicates; of several golden queries any one.
    dml and ddl, which BIRD does not have: the results of every eval_query in the same way; without one, the rows returned.
    Several statements: 0 where BIRD's driver refuses them (SQLite, MySQL); elsewhere the last result counts.
    Equals `set(predicted) == set(golden)` of BIRD's evaluators on dql.
    """

    name = "execution_accuracy_bird"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        if case.query_type == "dql" and case.dialect in _ONE_STATEMENT and _holds_several(case):
            return Score(0.0, Reason("several_statements", "BIRD's driver refuses more than one statement"), self.version)
        comparisons = [_compared(case, golden) for golden in case.goldens]
        if any(all(equal_sets(*pair) for pair in pairs) for pairs in comparisons):
            return Score(1.0, version=self.version)
        golden, generated = next(pair for pair in comparisons[0] if not equal_sets(*pair))
        return Score(0.0, _difference(golden, generated), self.version)


_ONE_STATEMENT = frozenset({"sqlite", "mysql", "mariadb"})


def _holds_several(case: Case) -> bool:
    sql = case.generated.sql.rstrip()
    if sql.find(";") in {-1, len(sql) - 1}:
        return False
    return len(split_statements(sql, case.dialect)) > 1


def equal_sets(golden: Execution, generated: Execution) -> bool:
    """Whether two results hold the same rows, each counted once; an error equals nothing."""
    if isinstance(golden, SqlError) or isinstance(generated, SqlError):
        return False
    try:
        return set(golden.rows) == set(generated.rows)
    except TypeError:
        return set(map(_content, golden.rows)) == set(map(_content, generated.rows))


def _compared(case: Case, golden: Side) -> list[tuple[Execution, Execution]]:
    """The results that must all be equal for `golden` to be met."""
    if case.query_type == "dql" or not golden.evals:
        return [(golden.result, case.generated.result)]
    absent = (SqlError("it did not run"),) * (len(golden.evals) - len(case.generated.evals))
    return list(zip(golden.evals, (*case.generated.evals, *absent), strict=False))


def _difference(golden: Execution, generated: Execution) -> Reason:
    if isinstance(generated, SqlError):
        return Reason("eval_error", f"eval_query afterwards: {generated.message}")
    if isinstance(golden, SqlError):
        raise ScorerFault(f"golden's eval_query failed: {golden.message}")
    missing, extra = _only_in(golden.rows, generated.rows), _only_in(generated.rows, golden.rows)
    message = f"distinct rows: {missing} missing, {extra} extra"
    return Reason("row_set", message, {"missing_rows": missing, "extra_rows": extra})


def _only_in(rows: Sequence[Row], others: Sequence[Row]) -> int:
    try:
        return len(set(rows) - set(others))
    except TypeError:
        return len(set(map(_content, rows)) - set(map(_content, others)))


def _content(row: Row) -> Hashable:
    return tuple(cell if isinstance(cell, Hashable) and _hashes(cell) else cell_key(cell) for cell in row)


def _hashes(cell: Hashable) -> bool:
    try:
        hash(cell)
    except TypeError:
        return False
    return True
