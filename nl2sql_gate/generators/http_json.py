"""The generator for a team's own service: a request made by a template, and a path to the SQL or the reply in the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.generators import case_header, json_path
from nl2sql_gate.generators.chat_reply import read_usage
from nl2sql_gate.generators.connection import (
    CONNECT_S,
    checked_headers,
    checked_url,
    connection_failure,
    is_loopback,
    secrets_of,
    tls_context,
    unreachable,
    without_secrets,
)
from nl2sql_gate.generators.limits import SYSTEM_CLOCK, Clock, Limiter
from nl2sql_gate.generators.pricing import cost_of
from nl2sql_gate.generators.question import parts_of
from nl2sql_gate.generators.refusals import Refused, read_refusal
from nl2sql_gate.generators.request_template import RequestTemplate
from nl2sql_gate.generators.retries import RETRIES_WHERE_NOTHING_LISTENS, Transient, persist, retry_after_s
from nl2sql_gate.generators.standing import Standing
from nl2sql_gate.generators.stored import encodable
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.reply_size import ACCEPTED_ENCODINGS, MOST_COMPLETION_BYTES, ReplyBody, UnusableReply
from nl2sql_gate.settings import Model

NO_ANSWER = 300


class HttpJson:
    """A JSON service. One event loop at a time: a session is made for the loop that asks."""

    def __init__(self, model: Model, *, replies: str | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        del replies
        if not model.url:
            raise SettingsError(
                "the generator 'http_json' needs the address of the service",
                where=["model.url is not set"],
                meaning="No question was asked.",
                next_step="Set model.url, for example http://nl2sql.internal:8080/translate.",
            )
        self._model = model
        self._clock = clock
        self._url = checked_url(model.url, key="model.url")
        self._template = RequestTemplate(model.request)
        self._path, self._path_key = _reply_path(model)
        self._limiter = Limiter(model.limits, clock)
        self._headers = checked_headers(model.headers, model.api_key)
        self._secrets = secrets_of(model)
        self._standing = Standing(without_secrets(self._url))
        self._session: ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def preflight(self) -> None:
        """Try the template, then whether anything answers at the address.

        No question is made up for it: a service may answer a wrong one with any status. So credentials are seen by `complete`.
        """
        self._template.try_out()
        try:
            await persist(self._knock, retries=min(self._model.retries, RETRIES_WHERE_NOTHING_LISTENS), clock=self._clock)
        except EndpointFault as fault:
            raise unreachable(self._url, fault.what) from fault

    async def complete(self, ask: Ask) -> Completion:
        """What the service says. Raises as `OpenAIChat.complete` does; an answer without the path is an `EndpointFault`."""
        self._standing.check()
        request = self._template.render(parts_of(ask), item_id=ask.key.id)
        header = case_header.header_of(ask)
        tried = 0

        async def attempt() -> Completion:
            nonlocal tried
            tried += 1
            return await self._attempt(request, header)

        try:
            completion, attempts = await persist(attempt, retries=self._model.retries, clock=self._clock)
        except Refused as error:
            completion, attempts = self._standing.settle(error.refusal), tried
        self._standing.answered()
        return replace(
            completion, attempts=attempts, cost=cost_of(self._model.prices, completion.tokens_in, completion.tokens_out)
        )

    async def close(self) -> None:
        """Close the connections of the running loop."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    def identity(self) -> Mapping[str, Any]:
        """The service's address without secrets, and the digest of the request template."""
        return {
            "generator": "http_json",
            "name": self._model.name,
            "url": without_secrets(self._url),
            "request": self._template.digest,
            "path": [self._path_key, *self._path],
        }

    async def _knock(self) -> None:
        try:
            async with asyncio.timeout(CONNECT_S), self._session_here().head(self._url, headers=self._headers):
                return
        except (ClientError, OSError, TimeoutError) as error:
            failure = connection_failure(error, limit_s=CONNECT_S)
            # Whatever else went wrong, something listens there; a service may dislike HEAD.
            if failure.unreachable:
                raise failure from error

    async def _attempt(self, request: Any, header: str) -> Completion:
        booked = await self._limiter.admit(len(json.dumps(request)))
        headers = {"Accept-Encoding": ACCEPTED_ENCODINGS, case_header.NAME: header, **self._headers}
        sent: dict[str, Any] = {"params": _query(request)} if self._model.method == "GET" else {"json": request}
        started = self._clock.now()
        try:
            async with (
                asyncio.timeout(self._model.timeout_s),
                self._session_here().request(self._model.method, self._url, headers=headers, **sent) as response,
            ):
                content = await _content_of(response)
        except UnusableReply as error:
            raise EndpointFault(f"the service's answer cannot be used: {error}") from error
        except (ClientError, OSError, TimeoutError) as error:
            raise connection_failure(error, limit_s=self._model.timeout_s) from error
        latency_s = self._clock.now() - started
        text = _decoded(content, response.charset)
        if response.status >= NO_ANSWER:
            refusal = read_refusal(response.status, _parsed(text), secrets=self._secrets)
            if refusal.kind() == "transient":
                raise Transient(str(refusal), retry_after_s=retry_after_s(response.headers))
            raise Refused(refusal)
        completion = self._read(text)
        self._limiter.settle(booked, tokens_in=completion.tokens_in, tokens_out=completion.tokens_out)
        return replace(completion, latency_s=latency_s)

    def _read(self, text: str) -> Completion:
        body = _parsed(text)
        usage = body.get("usage") if isinstance(body, Mapping) else None
        tokens_in, tokens_out = read_usage(usage)
        if not self._path:
            return Completion(text=encodable(text), tokens_in=tokens_in, tokens_out=tokens_out)
        try:
            found = json_path.pick(body, self._path)
        except LookupError as error:
            words = read_refusal(0, body, secrets=self._secrets).words
            raise EndpointFault(
                f"the service's answer does not hold what model.{self._path_key} names: {error}: {words}"
            ) from error
        if found is not None and not isinstance(found, str):
            found = json.dumps(found, ensure_ascii=False)
        return Completion(text=encodable(found or ""), tokens_in=tokens_in, tokens_out=tokens_out)

    def _session_here(self) -> ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            connector = TCPConnector(limit=self._model.concurrency + 1, ssl=tls_context(self._url))
            # The limit on the whole attempt is set where it is made; a proxy's loopback is never the one that was meant.
            timeout = ClientTimeout(total=None, sock_connect=CONNECT_S)
            direct = is_loopback(self._url)
            # Replies are unpacked where their size is bounded.
            self._session = ClientSession(
                connector=connector, timeout=timeout, trust_env=not direct, cookie_jar=DummyCookieJar(), auto_decompress=False
            )
            self._loop = loop
        return self._session


