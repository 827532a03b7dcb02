"""Progress of a run while it runs: a bar on a terminal, a line every few seconds in a log."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from nl2sql_gate.judgement import PASSING, value_of
from nl2sql_gate.records import CaseResult
from nl2sql_gate.reporters import figures

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

HEARTBEAT_S = 10.0

_WORDS = {
    "right": "right",
    "wrong": "wrong",
    "unscored": "not measured",
    "golden_error": "golden errors",
    "skipped": "skipped",
}


class Progress:
    """Call it with every case that is finished; a context manager. Of a case only counts are written, so nothing foreign is.

    In a log a line comes every `every_s` seconds even when nothing happens: silence would look like a hang.
    """

    def __init__(
        self,
        total: int,
        stream: TextIO,
        *,
        interactive: bool,
        metric: str = "execution_accuracy",
        every_s: float = HEARTBEAT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._stream = stream
        self._interactive = interactive
        self._metric = metric
        self._every_s = every_s
        self._clock = clock
        self._started = clock()
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._started = self._clock()
        if self._interactive:
            self._open_bar()
        else:
            self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._write(self.line())
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, case: CaseResult) -> None:
        """Count one finished case."""
        value = value_of(case, self._metric)
        with self._lock:
            self._counts["done"] += 1
            if value is not None:
                self._counts["right" if value >= PASSING else "wrong"] += 1
            elif case.outcome in {"unscored", "golden_error", "skipped"}:
                self._counts[case.outcome] += 1
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=self._counts["done"], description=self._tally())

    def line(self) -> str:
        """What a heartbeat says now."""
        with self._lock:
            done, tally = self._counts["done"], self._tally()
        elapsed = max(self._clock() - self._started, 1e-9)
        parts = [f"{done:,} of {self._total:,} cases", tally, figures.seconds(elapsed)]
        if 0 < done < self._total:
            parts.append(f"about {figures.seconds(elapsed / done * (self._total - done))} left")
        return ", ".join(part for part in parts if part)

    def _tally(self) -> str:
        words = {
            "right": "right",
            "wrong": "wrong",
            "unscored": "not measured",
            "golden_error": "golden errors",
            "skipped": "skipped",
        }
        return ", ".join(f"{self._counts[name]:,} {word}" for name, word in words.items() if self._counts[name])

    def _beat(self) -> None:
        while not self._ended.wait(self._every_s):
            self._write(self.line())

    def _write(self, line: str) -> None:
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def _open_bar(self) -> None:
        # Only here: rich takes longer to import than a short run.
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
            console=Console(file=self._stream, markup=False, highlight=False),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._total)
        self._bar.start()
