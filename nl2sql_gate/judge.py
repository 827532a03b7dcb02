"""What a reply is worth: extract the SQL, run it in isolation, score it against the golden answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nl2sql_gate import golden as goldens
from nl2sql_gate.errors import EngineFault, Fault
from nl2sql_gate.execution import Ran, Work, run
from nl2sql_gate.golden import Golden
from nl2sql_gate.meeting import met_side
from nl2sql_gate.protocols import Database, Scorer
from nl2sql_gate.records import (
    FREE_ORDER,
    Case,
    CaseKey,
    CaseResult,
    Completion,
    Item,
    NoSql,
    Outcome,
    Reason,
    ResultSet,
    Score,
    ScoreFault,
    Side,
    SqlError,
    Warned,
)

KEPT_ROWS = 50
KEPT_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    """Where cases of one dialect run. `name` is the service's, `dialect` the language; golden SQL runs on `reference` if given.

    `deterministic` engines give the same rows twice, so goldens without a clock run once.
    """

    name: str
    dialect: str
    databases: Mapping[str, Database]
    deterministic: bool = False
    reference: Target | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """How results are compared where an item does not say otherwise; the values of `Settings.scoring`.

    `clock` is the moment at which the databases' clocks stand for SQL that names them, where the engine can do that.
    """

    columns: str = "position"
    golden_mode: str = "auto"
    state: str = "effects"
    clock: datetime | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """One case before it is asked."""

    key: CaseKey
    item: Item
    target: Target
    digest: str

    def result(self, outcome: Outcome, reason: Reason | None = None) -> CaseResult:
        """The case with `outcome` and what is known without asking."""
        return CaseResult(
            self.key,
            outcome,
            self.digest,
            query_type=self.item.query_type,
            question=self.item.question,
            tags=self.item.tags,
            difficulty=self.item.difficulty,
            golden_sql=self.item.golden_sql.pick(self.target.dialect),
            reason=reason,
        )


def preflight(planned: Planned, rules: Rules) -> Golden:
    """The golden answers for a case: on the reference where one is set. Raises `EngineFault`."""
    side = planned.target.reference or planned.target
    item = planned.item
    if planned.target.reference is not None and not item.golden_sql.pick(side.dialect):
        # The other convention: golden SQL under the target's key, written in the reference's dialect.
        item = replace(item, golden_sql=replace(item.golden_sql, everywhere=item.golden_sql.pick(planned.target.dialect)))
    database = side.databases[item.database]
    manner = goldens.Manner(rules.golden_mode, side.deterministic, rules.clock)
    found = goldens.answer(item, side.dialect, database, manner)
    return found if planned.target.reference is None else _without_state(found)


def _without_state(golden: Golden) -> Golden:
    """States of two products are not compared: there an eval query decides, and without one nothing does."""
    sides = tuple(replace(side, before=None, after=None, after_again=None) for side in golden.sides)
    if golden.query_type == "dql" or golden.failure is not None or all(side.evals for side in sides):
        return replace(golden, sides=sides)
    reason = Reason("unobserved", "without an eval_query nothing compares the effects on two products")
    return replace(golden, sides=(), skip=reason)


def judge(planned: Planned, completion: Completion, golden: Golden, *, scorers: Sequence[Scorer], rules: Rules) -> CaseResult:
    """The outcome and scores of one reply. Faults of the database become `unscored`; everything else is the model's."""
    from nl2sql_gate.sqltext import extract_sql

    found = extract_sql(completion, planned.target.dialect)
    asked = replace(
        planned.result("answered"),
        reply=completion.text[:KEPT_TEXT],
        tokens_in=completion.tokens_in,
        tokens_out=completion.tokens_out,
        latency_s=completion.latency_s,
        cost=completion.cost,
        model=completion.model,
        replayed=completion.replayed,
        warnings=golden.warnings,
    )
    if isinstance(found, NoSql):
        return wrong(asked, "no_sql", Reason(found.code, found.message), scorers)
    return judge_sql(planned, replace(asked, sql=found.sql, rule=found.rule), golden, scorers=scorers, rules=rules)


def judge_sql(planned: Planned, asked: CaseResult, golden: Golden, *, scorers: Sequence[Scorer], rules: Rules) -> CaseResult:
    """The outcome and scores of SQL that is at hand: `asked.sql`. Faults of the database become `unscored`."""
    try:
        return _run_and_score(planned, asked, golden, scorers=scorers, rules=rules)
    except EngineFault as fault:
        return unscored(asked, fault)


def unscored(case: CaseResult, fault: Fault) -> CaseResult:
    """The case that could not be measured, with the fault's words."""
    return replace(case, outcome="unscored", scores={}, reason=Reason(_code(fault), "; ".join((fault.what, *fault.where))))


