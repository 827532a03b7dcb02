"""An OpenAI-compatible endpoint on loopback that answers from recorded replies: for demos, tests and fork pull requests.

`POST /v1/chat/completions`, `GET /v1/models` and `GET /healthz` answer. Latency and faults can be added; which request meets a
fault depends on the seed, the case and the number of the attempt alone, so that a run can be repeated.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql_gate.generators.recorded import Replies, read_replies
from nl2sql_gate.records import Item
from nl2sql_gate.serve.faults import FaultRule, parse_fault
from nl2sql_gate.serve.server import Manner, Server, start_server

__all__ = ["FaultRule", "Manner", "Options", "Server", "parse_fault", "run", "start_server"]


@dataclass(frozen=True, slots=True)
class Options:
    """The command line of `serve`. `faults` are `KIND:SHARE` or `KIND:ID-PATTERN`; port 0 is any free port."""

    replies: str
    dataset: str | None = None
    port: int = 0
    latency_ms: float = 0.0
    faults: tuple[str, ...] = ()
    model: str = "recorded"
    seed: int = 0


def run(options: Options) -> None:
    """Serve until interrupted or terminated; prints `listening on http://127.0.0.1:PORT/v1` once it answers.

    Raises `DatasetError` for a broken file, `SettingsError` for an unknown fault, `ServiceError` where the port is taken.
    """
    faults = tuple(parse_fault(text) for text in options.faults)
    manner = Manner(options.model, options.latency_ms / 1000, faults, options.seed)
    replies = read_replies(options.replies)
    items: Sequence[Item] = ()
    if options.dataset is not None:
        from nl2sql_gate.dataset import load

        items = load(options.dataset).items
    asyncio.run(_until_stopped(replies, items=items, manner=manner, port=options.port))


async def _until_stopped(replies: Replies, *, items: Sequence[Item], manner: Manner, port: int) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = await start_server(replies, items=items, manner=manner, port=port)
    try:
        sys.stdout.write(f"listening on {server.url}\n")
        sys.stdout.flush()
        await stopped.wait()
    finally:
        await server.close()
