"""Runs one side of a case, golden or generated, in isolation: setup → SQL → eval queries → state → cleanup → discard."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from nl2sql_gate.errors import StateTimeout
from nl2sql_gate.protocols import Database, Session
from nl2sql_gate.records import Execution, QueryType, ResultSet, SqlError, State


@dataclass(frozen=True, slots=True)
class Work:
    """The SQL of one side, all of it in one dialect. `statements` run in order, and the last result counts."""

    query_type: QueryType
    statements: tuple[str, ...]
    setup: tuple[str, ...] = ()
    evals: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether the side needs a private copy."""
        return self.query_type != "dql" or bool(self.setup)


@dataclass(frozen=True, slots=True)
class Ran:
    """What happened. `setup_error` is set where the side never ran; `evals` and `after` are empty after an error."""

    result: Execution
    elapsed_s: float = 0.0
    extra: tuple[Execution, ...] = ()
    evals_before: tuple[Execution, ...] = ()
    evals: tuple[Execution, ...] = ()
    before: State | None = None
    after: State | None = None
    setup_error: SqlError | None = None
    cleanup_error: SqlError | None = None


def run(database: Database, work: Work, *, extra: Sequence[str] = (), clock: datetime | None = None) -> Ran:
    """Run `work` on `database`. `extra` queries run after it in the same session (dql only). Raises `EngineFault`.

    With `clock` the session's clock stands still at that moment, where the engine can do that.
    """
    if not work.writes:
        with database.reading() as session, _clock(session, clock):
            return _query(session, work, extra)
    everything = (*work.setup, *work.statements, *work.evals, *work.cleanup)
    with database.writing(everything) as session, _clock(session, clock):
        for statement in work.setup:
            ran = session.execute(statement)
            if isinstance(ran, SqlError):
                return Ran(ran, setup_error=ran)
        if work.query_type == "dql":
            session.protect()
            return _query(session, work, extra)
        return _effect(session, work)


@contextmanager
def _clock(session: Session, instant: datetime | None) -> Iterator[None]:
    setting = getattr(session, "set_clock", None)
    if instant is None or setting is None:
        yield
        return
    setting(instant)
    try:
        yield
    finally:
        setting(None)


def _query(session: Session, work: Work, extra: Sequence[str]) -> Ran:
    result, elapsed_s = _sequence(session, work.statements)
    if isinstance(result, SqlError):
        return Ran(result, elapsed_s)
    return Ran(result, elapsed_s, extra=tuple(session.execute(sql) for sql in extra))


def _effect(session: Session, work: Work) -> Ran:
    before = session.state()
    # For ddl the eval queries often name what does not exist yet, and an error could abort the transaction.
    evals_before = tuple(session.execute(sql) for sql in work.evals) if work.query_type == "dml" else ()
    result, elapsed_s = _sequence(session, work.statements)
    if isinstance(result, SqlError):
        return Ran(result, elapsed_s, before=before, evals_before=evals_before)
    evals: list[Execution] = []
    for sql in work.evals:
        evals.append(session.execute(sql))
        if isinstance(evals[-1], SqlError):
            # A failed query may have aborted the transaction: what follows would only repeat that.
            return Ran(result, elapsed_s, evals_before=evals_before, evals=tuple(evals), before=before)
    try:
        after = session.state()
    except StateTimeout as late:
        return Ran(SqlError(late.what, reason="timeout"), elapsed_s, evals_before=evals_before, evals=tuple(evals), before=before)
    cleanup, _ = _sequence(session, work.cleanup)
    return Ran(
        result,
        elapsed_s,
        evals_before=evals_before,
        evals=tuple(evals),
        before=before,
        after=after,
        cleanup_error=cleanup if isinstance(cleanup, SqlError) else None,
    )


def _sequence(session: Session, statements: Sequence[str]) -> tuple[Execution, float]:
    started = time.perf_counter()
    result: Execution = ResultSet((), ())
    for statement in statements:
        result = session.execute(statement)
        if isinstance(result, SqlError):
            break
    return result, time.perf_counter() - started
