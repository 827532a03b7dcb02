"""The chat generator against a scripted endpoint: what it sends, what it makes of answers, and when it gives up."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from pydantic import SecretStr

from nl2sql_gate.errors import CredentialsError, EndpointError, EndpointFault, SettingsError
from nl2sql_gate.generators.openai_chat import OpenAIChat
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model, Prices

pytestmark = pytest.mark.asyncio
MakeAsk = Callable[..., Ask]


async def completed(model: Model, ask: Ask, **given: Any) -> Completion:
    generator = OpenAIChat(model, **given)
    try:
        return await generator.complete(ask)
    finally:
        await generator.close()


async def refused(model: Model, ask: Ask, **given: Any) -> str:
    with pytest.raises(EndpointFault) as caught:
        await completed(model, ask, **given)
    return str(caught.value)


class TestWhatIsSent:
    async def test_only_what_the_settings_say(self, endpoint: Any, make_ask: MakeAsk) -> None:
        await completed(Model(base_url=endpoint.url, name="m"), make_ask())
        assert endpoint.bodies == [
            {
                "model": "m",
                "messages": [{"role": "system", "content": "You write SQL."}, {"role": "user", "content": "How many orders?"}],
            }
        ]

    async def test_parameters_untouched_known_or_not(self, endpoint: Any, make_ask: MakeAsk) -> None:
        params = {"temperature": 0, "seed": 7, "top_k": 1, "extra_body": {"chat_template_kwargs": {"thinking": False}}}
        await completed(Model(base_url=endpoint.url, name="m", params=params), make_ask())
        sent = {key: value for key, value in endpoint.bodies[0].items() if key not in ("model", "messages")}
        assert sent == {"temperature": 0, "seed": 7, "top_k": 1, "chat_template_kwargs": {"thinking": False}}

    async def test_key_and_headers(self, endpoint: Any, make_ask: MakeAsk) -> None:
        headers = {"X-Team": SecretStr("blue")}
        params = {"extra_headers": {"X-Trace": "1"}}
        model = Model(base_url=endpoint.url, name="m", api_key=SecretStr("sk-1234"), headers=headers, params=params)
        await completed(model, make_ask())
        sent = endpoint.headers[0]
        assert (sent["Authorization"], sent["X-Team"], sent["X-Trace"]) == ("Bearer sk-1234", "blue", "1")

    async def test_no_key_of_another_service(self, endpoint: Any, make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch) -> None:
        """A key for OpenAI in the environment is nobody else's business."""
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        await completed(Model(base_url=endpoint.url, name="m"), make_ask())
        assert "Authorization" not in endpoint.headers[0]

    @pytest.mark.parametrize("name", ["Authorization", "authorization"])
    async def test_an_own_authorization_goes_before_the_key(self, endpoint: Any, make_ask: MakeAsk, name: str) -> None:
        headers = {name: SecretStr("Basic abc")}
        await completed(Model(base_url=endpoint.url, name="m", api_key=SecretStr("sk-1234"), headers=headers), make_ask())
        assert endpoint.headers[0].getall("Authorization") == ["Basic abc"]

    async def test_blanks_around_a_pasted_key_are_cut_off(self, endpoint: Any, make_ask: MakeAsk) -> None:
        await completed(Model(base_url=endpoint.url, name="m", api_key=SecretStr(" sk-1234\n")), make_ask())
        assert endpoint.headers[0]["Authorization"] == "Bearer sk-1234"

    @pytest.mark.parametrize(
        "place, given",
        [
            ("model.api_key", {"api_key": "sk-plan\nted"}),
            ("model.api_key", {"api_key": "sk-plànted"}),
            ("'X-A'", {"headers": {"X-A": "planted\r\nX-B: 1"}}),
            ("'X A'", {"headers": {"X A": "planted"}}),
        ],
    )
    async def test_what_no_header_can_hold_is_a_setting(self, place: str, given: dict[str, Any]) -> None:
        with pytest.raises(SettingsError) as caught:
            OpenAIChat(Model(base_url="http://127.0.0.1:1/v1", name="m", **given))
        assert place in str(caught.value)
        assert "pl" not in "".join(caught.value.where).replace("place", "").replace("printable", "")

    @pytest.mark.parametrize("value", [float("nan"), date(2026, 1, 1), {1, 2}])
    async def test_parameters_that_are_no_json_are_a_setting(self, value: object) -> None:
        with pytest.raises(SettingsError, match=r"model\.params"):
            OpenAIChat(Model(base_url="http://127.0.0.1:1/v1", name="m", params={"x": value}))

    async def test_the_case_in_a_header(self, endpoint: Any, make_ask: MakeAsk) -> None:
        await completed(Model(base_url=endpoint.url, name="m"), make_ask("a/b ü", service="pg16", dialect="postgres", trial=2))
        assert endpoint.headers[0]["X-Nl2sql-Gate-Case"] == "a%2Fb%20%C3%BC/pg16/postgres/shop/2"

    async def test_a_whole_address_is_an_address_too(self, endpoint: Any, make_ask: MakeAsk) -> None:
        await completed(Model(base_url=f"{endpoint.url}/chat/completions/", name="m"), make_ask())
        assert endpoint.requests == 1

    @pytest.mark.parametrize("params", [{"stream": True}, {"messages": []}, {"extra_body": {"model": "x"}}, {"extra_body": "x"}])
    async def test_parameters_that_are_ours_are_refused(self, params: dict[str, Any]) -> None:
        with pytest.raises(SettingsError, match=r"model\.params"):
            OpenAIChat(Model(base_url="http://127.0.0.1:1/v1", name="m", params=params))

    @pytest.mark.parametrize("url", ["127.0.0.1:8000/v1", "ftp://host/v1", "http://", "http://[::1/v1", "http://host:99999/v1"])
    async def test_an_address_without_scheme_or_host_is_refused(self, url: str) -> None:
        with pytest.raises(SettingsError, match=r"model\.base_url"):
            OpenAIChat(Model(base_url=url, name="m"))


