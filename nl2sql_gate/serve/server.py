"""The endpoint itself: routes, the shape of an answer, latency and faults."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from nl2sql_gate.errors import ServiceError
from nl2sql_gate.generators import case_header
from nl2sql_gate.generators.recorded import Replies
from nl2sql_gate.records import Completion, Item
from nl2sql_gate.serve import floods
from nl2sql_gate.serve.faults import Attempt, FaultRule, first_fault
from nl2sql_gate.serve.matching import Matcher

HOST = "127.0.0.1"
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Manner:
    """How the endpoint behaves: the model's name that it claims, the latency of each answer, and what goes wrong."""

    model: str = "recorded"
    latency_s: float = 0.0
    faults: tuple[FaultRule, ...] = ()
    seed: int = 0


class Server:
    """A running endpoint. `url` is the base URL for a client, `requests` and `most_in_flight` what it has seen so far."""

    def __init__(self, replies: Replies, items: Sequence[Item], manner: Manner) -> None:
        self.url = ""
        self.requests = 0
        self.most_in_flight = 0
        self._matcher = Matcher(replies, items)
        self._manner = manner
        self._in_flight = 0
        self._attempts: Counter[str] = Counter()
        self._runner: web.AppRunner | None = None

    async def start(self, port: int = 0) -> None:
        """Listen on loopback. Raises `ServiceError` where the port is taken."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.add_routes(
            [web.post("/v1/chat/completions", self._chat), web.get("/v1/models", self._models), web.get("/healthz", _alive)]
        )
        # A client that gives up must not leave a sleeping handler behind: `hang` sleeps without end.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, port, backlog=1024).start()
        except OSError as error:
            await self.close()
            raise ServiceError(
                f"nothing can listen on {HOST}:{port}",
                where=[error.strerror or str(error)],
                meaning="No reply was served.",
                next_step="Choose another --port; 0 takes any free one.",
            ) from error
        self.url = f"http://{HOST}:{self._runner.addresses[0][1]}/v1"

    async def close(self) -> None:
        """Stop listening and end what is in flight. Safe to call twice."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            return await self._answer(request)
        finally:
            self._in_flight -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
            texts = [(str(message["role"]), _text(message["content"])) for message in body["messages"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            return _refusal(400, "the body is no chat completion request", "invalid_request_error")
        if body.get("stream"):
            return _refusal(400, "recorded replies are not streamed", "invalid_request_error")
        header = request.headers.get(case_header.NAME, "")
        item_id, found = ("", Completion("OK")) if header == case_header.PREFLIGHT else self._matcher.find(header, texts)
        subject = header or (texts[-1][1] if texts else "")
        self._attempts[subject] += 1
        attempt = Attempt(subject, self._attempts[subject], item_id)
        fault = first_fault(self._manner.faults, attempt, seed=self._manner.seed)
        if fault == "hang":
            await asyncio.Event().wait()
        if self._manner.latency_s:
            await asyncio.sleep(self._manner.latency_s)
        if fault == "reset" and request.transport is not None:
            request.transport.abort()
        if fault in {"endless", "bomb"}:
            return await (floods.endless(request) if fault == "endless" else floods.bomb(request))
        if fault.isdecimal():
            return _refusal(
                int(fault), f"injected fault {fault}", "injected_fault", {"Retry-After": "1"} if fault == "429" else {}
            )
        if isinstance(found, str):
            return _refusal(422, found, "no_recorded_reply")
        return web.json_response(_completion(self._manner.model, _spoiled(found, fault), texts))

    async def _models(self, _request: web.Request) -> web.Response:
        model = {"id": self._manner.model, "object": "model", "created": 0, "owned_by": "nl2sql-gate"}
        return web.json_response({"object": "list", "data": [model]})


async def start_server(replies: Replies, *, items: Sequence[Item] = (), manner: Manner = Manner(), port: int = 0) -> Server:
    """An endpoint that answers until it is closed. `items` give the questions by which requests without the header are known."""
    server = Server(replies, items, manner)
    await server.start(port)
    return server


async def _alive(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _refusal(status: int, message: str, code: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = {"error": {"message": message, "type": code, "param": None, "code": code}}
    return web.json_response(body, status=status, headers=headers)


def _completion(model: str, reply: Completion, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    # Nobody counted the tokens of most recorded replies; words are near enough for budgets and limits to be tried out.
    asked = reply.tokens_in if reply.tokens_in is not None else sum(len(text.split()) for _, text in texts)
    answered = reply.tokens_out if reply.tokens_out is not None else len(reply.text.split())
    return {
        "id": "chatcmpl-recorded",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": reply.text}, "finish_reason": reply.finish}],
        "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
    }


def _spoiled(reply: Completion, fault: str) -> Completion:
    if fault == "empty":
        return Completion("", model=reply.model)
    if fault == "cut-off":
        return Completion(reply.text[: len(reply.text) // 2], finish="length", model=reply.model)
    return reply
