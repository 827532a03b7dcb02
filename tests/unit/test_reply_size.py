"""Replies without end and packed bombs: every client gives up on them early, by name, and nothing else is lost."""

from __future__ import annotations

import gzip
import json
import threading
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from nl2sql_gate.embeddings.openai_api import OpenAIEmbedding
from nl2sql_gate.errors import EndpointError, EndpointFault, Fault, ScorerFault
from nl2sql_gate.generators.http_json import HttpJson
from nl2sql_gate.generators.openai_chat import OpenAIChat
from nl2sql_gate.records import Ask, Case, CaseKey, Item, Prompt, ResultSet, Schema, Side, SqlField
from nl2sql_gate.reply_size import MIB, MOST_VECTORS_BYTES, ReplyBody, UnusableReply
from nl2sql_gate.scorers.llm_judge import LlmJudge
from nl2sql_gate.settings import Model

MESSAGE = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "SELECT 1"}, "finish_reason": "stop"}]}
GIB_IN_PARTS = 1024


class Flood(ThreadingHTTPServer):
    """Answers every POST in the way that `mode` names; counts the bytes that somebody took."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.mode = "plain"
        self.status = 200
        self.sent = 0
        self.requests = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Flood

    def do_POST(self) -> None:
        self.server.requests += 1
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps(MESSAGE).encode()
        packed = {
            "plain": ("", [body]),
            "gzip": ("gzip", [gzip.compress(body)]),
            "x-gzip in two": ("x-gzip", [gzip.compress(body[:20]), gzip.compress(body[20:])]),
            "deflate": ("deflate", [zlib.compress(body)]),
            "bare deflate": ("deflate", [zlib.compress(body)[2:-4]]),
            "brotli": ("br", [b"\x0b\x02\x80" + body]),
            "no gzip": ("gzip", [body]),
            "endless": ("", (b"a" * MIB for _ in range(GIB_IN_PARTS))),
            "bomb": ("gzip", _bomb()),
        }
        encoding, parts = packed[self.server.mode]
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        # The client is meant to hang up.
        with suppress(OSError):
            for part in parts:
                self.wfile.write(part)
                self.server.sent += len(part)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def _bomb() -> Iterator[bytes]:
    """A gibibyte of blanks, a kilobyte for each of its mebibytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    blanks = b" " * MIB
    for _ in range(GIB_IN_PARTS):
        yield packer.compress(blanks) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


@pytest.fixture
def flood() -> Iterator[Flood]:
    with Flood() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


ITEM = Item("q1", "How many?", "dql", "shop", ("sqlite",), SqlField(everywhere=("SELECT 1",)))


def _ask() -> Ask:
    return Ask(
        CaseKey("q1", "sqlite", "shop", 0), "sqlite", ITEM, Prompt((("user", "How many?"),)), Schema("shop", "sqlite", (), "")
    )


async def _chat(flood: Flood) -> str:
    generator = OpenAIChat(Model(base_url=flood.url, name="m", api_key=SecretStr("k"), retries=3))
    try:
        return (await generator.complete(_ask())).text
    finally:
        await generator.close()


async def _service(flood: Flood) -> str:
    model = Model(generator="http_json", url=flood.url, reply_path="choices[0].message.content", retries=3)
    generator = HttpJson(model)
    try:
        return (await generator.complete(_ask())).text
    finally:
        await generator.close()


async def _judge(flood: Flood) -> str:
    golden, generated = (Side(f"SELECT {n}", ResultSet(("n",), ((n,),))) for n in (1, 2))
    case = Case(ITEM, "sqlite", "dql", (golden,), generated)
    return str(LlmJudge(model="m", base_url=flood.url, api_key="k", retries=3).score(case).value)


async def _vectors(flood: Flood) -> str:
    return str(OpenAIEmbedding("m", base_url=flood.url, api_key="k", retries=3).embed(["a"]))


CLIENTS: dict[str, Callable[[Flood], Awaitable[str]]] = {
    "openai_chat": _chat,
    "http_json": _service,
    "llm_judge": _judge,
    "embeddings": _vectors,
}
GENERATORS = ("openai_chat", "http_json")
MODES = ("plain", "gzip", "x-gzip in two", "deflate", "bare deflate")


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["endless", "bomb"])
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_reply_that_grows_too_large_is_a_fault_after_one_try_and_takes_no_memory(
    flood: Flood, client: str, status: int, mode: str
) -> None:
    flood.mode, flood.status = mode, status
    tracemalloc.start()
    try:
        with pytest.raises(Fault) as raised:
            await CLIENTS[client](flood)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    most = MOST_VECTORS_BYTES if client == "embeddings" else 16 * MIB
    assert isinstance(raised.value, EndpointFault if client in GENERATORS else ScorerFault)
    assert f"its reply is larger than {most // MIB} MiB" in str(raised.value)
    assert flood.requests == 1
    assert peak < 2 * most + 24 * MIB
    # What the system's buffers hold was sent too; a gibibyte was not.
    assert flood.sent < most + 48 * MIB


@pytest.mark.asyncio
async def test_an_endpoint_that_floods_the_first_call_stops_the_run_by_name(flood: Flood) -> None:
    flood.mode = "bomb"
    generator = OpenAIChat(Model(base_url=flood.url, name="m", api_key=SecretStr("k"), retries=3))
    with pytest.raises(EndpointError) as raised:
        await generator.preflight()
    await generator.close()
    assert raised.value.what == "the model endpoint's answer cannot be used"
    assert "larger than 16 MiB" in raised.value.where[0]
    assert (raised.value.exit_code, flood.requests) == (3, 1)


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("client", GENERATORS)
async def test_packed_replies_of_any_usual_kind_are_read(flood: Flood, client: str, mode: str) -> None:
    flood.mode = mode
    assert await CLIENTS[client](flood) == "SELECT 1"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("mode", "words"), [("brotli", "packed as 'br'; gzip, deflate were offered"), ("no gzip", "cannot be unpacked")]
)
@pytest.mark.parametrize("client", GENERATORS)
async def test_a_reply_packed_as_nobody_asked_is_a_fault_that_says_how(flood: Flood, client: str, mode: str, words: str) -> None:
    flood.mode = mode
    with pytest.raises(EndpointFault, match=words):
        await CLIENTS[client](flood)


def test_exactly_the_most_is_read_and_one_byte_more_is_not() -> None:
    body = ReplyBody("identity", most_bytes=MIB)
    assert sum(map(len, body.unpacked(b"a" * MIB))) == MIB
    with pytest.raises(UnusableReply, match="larger than 1 MiB"):
        list(body.unpacked(b"a"))


def test_a_bomb_is_unpacked_in_small_parts_and_no_further_than_the_most() -> None:
    parts = ReplyBody("gzip", most_bytes=MIB).unpacked(gzip.compress(b" " * (64 * MIB)))
    assert [len(next(parts)) for _ in range(16)] == [64 * 1024] * 16
    with pytest.raises(UnusableReply):
        next(parts)