class TestAnswers:
    async def test_tokens_cost_model_and_latency(self, endpoint: Any, make_ask: MakeAsk, chat: Any) -> None:
        answer = chat("SELECT 1")
        answer["json"] |= {"model": "m-2026", "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}
        endpoint.script = [answer]
        prices = Prices(input_per_million=2, output_per_million=10)
        said = await completed(Model(base_url=endpoint.url, name="m", prices=prices), make_ask())
        assert (said.model, said.tokens_in, said.tokens_out, said.cost) == ("m-2026", 1000, 100, pytest.approx(0.003))
        assert said.latency_s is not None
        assert 0 < said.latency_s < 5

    async def test_unknown_usage_is_not_zero(self, endpoint: Any, make_ask: MakeAsk) -> None:
        prices = Prices(input_per_million=2, output_per_million=10)
        said = await completed(Model(base_url=endpoint.url, name="m", prices=prices), make_ask())
        assert (said.tokens_in, said.tokens_out, said.cost) == (None, None, None)

    async def test_latency_leaves_out_earlier_attempts_and_waiting(
        self, endpoint: Any, make_ask: MakeAsk, chat: Any, fake_time: Any
    ) -> None:
        async def slowly(_: Any) -> None:
            fake_time.now_s += 2.5

        endpoint.script = [
            {"status": 429, "headers": {"Retry-After": "60"}, "json": {"error": {"message": "slow down"}}, "wait_for": slowly},
            {**chat(), "wait_for": slowly},
        ]
        model = Model(base_url=endpoint.url, name="m", limits={"requests_per_minute": 1})
        said = await completed(model, make_ask(), clock=fake_time.clock())
        assert (said.latency_s, said.attempts) == (2.5, 2)

    @pytest.mark.parametrize(
        "body",
        [
            {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": "context_length_exceeded"}},
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, you requested 9000",
                "code": 400,
            },
            {"error": {"type": "exceed_context_size_error", "message": "request exceeds the available size", "code": 400}},
        ],
    )
    async def test_a_too_long_prompt_is_an_answer(self, endpoint: Any, make_ask: MakeAsk, body: Any) -> None:
        endpoint.script = [{"status": 400, "json": body}]
        said = await completed(Model(base_url=endpoint.url, name="m"), make_ask())
        assert (said.finish, endpoint.requests) == ("context_length", 1)

    async def test_max_tokens_beyond_the_context_is_a_setting(self, endpoint: Any, make_ask: MakeAsk) -> None:
        message = "max_tokens is too large: 9000. This model's maximum context length is 4096 tokens."
        endpoint.script = [{"status": 400, "json": {"error": {"message": message, "param": "max_tokens"}}}]
        with pytest.raises(SettingsError, match="max_tokens is too large"):
            await completed(Model(base_url=endpoint.url, name="m", params={"max_tokens": 9000}), make_ask())

    async def test_half_a_character_becomes_a_whole_one(self, endpoint: Any, make_ask: MakeAsk) -> None:
        text = '{"choices": [{"message": {"content": "SELECT \'\\ud83d\'"}, "finish_reason": "stop"}]}'
        endpoint.script = [{"status": 200, "text": text}]
        said = await completed(Model(base_url=endpoint.url, name="m"), make_ask())
        assert said.text == "SELECT '\ufffd'"

    @pytest.mark.parametrize(
        "text", ["<html>Sign in</html>", "", "[" * 100_000, "null", "[]", '{"choices": [{}]}', '{"choices": {"a": 1}}']
    )
    async def test_an_answer_in_no_known_shape_is_a_fault(self, endpoint: Any, make_ask: MakeAsk, text: str) -> None:
        endpoint.script = [{"status": 200, "text": text}]
        assert "cannot be used" in await refused(Model(base_url=endpoint.url, name="m"), make_ask())
        assert endpoint.requests == 1


class TestRetries:
    async def test_the_providers_words_after_the_last_attempt(self, endpoint: Any, make_ask: MakeAsk, fake_time: Any) -> None:
        endpoint.script = [{"status": 500, "json": {"error": {"message": "the model fell over"}}}]
        said = await refused(Model(base_url=endpoint.url, name="m", retries=2), make_ask(), clock=fake_time.clock())
        assert said == "no reply after 3 attempts: HTTP 500: the model fell over"
        assert (endpoint.requests, fake_time.slept) == (3, [0.25, 0.5])

    async def test_a_reset_connection_is_tried_again(self, endpoint: Any, make_ask: MakeAsk, chat: Any, fake_time: Any) -> None:
        endpoint.script = [{"reset": True, "status": 200}, chat()]
        said = await completed(Model(base_url=endpoint.url, name="m"), make_ask(), clock=fake_time.clock())
        assert (said.text, said.attempts) == ("SELECT 1", 2)

    async def test_an_endpoint_that_hangs_is_named_so(self, endpoint: Any, make_ask: MakeAsk) -> None:
        endpoint.script = [{"hang": True}]
        said = await refused(Model(base_url=endpoint.url, name="m", retries=0, timeout_s=0.05), make_ask())
        assert said == "no reply after 1 attempt: no answer within 0.05 s"

    @pytest.mark.parametrize(
        "words, answer",
        [
            ("the answer is no HTTP", b"SSH-2.0-OpenSSH\r\n\r\n"),
            ("the answer is no HTTP", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"),
            ("closed in the middle of the answer", b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello"),
            ("decompressing", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
            ("redirects", b"HTTP/1.1 307 R\r\nLocation: /v1/chat/completions\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        ],
    )
    async def test_a_server_that_speaks_something_else_is_a_fault(self, make_ask: MakeAsk, words: str, answer: bytes) -> None:
        async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(10)
            writer.write(answer)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(speak, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            assert words in await refused(Model(base_url=url, name="m", retries=0), make_ask())

    async def test_an_empty_account_is_not_tried_again(self, endpoint: Any, make_ask: MakeAsk, chat: Any) -> None:
        """Its status is 429 like that of a rate limit, but no waiting helps."""
        broke = {"status": 429, "json": {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}}
        endpoint.script = [chat(), broke]
        generator = OpenAIChat(Model(base_url=endpoint.url, name="m"))
        await generator.complete(make_ask())
        with pytest.raises(EndpointFault, match="exceeded your quota"):
            await generator.complete(make_ask())
        await generator.close()
        assert endpoint.requests == 2

    async def test_a_key_that_expires_costs_one_request(self, endpoint: Any, make_ask: MakeAsk, chat: Any) -> None:
        endpoint.script = [chat(), {"status": 401, "json": {"error": {"message": "expired"}}}]
        generator = OpenAIChat(Model(base_url=endpoint.url, name="m"))
        await generator.complete(make_ask())
        for _ in range(3):
            with pytest.raises(EndpointFault, match="expired"):
                await generator.complete(make_ask())
        await generator.close()
        assert endpoint.requests == 2

    async def test_one_forbidden_question_does_not_stop_the_others(self, endpoint: Any, make_ask: MakeAsk, chat: Any) -> None:
        endpoint.script = [chat(), {"status": 403, "json": {"error": {"message": "blocked by the firewall"}}}, chat("SELECT 2")]
        generator = OpenAIChat(Model(base_url=endpoint.url, name="m"))
        await generator.complete(make_ask())
        with pytest.raises(EndpointFault, match="firewall"):
            await generator.complete(make_ask())
        assert (await generator.complete(make_ask())).text == "SELECT 2"
        await generator.close()


class TestPreflight:
    async def preflight(self, model: Model, **given: Any) -> None:
        generator = OpenAIChat(model, **given)
        try:
            await generator.preflight()
        finally:
            await generator.close()

    async def test_asks_once_and_shortly(self, endpoint: Any) -> None:
        await self.preflight(Model(base_url=endpoint.url, name="m", params={"seed": 1}))
        assert (endpoint.requests, endpoint.bodies[0]["seed"]) == (1, 1)
        assert endpoint.headers[0]["X-Nl2sql-Gate-Case"] == "preflight"

    @pytest.mark.parametrize("status", [401, 402, 403, 404])
    async def test_refused_credentials_model_or_path(self, endpoint: Any, status: int) -> None:
        endpoint.script = [{"status": status, "json": {"error": {"message": "no such thing"}}}]
        with pytest.raises(CredentialsError, match=f"HTTP {status}: no such thing"):
            await self.preflight(Model(base_url=endpoint.url, name="m"))
        assert endpoint.requests == 1

    async def test_the_key_is_not_repeated(self, endpoint: Any) -> None:
        endpoint.script = [{"status": 401, "text": "wrong key: sk-planted-1"}]
        with pytest.raises(CredentialsError) as caught:
            await self.preflight(Model(base_url=endpoint.url, name="m", api_key=SecretStr("sk-planted-1")))
        assert "HTTP 401: wrong key: ***" in str(caught.value)
        assert "planted" not in str(caught.value)

    async def test_any_refused_request_is_a_setting_to_correct(self, endpoint: Any) -> None:
        endpoint.script = [{"status": 400, "json": {"detail": [{"loc": ["body", "seed"], "msg": "must be text"}]}}]
        with pytest.raises(SettingsError, match="must be text") as caught:
            await self.preflight(Model(base_url=endpoint.url, name="m", params={"seed": 1}))
        assert "params that were sent: seed" in str(caught.value)

    async def test_always_500_is_no_endpoint(self, endpoint: Any, fake_time: Any) -> None:
        endpoint.script = [{"status": 500, "text": "oops"}]
        with pytest.raises(EndpointError, match="HTTP 500: oops"):
            await self.preflight(Model(base_url=endpoint.url, name="m", retries=3), clock=fake_time.clock())
        assert endpoint.requests == 4

    async def test_nothing_listens(self, fake_time: Any) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            with pytest.raises(EndpointError, match="connection refused"):
                await self.preflight(Model(base_url=f"http://127.0.0.1:{port}/v1", name="m"), clock=fake_time.clock())
        assert len(fake_time.slept) == 2


class TestConcurrency:
    @pytest.mark.parametrize("many", [1, 8, 256])
    async def test_as_many_calls_are_in_flight_as_were_asked_for(
        self, endpoint: Any, make_ask: MakeAsk, chat: Any, many: int
    ) -> None:
        everyone_is_there = asyncio.Event()

        async def wait_for_all(served: Any) -> None:
            if served.in_flight == many:
                everyone_is_there.set()
            async with asyncio.timeout(20):
                await everyone_is_there.wait()

        endpoint.script = [{**chat(), "wait_for": wait_for_all}]
        generator = OpenAIChat(Model(base_url=endpoint.url, name="m", concurrency=many))
        said = await asyncio.gather(*(generator.complete(make_ask(str(n))) for n in range(many)))
        await generator.close()
        assert ({reply.text for reply in said}, endpoint.most_in_flight) == ({"SELECT 1"}, many)

    async def test_closing_twice_is_closing(self, endpoint: Any, make_ask: MakeAsk) -> None:
        generator = OpenAIChat(Model(base_url=endpoint.url, name="m"))
        await generator.complete(make_ask())
        await generator.close()
        await generator.close()
        assert (await generator.complete(make_ask())).text == "SELECT 1"
        await generator.close()


async def test_identity_holds_no_secret_and_no_address() -> None:
    model = Model(base_url="http://127.0.0.1:1/v1", name="m", api_key=SecretStr("sk-planted-1"), params={"seed": 1})
    assert OpenAIChat(model).identity() == {"generator": "openai_chat", "name": "m", "params": {"seed": 1}}
