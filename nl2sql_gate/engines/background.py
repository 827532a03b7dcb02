"""One thread that prepares and tidies databases while items run."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future


class BackgroundWork:
    """Tasks in order, in a thread that starts with the first of them."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stopping = False
        self._promised: list[Future[str]] = []

    def put(self, task: Callable[[], None]) -> None:
        """Do `task` some time soon, unless the engine stops first."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="database-copies", daemon=True)
                self._thread.start()
        self._queue.put(task)

    def call(self, function: Callable[[], str]) -> Future[str]:
        """The result that `function` will have; cancelled where the engine stops before."""
        future: Future[str] = Future()
        self._promised.append(future)

        def task() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function())
            except Exception as error:  # noqa: BLE001 -- raised again where the result is asked for
                future.set_exception(error)

        self.put(task)
        return future

    def stop(self) -> None:
        """Finish the task at hand and no other."""
        self._stopping = True
        self._queue.put(None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(10)
        for future in self._promised:
            future.cancel()

    def _run(self) -> None:
        while (task := self._queue.get()) is not None and not self._stopping:
            task()
