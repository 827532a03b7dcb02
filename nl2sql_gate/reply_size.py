"""A bound on what an endpoint may send: a reply is read in parts, unpacked in parts, and refused when it grows too large.

Without it one answer without end, or a few kilobytes that unpack to gigabytes, would take the memory of the whole run.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from httpx2 import AsyncByteStream, Response, SyncByteStream

MIB = 1024 * 1024
MOST_COMPLETION_BYTES = 16 * MIB
"""Of one reply with SQL or an opinion, unpacked: more than a hundred times what a model writes at most."""
MOST_VECTORS_BYTES = 128 * MIB
"""Of one reply with a batch of embeddings: 256 vectors of 3,072 numbers in full length are 17 MB."""
ACCEPTED_ENCODINGS = "gzip, deflate"
_PART = 64 * 1024
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class UnusableReply(Exception):
    """A reply that is larger than anybody needs, or packed in a way that nobody asked for. Asking again would not help."""


class ReplyBody:
    """Unpacks a reply as it comes, at most `most_bytes` in all. Raises `UnusableReply`."""

    def __init__(self, encoding: str, *, most_bytes: int) -> None:
        packed = [name for part in encoding.split(",") if (name := part.strip().lower()) not in {"", "identity"}]
        if len(packed) > 1 or (packed and packed[0] not in _WINDOWS):
            raise UnusableReply(f"its reply is packed as {encoding[:60]!r}; {ACCEPTED_ENCODINGS} were offered")
        self._window = _WINDOWS[packed[0]] if packed else None
        self._unpacker = zlib.decompressobj(self._window) if self._window is not None else None
        self._is_first = True
        self._most = most_bytes
        self._size = 0

    def unpacked(self, part: bytes) -> Iterator[bytes]:
        """What `part` of the reply holds, in parts."""
        if self._unpacker is None:
            yield self._counted(part)
            return
        waiting = part
        while waiting:
            try:
                found = self._unpacker.decompress(waiting, _PART)
            except zlib.error as error:
                if not self._is_first or self._window != zlib.MAX_WBITS:
                    raise UnusableReply(f"its reply cannot be unpacked: {error}") from error
                # Some servers mean the bare format when they say deflate.
                self._window, self._is_first = -zlib.MAX_WBITS, False
                self._unpacker = zlib.decompressobj(self._window)
                continue
            self._is_first = False
            yield self._counted(found)
            waiting = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                # A packed reply may be several, one behind the other.
                waiting = self._unpacker.unused_data.lstrip(b"\0")
                self._unpacker = zlib.decompressobj(self._window or 0)

    def _counted(self, part: bytes) -> bytes:
        self._size += len(part)
        if self._size > self._most:
            raise UnusableReply(f"its reply is larger than {self._most // MIB} MiB")
        return part


def bounded_hook(most_bytes: int) -> dict[str, list[Callable[..., Any]]]:
    """Event hooks of a synchronous `httpx2` client that bound every reply."""

    def bound(response: Response) -> None:
        if isinstance(response.stream, SyncByteStream):
            response.stream = _Bounded(response.stream, _body_of(response, most_bytes))

    return {"response": [bound]}


def bounded_async_hook(most_bytes: int) -> dict[str, list[Callable[..., Any]]]:
    """Event hooks of an asynchronous `httpx2` client that bound every reply."""

    async def bound(response: Response) -> None:
        if isinstance(response.stream, AsyncByteStream):
            response.stream = _AsyncBounded(response.stream, _body_of(response, most_bytes))

    return {"response": [bound]}


def _body_of(response: Response, most_bytes: int) -> ReplyBody:
    body = ReplyBody(response.headers.get("content-encoding", ""), most_bytes=most_bytes)
    # It is unpacked here; the client must not do it again.
    response.headers.pop("content-encoding", None)
    return body


class _Bounded(SyncByteStream):
    def __init__(self, stream: SyncByteStream, body: ReplyBody) -> None:
        self._stream = stream
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield from self._body.unpacked(part)

    def close(self) -> None:
        self._stream.close()


class _AsyncBounded(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream, body: ReplyBody) -> None:
        self._stream = stream
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            for found in self._body.unpacked(part):
                yield found

    async def aclose(self) -> None:
        await self._stream.aclose()
