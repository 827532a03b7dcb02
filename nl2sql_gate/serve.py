"""An OpenAI-compatible endpoint on loopback that answers from recorded replies: for demos, tests and fork pull requests.

`POST /v1/chat/completions` finds the recorded reply by the header `X-Nl2sql-Gate-Case`; where a client does not send it, by the
longest question of the dataset that stands in the last user message, and the dialect that the messages name. `GET /v1/models` and
`GET /healthz` answer too. Latency and faults can be added; which request meets a fault depends on the seed, the case and the
number of the attempt alone, so a run can be repeated.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from nl2sql_gate.errors import ServiceError
from nl2sql_gate.generators import case_header
from nl2sql_gate.generators.recorded import Replies, dialects_to_try, read_replies
from nl2sql_gate.prompt import NAMES
from nl2sql_gate.records import Completion, Item
from nl2sql_gate.serve_faults import Attempt, FaultRule, first_fault, parse_fault

HOST = "127.0.0.1"
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Manner:
    """How the endpoint behaves: the model's name that it claims, the latency of each answer, and what goes wrong."""

    model: str = "recorded"
    latency_s: float = 0.0
    faults: tuple[FaultRule, ...] = ()
    seed: int = 0


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


class Server:
    """A running endpoint. `url` is the base URL for a client, `requests` and `most_in_flight` what it has seen so far."""

    def __init__(self, replies: Replies, items: Sequence[Item], manner: Manner) -> None:
        self.url = ""
        self.requests = 0
        self.most_in_flight = 0
        self._replies = replies
        self._questions = _by_question(items)
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
        item_id, found = ("", Completion("OK")) if header == case_header.PREFLIGHT else self._find(header, texts)
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
        if fault.isdecimal():
            return _refusal(
                int(fault), f"injected fault {fault}", "injected_fault", {"Retry-After": "1"} if fault == "429" else {}
            )
        if isinstance(found, str):
            return _refusal(422, found, "no_recorded_reply")
        return web.json_response(_completion(self._manner.model, _spoiled(found, fault), texts))

    def _find(self, header: str, texts: Sequence[tuple[str, str]]) -> tuple[str, Completion | str]:
        """The item that a request is about (empty where unknown), and its recorded reply or why there is none."""
        named = case_header.case_of(header)
        if named is not None:
            key, dialect = named
            dialects = dialects_to_try(key.dialect, dialect)
            reply = self._replies.find(key.id, dialects=dialects, database=key.database, trial=key.trial)
            return key.id, reply or f"no recorded reply for id {key.id}, {dialect}, database {key.database}, trial {key.trial}"
        asked = next((text for role, text in reversed(texts) if role == "user"), "")
        items = _longest_match(self._questions, asked)
        if not items:
            return (
                "",
                f"no question of the dataset stands in the last user message, and no header {case_header.NAME} names the case",
            )
        whole = "\n".join(text for _, text in texts)
        found: dict[str, Completion] = {}
        for item in _of_named_database(items, whole):
            recorded = self._replies.dialects_of(item.id)
            dialects = _by_mention(whole, recorded) or (recorded if len(recorded) == 1 else ())
            reply = self._replies.find(item.id, dialects=dialects, database=item.database, trial=None)
            if reply is not None:
                found[item.id] = reply
        if len(found) > 1:
            return "", f"several items ask this question: {', '.join(found)}; the header {case_header.NAME} tells them apart"
        return next(iter(found.items()), (items[0].id, f"no recorded reply for {' or '.join(item.id for item in items)}"))

    async def _models(self, _request: web.Request) -> web.Response:
        model = {"id": self._manner.model, "object": "model", "created": 0, "owned_by": "nl2sql-gate"}
        return web.json_response({"object": "list", "data": [model]})


async def start_server(replies: Replies, *, items: Sequence[Item] = (), manner: Manner = Manner(), port: int = 0) -> Server:
    """An endpoint that answers until it is closed. `items` give the questions by which requests without the header are known."""
    server = Server(replies, items, manner)
    await server.start(port)
    return server


def run(options: Options) -> None:
    """Serve until interrupted or terminated; prints `listening on http://127.0.0.1:PORT/v1` once it answers.

    Raises `DatasetError` for a broken file, `SettingsError` for an unknown fault, `ServiceError` where the port is taken.
    """
    faults = tuple(parse_fault(text) for text in options.faults)
    manner = Manner(options.model, options.latency_ms / 1000, faults, options.seed)
    replies = read_replies(options.replies)
    items: Sequence[Item] = ()
    if options.dataset is not None:
        from nl2sql_gate import dataset

        items = dataset.load(options.dataset).items
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
    if fault == "cut":
        return Completion(reply.text[: len(reply.text) // 2], finish="length", model=reply.model)
    return reply


def _by_question(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Items by their question, the longest first: the question of one item may stand inside that of another."""
    found: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: -len(_squeezed(item.question))):
        if _squeezed(item.question):
            found.setdefault(_squeezed(item.question), []).append(item)
    return found


def _longest_match(questions: Mapping[str, list[Item]], asked: str) -> list[Item]:
    squeezed = _squeezed(asked)
    return next((items for question, items in questions.items() if question in squeezed), [])


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _of_named_database(items: Sequence[Item], text: str) -> Sequence[Item]:
    """Of items with the same question, those whose database the messages name; all, where none is named."""
    return [item for item in items if _position(text, item.database) is not None] or items


def _by_mention(text: str, dialects: Sequence[str]) -> list[str]:
    """Those of the dialects that the messages name, the first named first."""
    found = []
    for dialect in dialects:
        spellings = (dialect, NAMES.get(dialect, dialect).partition(" (")[0])
        positions = [position for name in spellings if (position := _position(text, name)) is not None]
        if positions:
            found.append((min(positions), dialect))
    return [dialect for _, dialect in sorted(found)]


def _position(text: str, name: str) -> int | None:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) if name else None
    return found.start() if found else None