def wrong(case: CaseResult, outcome: Outcome, reason: Reason, scorers: Sequence[Scorer]) -> CaseResult:
    """A failure of the model's: 0 in every scorer."""
    scores: dict[str, Score | ScoreFault] = {scorer.name: Score(0.0, reason, scorer.version) for scorer in scorers}
    return replace(case, outcome=outcome, scores=scores, reason=reason)


def _code(fault: Fault) -> str:
    return {"EndpointFault": "endpoint", "EngineFault": "engine"}.get(type(fault).__name__, "fault")


def _run_and_score(planned: Planned, asked: CaseResult, golden: Golden, *, scorers: Sequence[Scorer], rules: Rules) -> CaseResult:
    if golden.volatile:
        golden = preflight(planned, rules)
        if golden.failure is not None:
            return replace(asked, outcome="golden_error", reason=golden.failure, error=golden.error)
    item = planned.item
    database = planned.target.databases[item.database]
    work = goldens.work_of(item, planned.target.dialect, (asked.sql,))
    ran = _run(database, work, clock=rules.clock if golden.volatile else None)
    asked = replace(asked, sql_s=ran.elapsed_s, golden_s=golden.elapsed_s)
    if ran.setup_error is not None:
        # The golden side ran the same setup and succeeded, so this is no answer of the model's.
        return unscored(asked, EngineFault(f"setup_sql fails beside generated SQL: {ran.setup_error.message}"))
    if isinstance(ran.result, SqlError):
        return _refused(asked, ran.result, golden, scorers)
    if ran.cleanup_error is not None:
        warned = Warned("cleanup_sql", f"cleanup_sql fails: {ran.cleanup_error.message}", item.id, item.place)
        asked = replace(asked, warnings=(*asked.warnings, warned))
    return _score(planned, asked, golden, ran, scorers=scorers, rules=rules)


def _run(database: Database, work: Work, *, clock: datetime | None) -> Ran:
    try:
        return run(database, work, clock=clock)
    except EngineFault:
        # A connection may have been closed while it was idle: one fresh try, then it is a fault.
        return run(database, work, clock=clock)


def _refused(asked: CaseResult, error: SqlError, golden: Golden, scorers: Sequence[Scorer]) -> CaseResult:
    outcome: Outcome = "timeout" if error.reason == "timeout" else "sql_error"
    failed = wrong(asked, outcome, Reason(error.reason, error.message), scorers)
    return replace(_with_golden(failed, golden.sides[0]), error=error)


def _score(
    planned: Planned, asked: CaseResult, golden: Golden, ran: Ran, *, scorers: Sequence[Scorer], rules: Rules
) -> CaseResult:
    if not isinstance(ran.result, ResultSet):
        raise TypeError(ran.result)
    is_dql = asked.query_type == "dql"
    generated = Side(
        sql=asked.sql,
        result=ran.result,
        evals=ran.evals,
        evals_before=ran.evals_before,
        before=ran.before if planned.target.reference is None else None,
        after=ran.after if planned.target.reference is None else None,
    )
    generated = goldens.mask(generated, golden.sides[0].varies, is_dql=is_dql)
    sides = golden.sides
    if planned.item.row_order == "free":
        sides = tuple(replace(side, order=FREE_ORDER) for side in sides)
    if planned.target.reference is not None:
        # Golden ran on another product: what one keeps as a date the other may keep as text.
        sides, generated = tuple(map(met_side, sides)), met_side(generated)
    case = Case(
        item=planned.item,
        dialect=planned.target.dialect,
        query_type=asked.query_type,
        goldens=sides,
        generated=generated,
        columns=planned.item.columns or rules.columns,
        state=planned.item.state or rules.state,
    )
    scores = {scorer.name: _guarded(scorer, case) for scorer in scorers}
    low = next((s.reason for s in scores.values() if isinstance(s, Score) and s.value < 1 and s.reason is not None), None)
    shown = case.generated.result if is_dql else _first_eval(case.generated)
    scored = replace(asked, scores=scores, reason=low, result=_kept(shown), result_rows=len(shown.rows) if shown else 0)
    return _with_golden(scored, golden.sides[0])


def _guarded(scorer: Scorer, case: Case) -> Score | ScoreFault:
    try:
        return scorer.score(case)
    except Exception as error:  # noqa: BLE001 - a scorer may be a plugin, so any exception is possible; still not the model's fault
        return ScoreFault(f"{type(error).__name__}: {error}")


def _with_golden(case: CaseResult, side: Side) -> CaseResult:
    shown = side.result if case.query_type == "dql" else _first_eval(side)
    return replace(case, golden_result=_kept(shown), golden_rows=len(shown.rows) if shown else 0)


def _first_eval(side: Side) -> ResultSet | None:
    return next((result for result in side.evals if isinstance(result, ResultSet)), None)


def _kept(result: ResultSet | None) -> ResultSet | None:
    """A capped copy for reports."""
    return None if result is None else replace(result, rows=tuple(result.rows[:KEPT_ROWS]))
