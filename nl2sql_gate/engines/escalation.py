"""A session that begins in this process, and goes on in a killable one when SQL comes that could not be stopped here."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime

from nl2sql_gate.engines.distant_sessions import DistantSession
from nl2sql_gate.engines.sqlite_guard import Unbounded
from nl2sql_gate.engines.sqlite_session import SqliteSession
from nl2sql_gate.protocols import Session
from nl2sql_gate.records import Execution, State


class EscalatingSession:
    """`near` as long as it will do, then what `far` opens. With `replays` all that has run is run there again first."""

    def __init__(self, near: SqliteSession, far: Callable[[], AbstractContextManager[DistantSession]], *, replays: bool) -> None:
        self._near = near
        self._open_far = far
        self._replays = replays
        self._far: DistantSession | None = None
        self._stack = ExitStack()
        self._past: list[Callable[[Session], object]] = []

    def execute(self, sql: str) -> Execution:
        """Run `sql` as it stands, within the limits. Raises `EngineFault` where the database or a process fails."""
        if self._far is None:
            started = time.monotonic()
            try:
                ran = self._near.execute(sql)
            except Unbounded:
                # The limit is one for both.
                return self._leave().execute(sql, spent=time.monotonic() - started)
            if self._replays:
                self._past.append(lambda session: session.execute(sql))
            return ran
        return self._far.execute(sql)

    def state(self) -> State:
        """Tables and catalogue as this session sees them."""
        if self._far is None:
            try:
                return self._near.state()
            except Unbounded:
                return self._leave().state()
        return self._far.state()

    def set_clock(self, instant: datetime | None) -> None:
        """Let the clock stand at `instant`, or run again."""
        self._do(lambda session: session.set_clock(instant))

    def protect(self) -> None:
        """Refuse writes from now on."""
        self._do(lambda session: session.protect())

    def close(self) -> None:
        """Give back what was opened far."""
        self._stack.close()

    def _do(self, action: Callable[[Session], object]) -> None:
        if self._far is None:
            self._past.append(action)
        action(self._far or self._near)

    def _leave(self) -> DistantSession:
        self._far = far = self._stack.enter_context(self._open_far())
        for action in self._past:
            action(far)
        return far
