"""The generator for OpenAI-compatible chat endpoints.

Parameters go out as the settings give them, and none that they do not give. Latency is that of the attempt that succeeded, from
the moment it was sent: waiting for the limiter and earlier attempts are not the model's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
from aiohttp import ClientError
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAioHttpClient, Omit

from nl2sql_gate.errors import EndpointError, EndpointFault, SettingsError
from nl2sql_gate.generators import case_header
from nl2sql_gate.generators.chat_reply import read_chat_reply
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
from nl2sql_gate.generators.refusals import Refusal, Refused, read_refusal
from nl2sql_gate.generators.retries import RETRIES_WHERE_NOTHING_LISTENS, Transient, persist, retry_after_s
from nl2sql_gate.generators.standing import Standing
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.reply_size import ACCEPTED_ENCODINGS, MOST_COMPLETION_BYTES, UnusableReply, bounded_async_hook
from nl2sql_gate.settings import Model

OPENAI_URL = "https://api.openai.com/v1"
ROUTE = "/chat/completions"
OWN_KEYS = ("messages", "model", "stream")
PREFLIGHT_QUESTION = "Reply with the word OK."
IDLE_CONNECTION_S = 30.0
SPARE_CONNECTIONS = 8


class OpenAIChat:
    """Chat completions through the `openai` client. One event loop at a time: a client is made for the loop that asks."""

    def __init__(self, model: Model, *, replies: str | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        del replies
        self._model = model
        self._clock = clock
        self._url = checked_url(model.base_url or OPENAI_URL, key="model.base_url").removesuffix(ROUTE)
        self._extra = _checked_params(model)
        self._limiter = Limiter(model.limits, clock)
        self._headers = checked_headers(model.headers, model.api_key)
        self._secrets = secrets_of(model)
        names = {name.lower() for name in (*self._headers, *self._extra["headers"])}
        # Without a key the client refuses to send anything unless the header is left out by name.
        self._without_key = {} if "authorization" in names else {"Authorization": Omit()}
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._standing = Standing(f"{without_secrets(self._url)}{ROUTE}, model {model.name!r}", self._extra["body"])

    async def preflight(self) -> None:
        """Ask one short question with the settings' parameters.

        Raises `CredentialsError` where key, path or model are refused, `SettingsError` where the request is, `EndpointError`
        where no answer comes.
        """
        messages = [{"role": "user", "content": PREFLIGHT_QUESTION}]
        try:
            await self._ask(messages, case_header.PREFLIGHT, retries=self._model.retries)
        except EndpointFault as fault:
            cause = fault.__cause__
            if isinstance(cause, Transient) and cause.unreachable:
                raise unreachable(self._url, cause.words) from fault
            if isinstance(cause, UnusableReply):
                raise EndpointError(
                    "the model endpoint's answer cannot be used",
                    where=[f"{without_secrets(self._url)}: {cause}"],
                    meaning="No question was asked, so nothing can be said about the change.",
                    next_step="Check model.base_url: something else than a model may listen there.",
                ) from fault
            raise EndpointError(
                "the model endpoint does not answer",
                where=[f"{without_secrets(self._url)}: {fault.what}"],
                meaning="No question was asked, so nothing can be said about the change.",
                next_step="Run again when the endpoint is well; model.retries and model.timeout_s say how long to insist.",
            ) from fault

    async def complete(self, ask: Ask) -> Completion:
        """The model's reply; cut-off, filtered and too long prompts are replies too, by their `finish`.

        Raises `EndpointFault` after all retries, and `UsageError` where the endpoint refuses key, model or parameters before it
        has answered anything: no other question would fare better.
        """
        messages = [{"role": role, "content": content} for role, content in ask.prompt.messages]
        return await self._ask(messages, case_header.header_of(ask), retries=self._model.retries)

    async def close(self) -> None:
        """Close the connections of the running loop."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    @property
    def address(self) -> str:
        """Where it asks, without secrets: part of what replies are kept by, not of the model's identity."""
        return without_secrets(self._url)

    def identity(self) -> Mapping[str, Any]:
        """Name and parameters. Not the address: the same model answers at many."""
        return {"generator": "openai_chat", "name": self._model.name, "params": self._model.params}

    async def _ask(self, messages: list[dict[str, str]], header: str, *, retries: int) -> Completion:
        self._standing.check()
        tried = 0

        async def attempt() -> Completion:
            nonlocal tried
            tried += 1
            try:
                return await self._attempt(messages, header)
            except Transient as error:
                is_vain = header == case_header.PREFLIGHT and error.unreachable and tried > RETRIES_WHERE_NOTHING_LISTENS
                if is_vain:
                    raise EndpointFault(error.words) from error
                raise

        try:
            completion, attempts = await persist(attempt, retries=retries, clock=self._clock)
        except Refused as error:
            is_preflight = header == case_header.PREFLIGHT
            completion, attempts = self._standing.settle(error.refusal, is_preflight=is_preflight), tried
        self._standing.answered()
        cost = cost_of(self._model.prices, completion.tokens_in, completion.tokens_out)
        return replace(completion, attempts=attempts, cost=cost)

    async def _attempt(self, messages: list[dict[str, str]], header: str) -> Completion:
        booked = await self._limiter.admit(sum(len(message["content"]) for message in messages))
        client = self._client_here()
        name = {"model": self._model.name} if self._model.name else {}
        body = {**name, "messages": messages, **self._extra["body"]}
        headers = {case_header.NAME: header, **self._without_key, **self._extra["headers"]}
        options: Any = {"headers": headers}
        if self._extra["query"]:
            options["params"] = self._extra["query"]
        started = self._clock.now()
        try:
            async with asyncio.timeout(self._model.timeout_s):
                # The raw response: endpoints answer in shapes that the client's own types do not foresee, and parsing costs time.
                response = await client.post(ROUTE, cast_to=httpx2.Response, body=body, options=options)
        except UnusableReply as error:
            raise EndpointFault(f"the endpoint's answer cannot be used: {error}") from error
        except APIStatusError as error:
            raise self._refusal(error.response) from error
        except (APIConnectionError, ClientError, OSError) as error:
            # The client's transport lets some of aiohttp's own exceptions through, for example for what is no HTTP.
            raise connection_failure(error, limit_s=self._model.timeout_s) from error
        latency_s = self._clock.now() - started
        try:
            answer = json.loads(response.content)
        except (ValueError, RecursionError) as error:
            words = read_refusal(0, response.text, secrets=self._secrets).words
            raise Refused(Refusal(0, f"the answer is no JSON: {words}", in_answer=True)) from error
        try:
            completion = read_chat_reply(answer, secrets=self._secrets)
        except Refused as error:
            if error.refusal.kind(self._extra["body"]) == "transient":
                raise Transient(str(error.refusal), retry_after_s=retry_after_s(response.headers)) from error
            raise
        self._limiter.settle(booked, tokens_in=completion.tokens_in, tokens_out=completion.tokens_out)
        return replace(completion, latency_s=latency_s)

    def _refusal(self, response: httpx2.Response) -> Exception:
        """What to raise for an HTTP error: `Transient` where it may pass."""
        try:
            body: Any = json.loads(response.content)
        except (ValueError, RecursionError):
            body = response.text
        refusal = read_refusal(response.status_code, body, secrets=self._secrets)
        if refusal.kind(self._extra["body"]) == "transient":
            return Transient(str(refusal), retry_after_s=retry_after_s(response.headers))
        return Refused(refusal)

    def _client_here(self) -> AsyncOpenAI:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._new_client(), loop
        return self._client

    def _new_client(self) -> AsyncOpenAI:
        connections = self._model.concurrency + SPARE_CONNECTIONS
        limits = httpx2.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE_CONNECTION_S
        )
        timeout = httpx2.Timeout(self._model.timeout_s, connect=min(CONNECT_S, self._model.timeout_s))
        # A proxy's loopback is never the one that was meant.
        http_client = DefaultAioHttpClient(
            limits=limits,
            timeout=timeout,
            verify=tls_context(self._url),
            trust_env=not is_loopback(self._url),
            headers={"Accept-Encoding": ACCEPTED_ENCODINGS},
            event_hooks=bounded_async_hook(MOST_COMPLETION_BYTES),
        )
        return AsyncOpenAI(
            api_key="in the headers",
            base_url=self._url,
            max_retries=0,
            timeout=timeout,
            default_headers=self._headers,
            http_client=http_client,
        )


