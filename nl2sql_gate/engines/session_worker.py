"""What runs in a process of its own: sessions on databases, at the word of the run that started it (see `killable`)."""

from __future__ import annotations

import gc
import os
import resource
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from nl2sql_gate.engines.distant_state import encode
from nl2sql_gate.engines.frames import Closed, receive, send
from nl2sql_gate.errors import EngineFault, StateTimeout

MEMORY_MB = 1024
"""What statements may take where `limits.memory_mb` is not set."""


def main(descriptor: int, folder: str) -> None:
    """Serve until the other side goes away."""
    # A crash must not fill the disk with what was in memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    line = socket.socket(fileno=descriptor)
    server = _Server(Path(folder))
    gc.freeze()
    while True:
        try:
            verb, arguments = receive(line, None)
            send(line, server.answer(verb, arguments))
        except (Closed, OSError):
            # The run may have been killed. Nothing needs to be closed in order: all files here are copies.
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)


class _Server:
    """The database that is open, and its one session. One at a time: what others have read would count against its memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._database: Any = None
        self._limited = False
        self._session: Any = None
        self._stack = ExitStack()

    def answer(self, verb: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        """The reply to one request."""
        try:
            return "value", getattr(self, verb)(*arguments)
        except StateTimeout as late:
            return "late", late.what
        except EngineFault as fault:
            return "fault", (fault.what, fault.where, fault.meaning, fault.next_step)
        except Exception as error:  # noqa: BLE001 -- told where it can be handled; this process serves on
            return "fault", ("a statement's process failed", (f"{type(error).__name__}: {error}",), "", "")

    def open(self, opener: str, options: Mapping[str, Any]) -> None:
        """Open a database in the place of the last one. `opener` is `module:function`, called with `folder` and `options`."""
        self.end()
        if self._database is not None:
            self._database.close()
            self._database = None
        module, _, name = opener.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        if not self._limited:
            # Twice, because what an engine does not count against its own limit needs room too.
            limit_memory(2 * (options["limits"].memory_mb or MEMORY_MB))
            self._limited = True
        self._database = function(folder=self._folder, **options)

    def begin(self, statements: tuple[str, ...] | None) -> None:
        """Begin a session: reading, or writing `statements`."""
        self.end()
        lent = self._database.reading() if statements is None else self._database.writing(statements)
        self._session = self._stack.enter_context(lent)

    def end(self) -> None:
        """End the session, if there is one."""
        self._session = None
        stack, self._stack = self._stack, ExitStack()
        stack.close()

    def execute(self, sql: str) -> Any:
        """As the session does."""
        return self._session.execute(sql)

    def state(self) -> Any:
        """As the session does, without what the other side has itself."""
        return encode(self._session.state(), self._database.template.state())

    def set_clock(self, instant: Any) -> None:
        """As the session does."""
        self._session.set_clock(instant)

    def protect(self) -> None:
        """As the session does."""
        self._session.protect()


def limit_memory(more_mb: int) -> None:
    """Let this process have `more_mb` beyond what it has now; what goes further fails as out of memory."""
    if sys.platform != "linux":
        # Elsewhere the limit is unreliable; the engines' own settings hold there.
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
