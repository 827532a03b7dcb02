"""Values over a socket between a run and the processes in which SQL runs: a mark, a length, a pickle of known types."""

from __future__ import annotations

import io
import pickle
import socket
import struct
import time
from typing import Any

_HEAD = struct.Struct("=Q")
_MARK = b"\x01"
_TRANSFER_S = 60.0
_LARGEST = 1 << 32
_OURS = ("nl2sql_gate.records.", "nl2sql_gate.state.")
_THEIRS = frozenset({("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")}) | {
    ("decimal", "Decimal"),
    ("uuid", "UUID"),
    ("uuid", "SafeUUID"),
    ("builtins", "frozenset"),
    ("builtins", "set"),
}


class Closed(Exception):
    """The other side has gone."""


class _Unpickler(pickle.Unpickler):
    """Of values only: what runs a model's SQL must not choose what runs here."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _THEIRS or module.startswith(_OURS):
            found = super().find_class(module, name)
            if isinstance(found, type) and "." not in name:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no value")


def send(line: socket.socket, value: Any) -> None:
    """Send one value. The mark goes first: the time that a large value takes on its way is no statement's."""
    line.settimeout(None)
    line.sendall(_MARK)
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    line.sendall(_HEAD.pack(len(body)) + body if len(body) < 1 << 16 else _HEAD.pack(len(body)))
    if len(body) >= 1 << 16:
        line.sendall(body)


def receive(line: socket.socket, due: float | None) -> Any:
    """The next value. Raises `TimeoutError` where it has not begun to come at `due`, `Closed` at the end of the line."""
    line.settimeout(None if due is None else max(0.001, due - time.monotonic()))
    _exactly(line, 1)
    # A process that is halted in the middle of its answer is as good as none.
    line.settimeout(None if due is None else _TRANSFER_S)
    (length,) = _HEAD.unpack(_exactly(line, _HEAD.size))
    if length > _LARGEST:
        raise pickle.UnpicklingError(f"a value of {length:,} bytes")
    return _Unpickler(io.BytesIO(_exactly(line, length))).load()


def _exactly(line: socket.socket, length: int) -> bytearray:
    found = bytearray(length)
    view = memoryview(found)
    got = 0
    while got < length:
        count = line.recv_into(view[got:])
        if not count:
            raise Closed
        got += count
    return found
