"""One thread that cancels statements at their time limit, whatever the number of sessions.

A timer a statement costs ten times as much as a trivial query; an entry in a heap costs nothing that shows.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable


class Deadline:
    """A running statement's limit. `fired` says that its cancel function was called."""

    __slots__ = ("_armed", "_cancel", "_lock", "fired")

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._lock = threading.Lock()
        self._armed = True
        self.fired = False

    def disarm(self) -> bool:
        """End of the statement: nothing is cancelled afterwards. Returns whether it had been."""
        with self._lock:
            self._armed = False
        return self.fired

    def fire(self) -> None:
        """Cancel the statement unless it has ended."""
        # Under the lock, so that the cancel never hits the connection's next statement.
        with self._lock:
            if self._armed:
                self.fired = True
                self._armed = False
                self._cancel()


class Watchdog:
    """Deadlines in a heap, and the thread that waits for the earliest."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._condition = threading.Condition()
        self._heap: list[tuple[float, int, Deadline]] = []
        self._count = itertools.count()
        self._pid = 0

    def arm(self, seconds: float, cancel: Callable[[], None]) -> Deadline:
        """Call `cancel` from the watchdog's thread in `seconds`, unless the deadline is disarmed before."""
        deadline = Deadline(cancel)
        due = time.monotonic() + seconds
        if self._pid != os.getpid():
            self._start()
        with self._condition:
            earliest = not self._heap or due < self._heap[0][0]
            heapq.heappush(self._heap, (due, next(self._count), deadline))
            if earliest:
                self._condition.notify()
        return deadline

    def _start(self) -> None:
        # A forked child has the parent's heap but not its thread.
        self._reset()
        self._pid = os.getpid()
        threading.Thread(target=self._run, name="statement-limits", daemon=True).start()

    def _run(self) -> None:
        condition, heap = self._condition, self._heap
        while True:
            with condition:
                if not heap:
                    condition.wait()
                    continue
                wait = heap[0][0] - time.monotonic()
                if wait > 0:
                    condition.wait(wait)
                    continue
                deadline = heapq.heappop(heap)[2]
            deadline.fire()


WATCHDOG = Watchdog()
"""The process's own."""