def _checked_params(model: Model) -> dict[str, dict[str, Any]]:
    """`model.params` as body, headers and query, by the client's own words `extra_body`, `extra_headers`, `extra_query`."""
    params = dict(model.params)
    extras = {name: params.pop(name, None) or {} for name in ("extra_body", "extra_headers", "extra_query")}
    wrong = [name for name, value in extras.items() if not isinstance(value, dict)]
    taken = [name for name in OWN_KEYS if name in params or name in extras["extra_body"]]
    if wrong or taken:
        problem = f"{wrong[0]} must be a mapping" if wrong else f"{taken[0]} cannot be set here"
        raise SettingsError(
            "model.params cannot be used as they are",
            where=[f"model.params: {problem}"],
            meaning="The gate sends messages and the model's name itself, and reads whole replies, not streams.",
            next_step="Take it out; the name belongs under model.name, the messages into the prompt template.",
        )
    try:
        json.dumps([params, extras], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            "model.params cannot be used as they are",
            where=[f"model.params: {error}"],
            meaning="They are sent as JSON.",
            next_step="Put quotes around dates and other values that YAML reads as more than text and numbers.",
        ) from error
    headers = {str(name): str(value) for name, value in extras["extra_headers"].items()}
    return {"body": {**params, **extras["extra_body"]}, "headers": headers, "query": extras["extra_query"]}
