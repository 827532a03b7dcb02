"""Sessions that run in a killable process, for a database that this process knows too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nl2sql_gate.engines.distant_state import decode
from nl2sql_gate.engines.killable import KILL_AFTER_S, Overrun, Worker, Workers
from nl2sql_gate.engines.statements import timed_out
from nl2sql_gate.errors import EngineFault, StateTimeout
from nl2sql_gate.records import Execution, Limits, SqlError, State


@dataclass(frozen=True)
class Distant:
    """How a process opens one database: `opener` is `module:function`; `template` gives this process' own first state."""

    workers: Workers
    opener: str
    key: str
    options: Mapping[str, Any]
    template: Callable[[], State]

    @contextmanager
    def session(self, statements: Sequence[str] | None) -> Iterator[DistantSession]:
        """A session in a process of its own: reading, or writing `statements`."""
        with ExitStack() as stack:
            worker = self._begun(stack, statements)
            try:
                yield DistantSession(worker, limits=self.options["limits"], template=self.template)
            finally:
                if worker.is_alive:
                    with suppress(EngineFault):
                        worker.call("end")

    def _begun(self, stack: ExitStack, statements: Sequence[str] | None) -> Worker:
        """A process whose session has begun, lent until `stack` ends. One that died while idle is replaced: nothing ran in it."""
        with ExitStack() as attempt:
            worker = attempt.enter_context(self.workers.lend(self.key))
            try:
                self._begin(worker, statements)
            except EngineFault:
                if worker.is_alive:
                    raise
            else:
                stack.push(attempt.pop_all())
                return worker
        worker = stack.enter_context(self.workers.lend(self.key, fresh=True))
        self._begin(worker, statements)
        return worker

    def _begin(self, worker: Worker, statements: Sequence[str] | None) -> None:
        if worker.opened != self.key:
            worker.opened = ""
            worker.call("open", self.opener, self.options)
            worker.opened = self.key
        worker.call("begin", None if statements is None else tuple(statements))


class DistantSession:
    """One session of one process. After a statement that had to be killed there is nothing left to run on."""

    def __init__(self, worker: Worker, *, limits: Limits, template: Callable[[], State]) -> None:
        self._worker = worker
        self._limit = limits.statement_s
        self._template = template
        self._ended: SqlError | None = None

    def execute(self, sql: str, *, spent: float = 0.0) -> Execution:
        """Run `sql` as it stands; `spent` seconds of its limit are gone. Raises `EngineFault` where database or process fail."""
        if self._ended is not None:
            return self._ended
        try:
            ran: Execution = self._worker.call("execute", sql, within=self._limit + KILL_AFTER_S - spent)
        except Overrun:
            self._ended = timed_out(self._limit)
            return self._ended
        return ran

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        try:
            found = self._worker.call("state", within=self._limit + KILL_AFTER_S)
        except Overrun as error:
            self._ended = timed_out(self._limit)
            raise StateTimeout(self._ended.message) from error
        return decode(found, self._template())

    def set_clock(self, instant: datetime | None) -> None:
        """Let the clock stand at `instant`, or run again."""
        if self._ended is None:
            self._worker.call("set_clock", instant)

    def protect(self) -> None:
        """Refuse writes from now on."""
        if self._ended is None:
            self._worker.call("protect")
