"""The scripted SQL Server on the wire: enough of TDS 7.4 (MS-TDS) for real ODBC drivers to log in, run batches and cancel them."""

from __future__ import annotations

import datetime as dt
import re
import socket
import struct
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyodbc

from nl2sql_gate.engines.cells_sqlserver import UserDefined

from sqlserver_fake import FakeServer, Sent

BATCH, PRELOGIN, LOGIN, ATTENTION, RESULT = 0x01, 0x12, 0x10, 0x06, 0x04
DONE, ERROR, ENVIRONMENT, LOGIN_ACK, METADATA, ROW = 0xFD, 0xAA, 0xE3, 0xAD, 0x81, 0xD1
MORE, COUNTED, CANCELLED = 0x01, 0x10, 0x20
COLLATION = bytes((0x09, 0x04, 0xD0, 0x00, 0x34))
SIZE = 4096
HANG = "hang"


class Variant(int):
    """An integer in a column of type sql_variant."""


_NUMBER = re.compile(r"\((\d+)\)")


@dataclass
class TdsServer:
    """Real connections to the answers of a `FakeServer`. The answer `HANG` waits for a cancel that never comes unless it is sent."""

    fake: FakeServer
    port: int = 0
    cancels: list[float] = field(default_factory=list)
    _clients: list[socket.socket] = field(default_factory=list)

    @contextmanager
    def listening(self) -> Iterator[TdsServer]:
        """Listen on loopback."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            try:
                yield self
            finally:
                with suppress(OSError):
                    listener.shutdown(socket.SHUT_RDWR)
                self.hang_up()

    def hang_up(self) -> None:
        """End all connections, as a server that dies does."""
        clients, self._clients = self._clients, []
        for client in clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                self._clients.append(client)
                threading.Thread(target=_Conversation(self, client).run, daemon=True).start()


class _Conversation:
    """One client."""

    def __init__(self, server: TdsServer, client: socket.socket) -> None:
        self._server = server
        self._client = client
        self._user = self._database = ""

    def run(self) -> None:
        with self._client, suppress(OSError, EOFError):
            while True:
                kind, body = self._read()
                if kind == PRELOGIN:
                    # Version, and that there is no encryption.
                    self._write(bytes((0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, 2)))
                elif kind == LOGIN:
                    self._log_in(body)
                elif kind == BATCH:
                    self._run_batch(body)
                elif kind == ATTENTION:
                    self._write(_done(CANCELLED))
                else:
                    self._write(_done(0))

    def _log_in(self, body: bytes) -> None:
        def text(at: int) -> str:
            start, length = struct.unpack_from("<HH", body, at)
            return body[start : start + 2 * length].decode("utf-16-le")

        self._user, self._database = text(40), text(68) or "master"
        name = "Microsoft SQL Server"
        ack = bytes((1,)) + bytes.fromhex("74000004") + _short(name) + bytes((16, 0, 0x10, 0))
        self._write(
            _environment(1, _short(self._database) + _short("master"))
            + _environment(7, bytes((5,)) + COLLATION + b"\0")
            + _environment(4, _short(str(SIZE)) + _short(str(SIZE)))
            + struct.pack("<BH", LOGIN_ACK, len(ack))
            + ack
            + _done(0)
        )

    def _run_batch(self, body: bytes) -> None:
        sql = body[struct.unpack_from("<I", body)[0] :].decode("utf-16-le", "surrogatepass")
        fake = self._server.fake
        fake.log.append(Sent(self._user, self._database, sql))
        answer: Any = -1
        for pattern, found in fake.answers:
            if pattern.search(sql):
                answer = found
                break
        results = answer if isinstance(answer, list) else [answer]
        said = b""
        for number, result in enumerate(results):
            more = MORE if number < len(results) - 1 else 0
            if result == HANG:
                self._wait_for_attention()
                return
            said += _result(result, more)
        self._write(said)

    def _wait_for_attention(self) -> None:
        while True:
            kind, _ = self._read()
            if kind == ATTENTION:
                self._server.cancels.append(1.0)
                self._write(_done(CANCELLED))
                return

    def _read(self) -> tuple[int, bytes]:
        body = b""
        while True:
            kind, status, length = struct.unpack(">BBH", self._exactly(8)[:4])
            body += self._exactly(length - 8)
            if status & 1:
                return kind, body

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self._client.recv(count - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    def _write(self, body: bytes) -> None:
        room = SIZE - 8
        parts = [body[start : start + room] for start in range(0, len(body), room)] or [b""]
        for number, part in enumerate(parts, start=1):
            last = number == len(parts)
            self._client.sendall(struct.pack(">BBHHBB", RESULT, last, len(part) + 8, 51, number % 256, 0) + part)


def _result(result: Any, more: int) -> bytes:
    if isinstance(result, pyodbc.Error):
        return _error(str(result.args[1])) + _done(more | 0x02)
    if isinstance(result, int):
        return _done(more | (COUNTED if result >= 0 else 0), max(result, 0))
    columns, rows = result
    kinds = [_kind([row[i] for row in rows]) for i in range(len(columns))]
    said = struct.pack("<BH", METADATA, len(columns))
    for name, kind in zip(columns, kinds, strict=True):
        said += struct.pack("<IH", 0, 0x0009) + _INFO[kind] + _short(name)
    for row in rows:
        said += bytes((ROW,)) + b"".join(_value(kind, cell) for kind, cell in zip(kinds, row, strict=True))
    return said + _done(more | COUNTED, len(rows))


def _kind(values: Sequence[Any]) -> type:
    found = next((value for value in values if value is not None), "")
    if isinstance(found, dt.datetime) and found.tzinfo is not None:
        return dt.timezone
    return type(found)


_INFO: dict[type, bytes] = {
    int: b"\x26\x08",
    bool: b"\x68\x01",
    float: b"\x6d\x08",
    str: b"\xe7\x40\x1f" + COLLATION,
    bytes: b"\xa5\x40\x1f",
    Decimal: b"\x6a\x11\x26\x04",
    uuid.UUID: b"\x24\x10",
    dt.date: b"\x28",
    dt.time: b"\x29\x07",
    dt.datetime: b"\x2a\x07",
    dt.timezone: b"\x2b\x07",
    Variant: b"\x62" + struct.pack("<I", 8009),
    UserDefined: b"\xf0\x7c\x03"
    + b"".join(bytes((len(word),)) + word.encode("utf-16-le") for word in ("master", "sys", "hierarchyid"))
    + struct.pack("<H", 3)
    + "asm".encode("utf-16-le"),
}


def _value(kind: type, cell: Any) -> bytes:
    if kind is Variant:
        return struct.pack("<I", 0) if cell is None else struct.pack("<IBBi", 6, 0x38, 0, cell)
    if kind is UserDefined:
        # In parts, whatever its size.
        if cell is None:
            return b"\xff" * 8
        return struct.pack("<QI", len(cell), len(cell)) + bytes(cell) + bytes(4)
    if cell is None:
        return b"\xff\xff" if kind in {str, bytes} else b"\0"
    if kind is str:
        raw = cell.encode("utf-16-le", "surrogatepass")
        return struct.pack("<H", len(raw)) + raw
    if kind is bytes:
        return struct.pack("<H", len(cell)) + bytes(cell)
    raw = _packed(kind, cell)
    return bytes((len(raw),)) + raw


def _packed(kind: type, cell: Any) -> bytes:
    if kind is int:
        return struct.pack("<q", cell)
    if kind is bool:
        return bytes((cell,))
    if kind is float:
        return struct.pack("<d", cell)
    if kind is Decimal:
        scaled = int(cell.scaleb(4))
        return bytes((scaled >= 0,)) + abs(scaled).to_bytes(16, "little")
    if kind is uuid.UUID:
        return bytes(cell.bytes_le)
    if kind is dt.date:
        return _days(cell)
    if kind is dt.time:
        return _ticks(cell)
    if kind is dt.datetime:
        return _ticks(cell.time()) + _days(cell.date())
    moment = cell.astimezone(dt.UTC)
    minutes = int(cell.utcoffset().total_seconds() // 60)
    return _ticks(moment.time()) + _days(moment.date()) + struct.pack("<h", minutes)


def _days(day: dt.date) -> bytes:
    return (day.toordinal() - 1).to_bytes(3, "little")


def _ticks(clock: dt.time) -> bytes:
    seconds = clock.hour * 3600 + clock.minute * 60 + clock.second
    return ((seconds * 10**6 + clock.microsecond) * 10).to_bytes(5, "little")


def _done(status: int, count: int = 0) -> bytes:
    return struct.pack("<BHHQ", DONE, status, 0xC1 if status & COUNTED else 0, count)


def _error(text: str) -> bytes:
    """An error token from the text that pyodbc would make of it."""
    found = _NUMBER.search(text)
    message = text.rpartition("]")[2].split(" (")[0]
    body = struct.pack("<IBB", int(found[1]) if found else 50000, 1, 16)
    body += struct.pack("<H", len(message)) + message.encode("utf-16-le") + _short("server") + _short("") + struct.pack("<I", 1)
    return struct.pack("<BH", ERROR, len(body)) + body


def _environment(kind: int, body: bytes) -> bytes:
    return struct.pack("<BHB", ENVIRONMENT, len(body) + 1, kind) + body


def _short(text: str) -> bytes:
    return bytes((len(text),)) + text.encode("utf-16-le")
