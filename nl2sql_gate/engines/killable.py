"""Processes of our own in which SQL runs, and which can be ended whatever the SQL is doing.

SQLite and DuckDB look at an interrupt between two steps; one call of one function may take minutes, and gigabytes. A thread that
sits in it cannot be ended, a process can. Each has a limit on its memory, and an environment without secrets; it serves one
session at a time.
"""

from __future__ import annotations

import os
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nl2sql_gate.engines.frames import Closed, receive, send
from nl2sql_gate.engines.server_process import scrubbed_environment
from nl2sql_gate.errors import EngineFault, StateTimeout

KILL_AFTER_S = 0.08
"""How long after its limit a statement is given to obey its interrupt."""

_BOOT = "import sys; sys.path[:] = {path!r}; from nl2sql_gate.engines.session_worker import main; main({fd}, {folder!r})"


class Overrun(Exception):
    """The process was killed, because what it did took too long."""


class Worker:
    """One process and the line to it. `folder` holds its copies of databases."""

    def __init__(self, parent: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="worker-", dir=parent))
        self.opened = ""
        self._line, theirs = socket.socketpair()
        boot = _BOOT.format(path=sys.path, fd=theirs.fileno(), folder=str(self.folder))
        try:
            self._process = subprocess.Popen(  # noqa: S603 -- this interpreter, and our own module
                [sys.executable, "-I", "-c", boot],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=scrubbed_environment(self.folder),
                # Ctrl-C is for the run, which ends its workers in its own order.
                start_new_session=True,
            )
        except OSError:
            self._line.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can be given another session."""
        return self._line.fileno() >= 0 and self._process.poll() is None

    def call(self, verb: str, *arguments: Any, within: float | None = None) -> Any:
        """What `verb` gives in the process. Raises the faults that it raises there, and `Overrun` after `within` seconds."""
        due = None if within is None else time.monotonic() + within
        try:
            send(self._line, (verb, arguments))
            kind, value = receive(self._line, due)
        except TimeoutError as error:
            # Giving back what it holds takes a while, for which nobody waits.
            self.kill(wait=False)
            raise Overrun from error
        except (Closed, OSError, pickle.UnpicklingError) as error:
            self.kill()
            raise EngineFault(
                "the process that runs the SQL has ended",
                where=[f"exit code {self._process.returncode}"],
                meaning="This case could not be measured.",
            ) from error
        if kind == "late":
            raise StateTimeout(value)
        if kind == "fault":
            raise EngineFault(value[0], where=value[1], meaning=value[2], next_step=value[3])
        return value

    def kill(self, *, wait: bool = True) -> None:
        """End it, whatever it is doing, and remove its copies."""
        if self._line.fileno() < 0:
            return
        self._process.kill()
        self._line.close()
        if wait:
            self._bury()
        else:
            threading.Thread(target=self._bury, name="ended-worker", daemon=True).start()

    def abort(self) -> None:
        """End it while another thread waits for it; that thread is told."""
        self._process.kill()
        self._bury()

    def _bury(self) -> None:
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Workers:
    """The workers of one engine, started when they are needed and used again. `parent` names the folder for their copies."""

    def __init__(self, parent: Callable[[], Path]) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._idle: list[Worker] = []
        self._lent: set[Worker] = set()
        self._stopped = False

    def warm(self, number: int) -> None:
        """Start workers now, so that they are ready when they are needed."""
        # An engine that stops meanwhile has no folder any more.
        with suppress(OSError, RuntimeError):
            for _ in range(number):
                fresh = Worker(self._parent())
                with self._lock:
                    if not self._stopped:
                        self._idle.append(fresh)
                        continue
                fresh.kill()

    @contextmanager
    def lend(self, key: str, *, fresh: bool = False) -> Iterator[Worker]:
        """A worker for one session, if possible one that has the database `key` open; or a new one. Raises `EngineFault`."""
        worker = self._take(key, fresh=fresh)
        try:
            yield worker
        finally:
            with self._lock:
                self._lent.discard(worker)
                keep = worker.is_alive and not self._stopped
                if keep:
                    self._idle.append(worker)
            if not keep:
                worker.kill(wait=False)
                if not self._stopped:
                    # Where one had to be killed the next is soon wanted.
                    self.warm(1)

    def stop(self) -> None:
        """End all of them, also those at work."""
        with self._lock:
            idle, self._idle = self._idle, []
            lent = list(self._lent)
            self._stopped = True
        if self._pid == os.getpid():
            for worker in idle:
                worker.kill()
            for worker in lent:
                worker.abort()

    def _take(self, key: str, *, fresh: bool) -> Worker:
        with self._lock:
            if self._pid != os.getpid():
                # A forked process has its parent's lines, which it must not use.
                self._idle, self._lent, self._pid = [], set(), os.getpid()
            dead = [idle for idle in self._idle if not idle.is_alive]
            self._idle = [idle for idle in self._idle if idle not in dead]
            usable = [] if fresh else self._idle
            worker = min(usable, key=lambda idle: (idle.opened != key, idle.opened != ""), default=None)
            if worker is not None:
                self._idle.remove(worker)
        for one in dead:
            one.kill()
        if worker is None:
            try:
                worker = Worker(self._parent())
            except OSError as error:
                raise EngineFault("a process that runs the SQL cannot be started", where=[str(error)]) from error
        with self._lock:
            self._lent.add(worker)
        return worker
