"""A scripted endpoint on loopback, and questions to put to a generator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from nl2sql_gate.generators.limits import Clock
from nl2sql_gate.records import Ask, CaseKey, Item, Prompt, Schema, SqlField


def chat_reply(content: Any = "SELECT 1", finish: str = "stop", **extra: Any) -> dict[str, Any]:
    """The answer of a well-behaved endpoint."""
    message = {"role": "assistant", "content": content, **extra}
    return {"status": 200, "json": {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}}


class Endpoint:
    """Answers requests by a script, its last entry for ever; keeps what it was sent."""

    def __init__(self) -> None:
        self.script: list[Mapping[str, Any]] = [chat_reply()]
        self.url = ""
        self.bodies: list[Any] = []
        self.headers: list[Mapping[str, str]] = []
        self.in_flight = 0
        self.most_in_flight = 0

    @property
    def requests(self) -> int:
        return len(self.bodies)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        number = len(self.bodies)
        self.bodies.append(json.loads(raw) if raw else None)
        self.headers.append(request.headers)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._play(request, self.script[min(number, len(self.script) - 1)])
        finally:
            self.in_flight -= 1

    async def _play(self, request: web.Request, entry: Mapping[str, Any]) -> web.StreamResponse:
        if entry.get("hang"):
            await asyncio.Event().wait()
        if entry.get("wait_for") is not None:
            await entry["wait_for"](self)
        if entry.get("reset") and request.transport is not None:
            request.transport.abort()
        headers = dict(entry.get("headers", {}))
        if "json" in entry:
            return web.json_response(entry["json"], status=entry["status"], headers=headers)
        return web.Response(body=entry.get("text", "").encode(), status=entry["status"], headers=headers)


@pytest_asyncio.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    served = Endpoint()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", served.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield served
    await runner.cleanup()


@pytest.fixture
def chat() -> Callable[..., dict[str, Any]]:
    return chat_reply


class FakeTime:
    """A clock that jumps when somebody sleeps, and chance that is always the same."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.slept: list[float] = []
        self.drawn = 0.5

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds
        await asyncio.sleep(0)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.now_s, sleep=self.sleep, draw=lambda: self.drawn)


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def make_ask() -> Callable[..., Ask]:
    def make(
        item_id: str = "q1",
        *,
        question: str = "How many orders?",
        dialect: str = "sqlite",
        service: str = "",
        trial: int = 0,
        messages: Sequence[tuple[str, str]] | None = None,
        dsn: str = "",
    ) -> Ask:
        item = Item(
            id=item_id,
            question=question,
            query_type="dql",
            database="shop",
            dialects=(dialect,),
            golden_sql=SqlField(everywhere=("SELECT 1",)),
            evidence="an order is a row",
        )
        return Ask(
            key=CaseKey(item_id, service or dialect, "shop", trial),
            dialect=dialect,
            item=item,
            prompt=Prompt(tuple(messages or (("system", "You write SQL."), ("user", question)))),
            schema=Schema("shop", dialect, (), "CREATE TABLE orders (id INTEGER);"),
            dsn=dsn,
        )

    return make
