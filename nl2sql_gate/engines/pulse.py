"""Whether a database server still answers, asked again and again beside the work.

A server that is frozen, or a network that swallows everything, answers neither statements nor cancels, and a driver waits for it
for ever. Once it has been silent long enough, every connection to it is shut, so that whoever waits is told. Nobody new waits.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from nl2sql_gate.errors import EngineFault

EVERY_S, PATIENCE_S = 2.0, 8.0
PROBE_S = 4
"""How long one probe may wait for its answer."""


class Pulse:
    """Asks a server every `every_s` seconds. `probe` connects, or raises within `PROBE_S`; `peers` are the server's addresses."""

    def __init__(
        self,
        product: str,
        probe: Callable[[], object],
        peers: Callable[[], Collection[Any]],
        *,
        every_s: float = EVERY_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._product = product
        self._every_s = every_s
        self._patience_s = patience_s
        self._probe = probe
        self._peers = peers
        self._ended = threading.Event()
        self._silent = threading.Event()
        self._thread = threading.Thread(target=self._run, name="server-pulse", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more. A probe under way is not waited for."""
        self._ended.set()

    def check(self) -> None:
        """Raise `EngineFault` where the server is known to be silent."""
        if self._silent.is_set():
            raise EngineFault(
                f"the {self._product} server does not answer any more",
                where=[f"no answer for {self._patience_s:g} s"],
                meaning="This case could not be measured.",
            )

    def _run(self) -> None:
        # Addresses are looked up while all is well: a resolver may be what fails later.
        peers = self._peers()
        answered = time.monotonic()
        while not self._ended.wait(self._every_s):
            try:
                self._probe()
            except Exception:  # noqa: BLE001 -- whatever a driver raises: no answer
                if time.monotonic() - answered < self._patience_s or self._ended.is_set():
                    continue
                self._silent.set()
                # Each time again: some may have connected since.
                hang_up(peers)
            else:
                answered = time.monotonic()
                self._silent.clear()


def peers_of(host: str, port: int) -> Collection[Any]:
    """The addresses that a host's name and port stand for."""
    with suppress(OSError):
        return {found[4][:2] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    return ()


def hang_up(peers: Collection[Any]) -> None:
    """Shut every connection of this process to one of `peers`: paths of sockets, or (address, port)."""
    for name in [entry.name for entry in Path("/dev/fd").iterdir()]:
        # The number may be another file's by now, or nobody's; and one that is no socket would be left open.
        with suppress(OSError, ValueError):
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as line:
                peer = line.getpeername()
                if (peer[:2] if isinstance(peer, tuple) else peer) in peers:
                    line.shutdown(socket.SHUT_RDWR)
