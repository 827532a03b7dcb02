"""Calls a second of `openai_chat` beside a bare aiohttp client, against an endpoint with 200 ms latency; most calls in flight.

    python benchmarks/generation.py [--questions 200] [--concurrency 64] [--rounds 5] [--least 0.85]

Both clients ask the same questions in turns, after one warm-up call each, against a stub in a process of its own. Exit 1 where
the median of the ratios is below `--least`, or not all calls were ever in flight at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median

import aiohttp
from aiohttp import web

from nl2sql_gate.generators.openai_chat import OpenAIChat
from nl2sql_gate.records import Ask, CaseKey, Item, Prompt, Schema, SqlField
from nl2sql_gate.settings import Model

REPLY = "```sql\nSELECT id, name FROM orders WHERE total > 100\n```"
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": REPLY}}],
        "usage": {"prompt_tokens": 600, "completion_tokens": 20, "total_tokens": 620},
    }
)
SCHEMA = "\n".join(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT, total NUMERIC);" for number in range(30))


@dataclass
class Round:
    """One phase: its wall and CPU seconds, and the most calls that the stub saw in flight."""

    wall_s: float
    cpu_s: float
    most_in_flight: int


async def serve_stub(latency_s: float) -> None:
    """Answer for ever; prints the port on the first line."""
    in_flight = most = 0

    async def chat(request: web.Request) -> web.Response:
        nonlocal in_flight, most
        await request.read()
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(latency_s)
        in_flight -= 1
        return web.Response(text=ANSWER, content_type="application/json")

    async def reset(_request: web.Request) -> web.Response:
        nonlocal most
        seen, most = most, 0
        return web.json_response(seen)

    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", chat), web.post("/reset", reset)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def measured(url: str, call: Callable[[int], Awaitable[None]], *, questions: int, concurrency: int) -> Round:
    """All questions, `concurrency` at a time, after one warm-up call."""
    await call(-1)
    numbers = iter(range(questions))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    async with aiohttp.ClientSession() as session:
        await session.post(url.removesuffix("/v1") + "/reset")
        cpu, wall = cpu_s(), time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(concurrency)))
        wall, cpu = time.perf_counter() - wall, cpu_s() - cpu
        async with session.post(url.removesuffix("/v1") + "/reset") as response:
            return Round(wall, cpu, await response.json())


async def bare(url: str, asks: Sequence[Ask], *, concurrency: int) -> Round:
    """The floor: an aiohttp session, the body, the text of the reply."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(number: int) -> None:
            messages = [{"role": role, "content": content} for role, content in asks[number].prompt.messages]
            async with session.post(f"{url}/chat/completions", json={"model": "stub", "messages": messages}) as response:
                answer = await response.json()
            assert answer["choices"][0]["message"]["content"] == REPLY

        return await measured(url, call, questions=len(asks), concurrency=concurrency)


async def ours(url: str, asks: Sequence[Ask], *, concurrency: int) -> Round:
    """The generator as a run uses it, a new one each time."""
    generator = OpenAIChat(Model(base_url=url, name="stub", concurrency=concurrency))

    async def call(number: int) -> None:
        assert (await generator.complete(asks[number])).text == REPLY

    try:
        return await measured(url, call, questions=len(asks), concurrency=concurrency)
    finally:
        await generator.close()


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def question(number: int) -> Ask:
    item = Item(str(number), f"Which orders are above {number}?", "dql", "shop", ("sqlite",), SqlField(everywhere=("SELECT 1",)))
    messages = (("system", "You write SQL."), ("user", f"{SCHEMA}\n\nQuestion: {item.question}"))
    return Ask(CaseKey(item.id, "sqlite", "shop", 0), "sqlite", item, Prompt(messages), Schema("shop", "sqlite", (), SCHEMA))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--least", type=float, default=0.85)
    parser.add_argument("--stub", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stub:
        asyncio.run(serve_stub(options.latency_ms / 1000))
        return 0
    stub = subprocess.Popen(
        [sys.executable, __file__, "--stub", "--latency-ms", str(options.latency_ms)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert stub.stdout is not None
        url = f"http://127.0.0.1:{int(stub.stdout.readline())}/v1"
        asks = [question(number) for number in range(options.questions)]
        pairs = []
        for _ in range(options.rounds):
            floor = asyncio.run(bare(url, asks, concurrency=options.concurrency))
            gate = asyncio.run(ours(url, asks, concurrency=options.concurrency))
            pairs.append((floor, gate))
            print(
                f"bare {options.questions / floor.wall_s:6.1f} calls/s, {floor.cpu_s:.2f} s CPU | "
                f"openai_chat {options.questions / gate.wall_s:6.1f} calls/s, {gate.cpu_s:.2f} s CPU, "
                f"{gate.most_in_flight} in flight | ratio {floor.wall_s / gate.wall_s:.3f}"
            )
    finally:
        stub.kill()
        stub.wait()
    ratio = median(floor.wall_s / gate.wall_s for floor, gate in pairs)
    reached = min(gate.most_in_flight for _, gate in pairs)
    wanted = min(options.concurrency, options.questions)
    print(f"median ratio {ratio:.3f} (at least {options.least}), in flight {reached} (at least {wanted})")
    return 0 if ratio >= options.least and reached >= wanted else 1


if __name__ == "__main__":
    sys.exit(main())