async def _content_of(response: ClientResponse) -> bytes:
    body = ReplyBody(response.headers.get("Content-Encoding", ""), most_bytes=MOST_COMPLETION_BYTES)
    parts: list[bytes] = []
    async for part in response.content.iter_any():
        parts += body.unpacked(part)
    return b"".join(parts)


def _decoded(content: bytes, charset: str | None) -> str:
    """The text; a name of no charset is taken for UTF-8."""
    try:
        return content.decode(charset or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


def _reply_path(model: Model) -> tuple[json_path.Path, str]:
    """The path to what is wanted, and the setting that gave it; empty for the whole body."""
    given = [(name, text) for name, text in (("sql_path", model.sql_path), ("reply_path", model.reply_path)) if text]
    if len(given) > 1:
        problem = "model.sql_path and model.reply_path are both set"
    elif not given:
        return (), ""
    else:
        name, text = given[0]
        try:
            return json_path.parse_path(text), name
        except ValueError as error:
            problem = f"model.{name}: {error}"
    raise SettingsError(
        "the path into the service's answer cannot be used",
        where=[problem],
        meaning="No question was asked.",
        next_step="Set one of them, like data.sql or choices[0].message.content.",
    )


def _query(request: Any) -> dict[str, str]:
    """A rendered object as query parameters."""
    if not isinstance(request, Mapping):
        raise SettingsError(
            "the request template does not fit method: GET",
            where=["model.request: it must render to a JSON object, whose keys become query parameters"],
            meaning="No question was asked.",
            next_step="Render an object, or use method: POST.",
        )
    return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in request.items()}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
