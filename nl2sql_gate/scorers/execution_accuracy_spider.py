"""Execution accuracy as the test-suite evaluation of Spider defines it, on one database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.records import Case, Execution, Reason, Row, Score, Side, SqlError
from nl2sql_gate.scorers.cell_equality import cell_key
from nl2sql_gate.scorers.column_order import SearchLimitError, find_columns


class ExecutionAccuracySpider:
    """1 if some order of the columns makes the generated rows equal to golden's, else 0.

    Rows: a multiset, duplicates count; a sequence, ties included, where the golden SQL says ORDER BY anywhere in its text.
    Columns: in any order, names ignored; their number must agree.
    Values: as the driver gives them, by Python's equality; NULL equals NULL; no tolerance.
    Empty results: equal to each other, whatever their columns.
    Forgives: the order of columns; of several golden queries any one.
    dml and ddl, which Spider does not have: the results of every eval_query.
    Equals the test-suite evaluation (Zhong, Yu and Klein 2020) with `--keep_distinct` on one database. Without that flag the
    original removes DISTINCT from both queries and runs what is left, which is another query than the model wrote; and it tries
    orders of columns one by one, where here they are found by assignment.
    """

    name = "execution_accuracy_spider"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case. Raises `ScorerFault` where look-alike columns cannot be told apart in time."""
        if any(_met(case, golden) for golden in case.goldens):
            return Score(1.0, version=self.version)
        return Score(0.0, Reason("rows", "no order of the columns makes the rows equal"), self.version)


def _met(case: Case, golden: Side) -> bool:
    if case.query_type == "dql" or not golden.evals:
        return _equal(golden.result, case.generated.result, ordered="order by" in golden.sql.lower())
    evals = case.generated.evals
    return len(evals) >= len(golden.evals) and all(_equal(a, b, ordered=False) for a, b in zip(golden.evals, evals, strict=False))


def _equal(golden: Execution, generated: Execution, *, ordered: bool) -> bool:
    if isinstance(golden, SqlError) or isinstance(generated, SqlError):
        return False
    if not golden.rows and not generated.rows:
        return True
    if len(golden.rows) != len(generated.rows) or len(golden.columns) != len(generated.columns):
        return False
    ours = _hashable(golden.rows)
    there = Counter(ours)

    def check(choice: tuple[int, ...]) -> bool:
        theirs = [tuple(row[c] for c in choice) for row in generated.rows]
        return _hashable(theirs) == ours if ordered else Counter(_hashable(theirs)) == there

    straight = tuple(range(len(golden.columns)))
    if check(straight):
        return True
    labels = range(len(golden.rows)) if ordered else None
    try:
        return find_columns(golden.rows, generated.rows, labels=labels, check=check, close=False) is not None
    except SearchLimitError as error:
        raise ScorerFault("the columns look too much alike to be told apart in time") from error


def _hashable(rows: Sequence[Row]) -> list[tuple[Hashable, ...]]:
    try:
        for row in rows:
            hash(row)
    except TypeError:
        return [tuple(map(cell_key, row)) for row in rows]
    return list(rows)
