"""Execution accuracy, our strict one: a result is right when it is golden's result, a write when it leaves what golden leaves."""

from __future__ import annotations

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.records import FREE_ORDER, Case, Reason, Score, Side, SqlError
from nl2sql_gate.scorers.difference import describe_difference
from nl2sql_gate.scorers.result_equality import equal_results
from nl2sql_gate.state import describe_difference as describe_effect

REPORTED = "catalogue"
"""Code of a reason beside a full score: differences in the catalogue that decide nothing under `state: effects`."""
SHOWN_SENTENCES = 5


class ExecutionAccuracy:
    """1 if the generated SQL has the effect of golden SQL, else 0.

    Rows: a multiset, duplicates count; in order where golden has a top-level ORDER BY, rows that tie on its keys in any order.
    Columns: by position, names ignored; `columns: any_order` or `superset` of an item or dataset relaxes this.
    NULL equals NULL only, NaN equals NaN; numbers exactly, a relative 1e-9 where one side is a binary float;
    time by value and kind; all of it in `cell_equality`.
    Empty results: equal to each other when they have as many columns; never equal to rows.
    Forgives: column names, row order without ORDER BY, float noise; of several golden queries any one.
    dml and ddl: the results of eval_query decide where there is one, an empty result included; changes beyond golden's fail.
    Without an eval_query the state left behind decides.
    Differs from BIRD's EX, which compares sets of raw rows: see `execution_accuracy_bird`.
    """

    name = "execution_accuracy"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case; the reason of a 0 says what differs from the golden alternative that comes closest."""
        if case.query_type == "dql":
            return self._score_results(case)
        return self._score_effect(case)

    def _score_results(self, case: Case) -> Score:
        generated = case.generated.result
        for golden in case.goldens:
            if equal_results(golden.result, generated, order=golden.order, columns=case.columns):
                return Score(1.0, version=self.version)
        reasons = [describe_difference(golden.result, generated, order=golden.order) for golden in case.goldens]
        return Score(0.0, max(reasons, key=_closeness), self.version)

    def _score_effect(self, case: Case) -> Score:
        found = [_effect_difference(case, golden) for golden in case.goldens]
        for reason in found:
            if reason is None or reason.code == REPORTED:
                return Score(1.0, reason, self.version)
        return Score(0.0, found[0], self.version)


def _closeness(reason: Reason) -> float:
    return float(reason.detail["matched_rows"])


def _effect_difference(case: Case, golden: Side) -> Reason | None:
    """What is wrong with the effect, or what is only reported; `None` where there is nothing to say."""
    generated = case.generated
    reason = _eval_difference(golden, generated, case.columns)
    if reason is not None:
        return reason
    if golden.before is None or golden.after is None or generated.before is None or generated.after is None:
        if not golden.evals:
            raise ScorerFault("neither an eval_query nor the state tells the effect")
        return None
    found = describe_effect(golden.before, golden.after, generated.before, generated.after, golden_again=golden.after_again)
    # An eval_query that golden's change does not touch decides nothing; then the state does.
    decides = bool(golden.evals) and golden.evals_before != golden.evals
    wrong = found.wrong(eval_decides=decides, strict=case.state == "strict")
    detail = {
        "collateral": list(found.collateral),
        "missing": list(found.missing),
        "different": list(found.different),
        "catalogue": list(found.catalogue),
        "ignored": list(found.ignored),
    }
    if wrong:
        code = "collateral" if wrong[0] in found.collateral else "effect"
        return Reason(code, "; ".join(wrong[:SHOWN_SENTENCES]), detail)
    return Reason(REPORTED, "; ".join(found.catalogue[:SHOWN_SENTENCES]), detail) if found.catalogue else None


def _eval_difference(golden: Side, generated: Side, columns: str) -> Reason | None:
    for number, ours in enumerate(golden.evals):
        which = "eval_query" if len(golden.evals) == 1 else f"eval_query {number + 1}"
        theirs = generated.evals[number] if number < len(generated.evals) else SqlError("it did not run")
        if isinstance(ours, SqlError):
            raise ScorerFault(f"golden's {which} failed: {ours.message}")
        if isinstance(theirs, SqlError):
            return Reason("eval_error", f"{which} afterwards: {theirs.message}", {"matched_rows": 0})
        order = golden.eval_orders[number] if number < len(golden.eval_orders) else FREE_ORDER
        if not equal_results(ours, theirs, order=order, columns=columns):
            reason = describe_difference(ours, theirs, order=order)
            return Reason(f"eval_{reason.code}", f"{which} afterwards: {reason.message}", reason.detail)
    return None
