"""Runs mutants beside golden SQL, in the isolation in which generated SQL runs, and says which of them the data tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nl2sql_gate.errors import Fault
from nl2sql_gate.golden import Golden, mode_of
from nl2sql_gate.judge import Planned, Rules, judge_sql
from nl2sql_gate.mutation import Mutant, Mutations, Recipe, mutate, mutate_in_turn
from nl2sql_gate.mutation_testing.equivalence import Equivalents
from nl2sql_gate.mutation_testing.fates import MutatedItem, Tried
from nl2sql_gate.protocols import Scorer
from nl2sql_gate.records import Case, CaseResult, Reason, Schema, Score
from nl2sql_gate.sqltext import canonical_sql

_LIMITS = {"timeout", "too_many_rows", "too_many_bytes"}


@dataclass(frozen=True, slots=True)
class Bench:
    """What mutants are tested with. `killer` is the scorer whose verdict counts.

    `sequences` are operators to be applied in turn, each giving at most one mutant, instead of what `recipe` gives.
    """

    rules: Rules
    killer: Scorer
    recipe: Recipe = field(default_factory=Recipe)
    sequences: tuple[tuple[str, ...], ...] = ()
    schemas: Mapping[tuple[str, str], Schema] = field(default_factory=dict)
    equivalents: Equivalents = field(default_factory=Equivalents)


def try_mutants(planned: Planned, golden: Golden | Fault, bench: Bench) -> MutatedItem:
    """All mutants of one item in one dialect, run and judged; or why it has none."""
    dialect = planned.target.dialect
    listed = planned.item.golden_sql.pick(dialect)
    sequence = mode_of(planned.item, bench.rules.golden_mode) == "sequence"
    sql = ";\n".join(text.strip().rstrip(";") for text in (listed if sequence else listed[:1]))
    tested = MutatedItem(planned.key, planned.item, dialect, sql)
    if isinstance(golden, Fault):
        return replace(tested, problem=Reason("unmeasured", f"golden SQL could not be run: {golden.what}"))
    problem = golden.failure or golden.skip
    if problem is not None:
        return replace(tested, problem=problem)
    if not sql:
        return replace(tested, problem=Reason("no_golden", f"no golden SQL in {dialect}"))
    if not sequence and planned.target.reference is None:
        # An alternative that failed is dropped; what is mutated is one that ran.
        sql = golden.sides[0].sql
        tested = replace(tested, golden_sql=sql)
    mutations = _mutations(sql, planned, bench)
    if not mutations.understood:
        return replace(tested, problem=Reason("not_understood", f"no grammar of {dialect} covers the golden SQL"))
    control = _judged(planned, golden, bench, mutations.rendered)
    if control.fate != "survived":
        words = f"golden SQL written anew is {control.fate}: {control.reason or 'its result differs'}"
        return replace(tested, problem=Reason("not_faithful", words))
    known = _Known.of(listed if not sequence else (sql,), dialect)
    return replace(tested, mutants=tuple(_tested(mutant, planned, golden, bench, known) for mutant in mutations.mutants))


def executed(tested: Tried, planned: Planned, golden: Golden, *, rules: Rules) -> Case | None:
    """The mutant run once more, as scorers see it; nothing where it gives no result now."""
    keeper = _Keeper()
    asked = replace(planned.result("answered"), sql=tested.mutant.sql)
    judge_sql(planned, asked, golden, scorers=(keeper,), rules=rules)
    return keeper.case


class _Keeper:
    """A scorer that keeps the case."""

    name = "kept"
    version = "1"

    def __init__(self) -> None:
        self.case: Case | None = None

    def score(self, case: Case) -> Score:
        self.case = case
        return Score(1.0)


@dataclass(frozen=True, slots=True)
class _Known:
    """The golden queries in one spelling: a mutant that is one of them has no error."""

    forms: frozenset[str]

    @classmethod
    def of(cls, sqls: Sequence[str], dialect: str) -> _Known:
        return cls(frozenset(form for sql in sqls if (form := canonical_sql(sql, dialect)) is not None))


def _mutations(sql: str, planned: Planned, bench: Bench) -> Mutations:
    schema = bench.schemas.get((planned.target.name, planned.item.database))
    dialect = planned.target.dialect
    if not bench.sequences:
        return mutate(sql, dialect, schema=schema, recipe=bench.recipe)
    plain = mutate(sql, dialect, recipe=replace(bench.recipe, depth=0))
    found = [mutate_in_turn(sql, dialect, names, schema=schema, recipe=bench.recipe) for names in bench.sequences]
    distinct = {mutant.sql: mutant for mutant in found if mutant is not None and mutant.sql != plain.rendered}
    return replace(plain, mutants=tuple(distinct.values()))


def _tested(mutant: Mutant, planned: Planned, golden: Golden, bench: Bench, known: _Known) -> Tried:
    if canonical_sql(mutant.sql, planned.target.dialect) in known.forms:
        return Tried(mutant, "equivalent", "it is one of the golden queries")
    tested = replace(_judged(planned, golden, bench, mutant.sql), mutant=mutant)
    reason = bench.equivalents.reason(planned.key.id, planned.target.dialect, mutant.sql)
    if reason is None:
        return tested
    if tested.fate == "killed":
        return replace(tested, reason=f"marked as equivalent ({reason}), and its result differs: {tested.reason}")
    return replace(tested, fate="equivalent", reason=reason) if tested.fate == "survived" else tested


def _judged(planned: Planned, golden: Golden, bench: Bench, sql: str) -> Tried:
    """The fate of SQL. The mutant itself is filled in by the caller."""
    asked = replace(planned.result("answered"), sql=sql)
    found = judge_sql(planned, asked, golden, scorers=(bench.killer,), rules=bench.rules)
    mutant = Mutant(sql, (), ())
    if found.outcome == "timeout" or (found.error is not None and found.error.reason in _LIMITS):
        return Tried(mutant, "limit", _why(found))
    if found.outcome == "sql_error":
        return Tried(mutant, "invalid", _why(found))
    verdict = found.scores.get(bench.killer.name)
    if found.outcome != "answered" or not isinstance(verdict, Score):
        return Tried(mutant, "unmeasured", _why(found) or str(getattr(verdict, "fault", "")))
    scores = {name: score for name, score in found.scores.items() if isinstance(score, Score)}
    if verdict.value >= 1:
        return Tried(mutant, "survived", scores=scores)
    return Tried(mutant, "killed", verdict.reason.message if verdict.reason is not None else "", scores)


def _why(found: CaseResult) -> str:
    return found.reason.message if found.reason is not None else ""
