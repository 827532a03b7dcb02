"""Answers that would fill a reader's memory: one without end, and one that is small until it is unpacked."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator

from aiohttp import web

GIB = 1024 * 1024 * 1024
_PART = 1024 * 1024
_JSON = {"Content-Type": "application/json"}


async def endless(request: web.Request) -> web.StreamResponse:
    """A reply of one gibibyte, as long as somebody reads it."""
    response = web.StreamResponse(headers=_JSON)
    await response.prepare(request)
    part = b'{"choices": [{"message": {"content": "' + b"a" * _PART
    for _ in range(GIB // _PART):
        await response.write(part)
    await response.write_eof()
    return response


async def bomb(request: web.Request) -> web.StreamResponse:
    """About a megabyte that unpacks to one gibibyte."""
    response = web.StreamResponse(headers={**_JSON, "Content-Encoding": "gzip"})
    await response.prepare(request)
    for part in _packed():
        await response.write(part)
        # Packing takes time: other questions are answered meanwhile.
        await asyncio.sleep(0)
    await response.write_eof()
    return response


def _packed() -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    blanks = b" " * _PART
    for _ in range(GIB // _PART):
        if part := packer.compress(blanks):
            yield part
    yield packer.flush()
