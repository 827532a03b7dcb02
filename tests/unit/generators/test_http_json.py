"""A team's own service: what it is sent, where the SQL is found, and what its failures mean."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from nl2sql_gate.errors import CredentialsError, EndpointError, EndpointFault, SettingsError
from nl2sql_gate.generators.http_json import HttpJson
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model

pytestmark = pytest.mark.asyncio
MakeAsk = Callable[..., Ask]
SERVICE = {"status": 200, "json": {"data": {"sql": "SELECT 1", "n": 3}, "usage": {"input_tokens": 5, "output_tokens": 6}}}


def model(endpoint: Any, **given: Any) -> Model:
    return Model(generator="http_json", url=f"{endpoint.url}/translate?v=2", **{"sql_path": "data.sql", **given})


async def completed(settings: Model, ask: Ask, **given: Any) -> Completion:
    generator = HttpJson(settings, **given)
    try:
        await generator.preflight()
        return await generator.complete(ask)
    finally:
        await generator.close()


async def test_the_question_goes_out_and_the_sql_comes_back(endpoint: Any, make_ask: MakeAsk) -> None:
    endpoint.script = [SERVICE]
    said = await completed(model(endpoint), make_ask(question='Orders "above" 5?'))
    assert (said.text, said.tokens_in, said.tokens_out, said.attempts) == ("SELECT 1", 5, 6, 1)
    assert endpoint.bodies[-1] == {
        "question": 'Orders "above" 5?',
        "evidence": "an order is a row",
        "database": "shop",
        "dialect": "sqlite",
        "schema": "CREATE TABLE orders (id INTEGER);",
    }


async def test_a_template_may_use_every_part(endpoint: Any, make_ask: MakeAsk) -> None:
    endpoint.script = [SERVICE]
    request = '{"q": {{ [id, trial, dsn, dialect] | tojson }}, "chat": {{ prompt | tojson }}, "fixed": {"a": [1, null]}}'
    await completed(model(endpoint, request=request), make_ask("o-1", trial=2, dsn="sqlite:///x"))
    assert endpoint.bodies[-1] == {
        "q": ["o-1", 2, "sqlite:///x", "sqlite"],
        "chat": [{"role": "system", "content": "You write SQL."}, {"role": "user", "content": "How many orders?"}],
        "fixed": {"a": [1, None]},
    }


async def test_a_template_may_be_a_file(endpoint: Any, make_ask: MakeAsk, tmp_path: Path) -> None:
    endpoint.script = [SERVICE]
    (tmp_path / "request.j2").write_text("[{{ question | tojson }}]", encoding="utf-8")
    await completed(model(endpoint, request=str(tmp_path / "request.j2")), make_ask())
    assert endpoint.bodies[-1] == ["How many orders?"]


async def test_headers_and_key_are_sent_and_the_case_named(endpoint: Any, make_ask: MakeAsk) -> None:
    endpoint.script = [SERVICE]
    await completed(model(endpoint, headers={"X-Team": SecretStr("blue")}, api_key=SecretStr("k-1234")), make_ask())
    sent = endpoint.headers[-1]
    assert (sent["X-Team"], sent["Authorization"], sent["X-Nl2sql-Gate-Case"]) == (
        "blue",
        "Bearer k-1234",
        "q1/sqlite/sqlite/shop/0",
    )


@pytest.mark.parametrize(
    "text, path, body",
    [
        ("SELECT 1", {"sql_path": "data.sql"}, {"data": {"sql": "SELECT 1"}}),
        (
            "SELECT 2",
            {"sql_path": None, "reply_path": "$.choices[-1]['text of it']"},
            {"choices": [{}, {"text of it": "SELECT 2"}]},
        ),
        ("", {"sql_path": "sql"}, {"sql": None}),
        ('["SELECT 1", "SELECT 2"]', {"sql_path": "sql"}, {"sql": ["SELECT 1", "SELECT 2"]}),
        ('{"sql": "SELECT 1"}', {"sql_path": None}, {"sql": "SELECT 1"}),
    ],
)
async def test_where_the_reply_is_found(endpoint: Any, make_ask: MakeAsk, text: str, path: dict[str, Any], body: Any) -> None:
    endpoint.script = [{"status": 200, "json": body}]
    assert text == (await completed(model(endpoint, **path), make_ask())).text


async def test_an_answer_without_the_path_is_a_fault(endpoint: Any, make_ask: MakeAsk) -> None:
    """It is the service that changed, or the setting that is wrong; neither says anything about SQL."""
    endpoint.script = [{"status": 200, "json": {"data": {"query": "SELECT 1"}}}]
    with pytest.raises(EndpointFault, match=r"model\.sql_path names: nothing stands at data\.sql"):
        await completed(model(endpoint), make_ask())


async def test_get_sends_the_object_as_a_query(endpoint: Any, make_ask: MakeAsk) -> None:
    endpoint.script = [SERVICE]
    said = await completed(model(endpoint, method="GET", request='{"q": {{ question | tojson }}, "n": 5}'), make_ask())
    assert (said.text, endpoint.bodies[-1]) == ("SELECT 1", None)


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_refused_credentials_stop_the_run(endpoint: Any, make_ask: MakeAsk, status: int) -> None:
    endpoint.script = [{"status": 200, "text": ""}, {"status": status, "json": {"detail": "k-secret is wrong"}}]
    generator = HttpJson(model(endpoint, api_key=SecretStr("k-secret")))
    await generator.preflight()
    for _ in range(3):
        with pytest.raises(CredentialsError, match=rf"HTTP {status}: \*\*\* is wrong"):
            await generator.complete(make_ask())
    await generator.close()
    assert endpoint.requests == 2


async def test_server_errors_are_retried(endpoint: Any, make_ask: MakeAsk, fake_time: Any) -> None:
    endpoint.script = [{"status": 200}, {"status": 503, "headers": {"Retry-After": "7"}}, {"reset": True, "status": 200}, SERVICE]
    said = await completed(model(endpoint), make_ask(), clock=fake_time.clock())
    assert (said.text, said.attempts, fake_time.slept) == ("SELECT 1", 3, [7.125, 0.5])


async def test_a_service_that_hangs_is_a_fault(endpoint: Any, make_ask: MakeAsk) -> None:
    endpoint.script = [{"status": 405}, {"hang": True}]
    with pytest.raises(EndpointFault, match=r"no answer within 0\.05 s"):
        await completed(model(endpoint, retries=0, timeout_s=0.05), make_ask())


async def test_a_context_length_behind_a_service_is_the_models(endpoint: Any, make_ask: MakeAsk) -> None:
    endpoint.script = [{"status": 200}, {"status": 400, "json": {"error": {"message": "x", "code": "context_length_exceeded"}}}]
    assert (await completed(model(endpoint), make_ask())).finish == "context_length"


async def test_nothing_listens(fake_time: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        generator = HttpJson(Model(url=f"http://127.0.0.1:{free.getsockname()[1]}/x"), clock=fake_time.clock())
        with pytest.raises(EndpointError, match="connection refused"):
            await generator.preflight()
        await generator.close()


async def test_a_template_that_forgets_tojson_is_found_before_the_run(endpoint: Any) -> None:
    generator = HttpJson(model(endpoint, request='{"question": "{{ question }}"}'))
    with pytest.raises(SettingsError, match="does not give JSON"):
        await generator.preflight()
    assert endpoint.requests == 0


@pytest.mark.parametrize(
    "words, given",
    [
        ("needs the address", {"url": None}),
        ("model.url is no address", {"url": "localhost:80/x"}),
        ("both set", {"sql_path": "a", "reply_path": "b"}),
        ("column 2 of 'a b'", {"sql_path": "a b"}),
        ("model.request:1: Expected an expression", {"request": '{"a": {{ }} }'}),
        ("model.request: nowhere.j2", {"request": "nowhere.j2"}),
    ],
)
async def test_settings_that_cannot_work(words: str, given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        HttpJson(Model(**{"url": "http://127.0.0.1:1/x", **given}))
    assert words in str(caught.value)


@pytest.mark.parametrize("request_template", ["{{ quetsion | tojson }}", "{{ question.__class__.__mro__ | tojson }}"])
async def test_a_template_that_fails_is_named_with_its_line(endpoint: Any, request_template: str) -> None:
    with pytest.raises(SettingsError, match=r"model\.request:1: "):
        await HttpJson(model(endpoint, request=request_template)).preflight()


async def test_as_many_calls_are_in_flight_as_were_asked_for(endpoint: Any, make_ask: MakeAsk) -> None:
    many = 130
    everyone_is_there = asyncio.Event()

    async def wait_for_all(served: Any) -> None:
        if served.in_flight == many:
            everyone_is_there.set()
        async with asyncio.timeout(20):
            await everyone_is_there.wait()

    endpoint.script = [{**SERVICE, "wait_for": wait_for_all}]
    generator = HttpJson(model(endpoint, concurrency=many))
    said = await asyncio.gather(*(generator.complete(make_ask(str(n))) for n in range(many)))
    await generator.close()
    assert ({reply.text for reply in said}, endpoint.most_in_flight) == ({"SELECT 1"}, many)


async def test_identity_holds_no_secret(endpoint: Any) -> None:
    settings = model(endpoint, api_key=SecretStr("k-planted"), headers={"X": SecretStr("h-planted")})
    identity = HttpJson(settings).identity()
    assert identity["url"] == f"{endpoint.url}/translate"
    assert "planted" not in str(identity)
