"""The endpoint for recorded replies: which reply a request gets, latency, faults, and the command itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from nl2sql_gate.errors import EndpointFault, ServiceError, SettingsError
from nl2sql_gate.generators.openai_chat import OpenAIChat
from nl2sql_gate.generators.recorded import read_replies
from nl2sql_gate.records import Ask, CaseKey, Item, Prompt, Schema, SqlField
from nl2sql_gate.serve import Manner, Server, parse_fault, start_server
from nl2sql_gate.settings import Model

pytestmark = pytest.mark.asyncio

LINES = [
    {"id": 1, "dialect": "sqlite", "reply": "SELECT 'sqlite'"},
    {"id": 1, "dialect": "postgres", "reply": "SELECT 'postgres'"},
    {"id": 2, "reply": "SELECT 'any'"},
    {"id": 3, "dialect": "mysql", "trial": 1, "reply": "SELECT 'first'"},
    {"id": 3, "dialect": "mysql", "trial": 2, "reply": "SELECT 'second'"},
    {"id": "a/ü", "reply": "SELECT 'odd id'"},
    {"id": 5, "reply": "SELECT 'zoo'"},
    {"id": 6, "reply": "SELECT 'shop'"},
    {"id": 7, "reply": "SELECT 1 AS one, 2 AS two"},
]


def item(identifier: str, question: str, database: str = "shop") -> Item:
    return Item(identifier, question, "dql", database, ("sqlite",), SqlField())


ITEMS = [
    item("1", "How many orders?"),
    item("2", "How many orders? Only paid ones."),
    item("3", "Which  customers\nnever ordered?"),
    item("5", "How many rows?", "zoo"),
    item("6", "How many rows?", "shop"),
    item("8", "Was this ever answered?"),
]


@pytest.fixture
def serving(tmp_path: Path) -> Callable[..., contextlib.AbstractAsyncContextManager[Server]]:
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES), encoding="utf-8")

    @contextlib.asynccontextmanager
    async def serve(*faults: str, items: Sequence[Item] = ITEMS, **manner: Any) -> AsyncIterator[Server]:
        rules = tuple(parse_fault(text) for text in faults)
        server = await start_server(read_replies(path), items=items, manner=Manner(faults=rules, **manner))
        try:
            yield server
        finally:
            await server.close()

    return serve


async def post(server: Server, text: Any, header: str = "", system: str = "") -> tuple[int, Any, Any]:
    headers = {"X-Nl2sql-Gate-Case": header} if header else {}
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", json={"model": "m", "messages": messages}, headers=headers) as response,
    ):
        return response.status, await response.json(), response.headers


def said(answer: tuple[int, Any, Any]) -> str:
    status, body, _ = answer
    return body["choices"][0]["message"]["content"] if status == 200 else f"{status}: {body['error']['message']}"


def ask(identifier: str, dialect: str = "sqlite", service: str = "", trial: int = 1) -> Ask:
    prompt = Prompt((("user", f"question {identifier}"),))
    key = CaseKey(identifier, service or dialect, "shop", trial)
    return Ask(key, dialect, item(identifier, f"question {identifier}"), prompt, Schema("shop", dialect, (), ""))


@pytest.mark.parametrize(
    "reply, asked",
    [
        ("SELECT 'sqlite'", ask("1")),
        ("SELECT 'postgres'", ask("1", "postgres", "pg16")),
        ("SELECT 'any'", ask("2", "duckdb")),
        ("SELECT 'first'", ask("3", "mariadb")),
        ("SELECT 'second'", ask("3", "mysql", trial=2)),
        ("SELECT 'odd id'", ask("a/ü")),
    ],
)
async def test_our_generator_gets_the_reply_of_its_case(serving: Any, reply: str, asked: Ask) -> None:
    async with serving(items=()) as server:
        generator = OpenAIChat(Model(base_url=server.url, name="m"))
        await generator.preflight()
        completion = await generator.complete(asked)
        await generator.close()
    assert (completion.text, completion.finish, completion.tokens_in) == (reply, "stop", 2)


async def test_a_reply_that_was_never_recorded_leaves_its_case_unscored(serving: Any) -> None:
    async with serving() as server:
        generator = OpenAIChat(Model(base_url=server.url, name="m"))
        with pytest.raises(EndpointFault, match="no recorded reply for id 9, sqlite"):
            await generator.complete(ask("9"))
        await generator.close()
    assert server.requests == 1


@pytest.mark.parametrize(
    "reply, system, asked",
    [
        ("SELECT 'sqlite'", "You write SQLite.", "Q: How many orders?"),
        ("SELECT 'postgres'", "For PostgreSQL, not SQLite.", "Q: How many orders?"),
        ("SELECT 'any'", "sqlite", "schema\nHow many orders?  Only\npaid ones. thanks"),
        ("SELECT 'first'", "", "Which customers never ordered?"),
        ("SELECT 'zoo'", "The database is zoo.", "How many rows?"),
        ("SELECT 'sqlite'", "", [{"type": "text", "text": "sqlite: "}, {"type": "text", "text": "How many orders?"}]),
        ("422: no recorded reply for 1", "", "How many orders?"),
        ("422: no recorded reply for 8", "", "Was this ever answered?"),
        ("422: several items ask this question: 5, 6; the header X-Nl2sql-Gate-Case tells them apart", "", "How many rows?"),
        ("422: no question of the dataset stands in the last user message, and no header X-Nl2sql-Gate-Case names the case", "", "Hello"),
    ],
)  # fmt: skip
async def test_other_clients_are_answered_by_their_question(serving: Any, reply: str, system: str, asked: Any) -> None:
    async with serving() as server:
        assert reply == said(await post(server, asked, system=system))


async def test_a_reply_looks_like_a_chat_completion(serving: Any) -> None:
    async with serving(model="demo") as server:
        _, body, _ = await post(server, "one two three", header="2/sqlite/sqlite/shop/0", system="four")
    assert body["object"] == "chat.completion"
    assert body["model"] == "demo"
    assert body["choices"] == [{"index": 0, "message": {"role": "assistant", "content": "SELECT 'any'"}, "finish_reason": "stop"}]
    assert body["usage"] == {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}


async def test_models_and_health(serving: Any) -> None:
    async with serving(model="demo") as server, aiohttp.ClientSession() as session:
        async with session.get(f"{server.url}/models") as response:
            assert [model["id"] for model in (await response.json())["data"]] == ["demo"]
        async with session.get(server.url.removesuffix("/v1") + "/healthz") as response:
            assert response.status == 200


@pytest.mark.parametrize(
    "body", ["", "[]", '{"messages": 5}', '{"messages": [{"role": "user"}]}', '{"messages": [], "stream": true}']
)
async def test_what_is_no_request_is_refused(serving: Any, body: str) -> None:
    async with (
        serving() as server,
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", data=body) as response,
    ):
        assert (response.status, (await response.json())["error"]["code"]) == (400, "invalid_request_error")


async def test_it_listens_on_loopback_only(serving: Any) -> None:
    async with serving() as server:
        assert server.url.startswith("http://127.0.0.1:")


async def test_a_taken_port_is_named(serving: Any, tmp_path: Path) -> None:
    async with serving() as server:
        port = int(server.url.rpartition(":")[2].removesuffix("/v1"))
        with pytest.raises(ServiceError, match=f"127.0.0.1:{port}"):
            await start_server(read_replies(tmp_path / "replies.jsonl"), port=port)


async def statuses(server: Server, cases: Sequence[str], attempts: int = 1) -> list[int]:
    return [(await post(server, "x", header=f"{case}/sqlite/sqlite/shop/0"))[0] for case in cases for _ in range(attempts)]


async def test_faults_of_a_share_are_drawn_by_seed_and_attempt(serving: Any) -> None:
    runs = []
    for seed in (0, 0, 1):
        async with serving("429:0.3", seed=seed) as server:
            runs.append(await statuses(server, ["2"], attempts=40))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert 4 <= runs[0].count(429) <= 20


async def test_a_share_of_one_is_always_and_of_none_never(serving: Any) -> None:
    async with serving("500:0", "503:1") as server:
        assert await statuses(server, ["2", "1"], attempts=2) == [503] * 4


async def test_faults_of_certain_items(serving: Any) -> None:
    async with serving("500:id=2", "404:a*") as server:
        assert await statuses(server, ["1", "2", "a%2F%C3%BC"]) == [200, 500, 404]


async def test_a_rate_limit_says_when_to_come_back(serving: Any) -> None:
    async with serving("429:1") as server:
        status, _, headers = await post(server, "x", header="2/sqlite/sqlite/shop/0")
    assert (status, headers["Retry-After"]) == (429, "1")


async def test_empty_and_cut_off_replies(serving: Any) -> None:
    async with serving("empty:id=2", "cut-off:id=7") as server:
        generator = OpenAIChat(Model(base_url=server.url, name="m"))
        replies = [await generator.complete(ask(identifier)) for identifier in "27"]
        await generator.close()
    assert [(reply.text, reply.finish) for reply in replies] == [("", "stop"), ("SELECT 1 AS ", "length")]


@pytest.mark.parametrize("kind, words", [("hang", "no answer within"), ("reset", "connection was closed")])
async def test_an_endpoint_that_does_not_answer(serving: Any, kind: str, words: str) -> None:
    async with serving(f"{kind}:1") as server:
        generator = OpenAIChat(Model(base_url=server.url, name="m", retries=0, timeout_s=0.1))
        with pytest.raises(EndpointFault, match=words):
            await generator.complete(ask("2"))
        await generator.close()


async def test_latency_is_added_to_every_answer(serving: Any) -> None:
    async with serving(latency_s=0.05) as server:
        generator = OpenAIChat(Model(base_url=server.url, name="m"))
        replies = await asyncio.gather(*(generator.complete(ask("2", trial=trial)) for trial in range(5)))
        await generator.close()
    assert [reply.latency_s >= 0.05 for reply in replies] == [True] * 5
    assert server.most_in_flight == 5


@pytest.mark.parametrize("text", ["", "429", "429:", "hangs:1", "200:1", "600:1", "empty:1.5", "empty:-1"])
async def test_a_fault_that_cannot_be_understood_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="cannot be understood"):
        parse_fault(text)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_says_where_it_listens_and_ends_when_told(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"id": 1, "reply": "SELECT 1"}', encoding="utf-8")
    script = f"from nl2sql_gate.serve import Options, run; run(Options({str(path)!r}))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    assert line.startswith("listening on http://127.0.0.1:")
    generator = OpenAIChat(Model(base_url=line.split()[-1], name="m"))
    assert (await generator.complete(ask("1"))).text == "SELECT 1"
    await generator.close()
    process.send_signal(number)
    assert await process.wait() == 0
