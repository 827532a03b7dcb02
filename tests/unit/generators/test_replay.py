"""Recorded replies: which one answers a case, and files that are not what they should be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.errors import DatasetError, EndpointFault, SettingsError
from nl2sql_gate.generators.recorded import read_replies
from nl2sql_gate.generators.replay import Replay
from nl2sql_gate.records import Ask, CaseKey
from nl2sql_gate.settings import Model

MakeAsk = Callable[..., Ask]


@pytest.fixture
def replies(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "replies.jsonl"
        path.write_bytes(text.encode())
        return str(path)

    return write


async def reply(path: str, ask: Ask) -> str:
    generator = Replay(Model(), replies=path)
    await generator.preflight()
    said = await generator.complete(ask)
    await generator.close()
    assert said.replayed
    return said.text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "expected, given",
    [
        ("any", {"dialect": "duckdb"}),
        ("sqlite", {"dialect": "sqlite"}),
        ("mysql", {"dialect": "mariadb"}),
        ("mysql", {"dialect": "mysql", "service": "mysql-8.0"}),
        ("pg16", {"dialect": "postgres", "service": "pg16"}),
        ("postgres", {"dialect": "postgres", "service": "pg15"}),
        ("third", {"dialect": "sqlite", "trial": 3}),
    ],
)
async def test_the_most_specific_reply_answers(replies: Any, make_ask: MakeAsk, expected: str, given: dict[str, Any]) -> None:
    path = replies(
        '{"id": 43, "reply": "any"}\n'
        '{"id": 43, "dialect": "sqlite", "reply": "sqlite"}\n'
        '{"id": 43, "dialect": "sqlite", "trial": 3, "reply": "third"}\n\n'
        '{"id": "43", "dialect": "mysql", "reply": "mysql"}\r\n'
        '{"id": 43, "dialect": "PostgreSQL", "reply": "postgres", "db": "ignored"}\n'
        '{"id": 43, "dialect": "pg16", "reply": "pg16"}'
    )
    assert expected == await reply(path, make_ask("43", **given))


@pytest.mark.asyncio
async def test_a_reply_of_another_database_is_none(replies: Any, make_ask: MakeAsk) -> None:
    path = replies('{"id": "q1", "database": "zoo", "reply": "a"}\n{"id": "q1", "database": "shop", "reply": "b"}')
    assert await reply(path, make_ask("q1")) == "b"


@pytest.mark.asyncio
async def test_what_was_never_recorded_is_a_fault(replies: Any, make_ask: MakeAsk) -> None:
    path = replies('{"id": "q1", "dialect": "mysql", "reply": "SELECT 1"}')
    with pytest.raises(EndpointFault, match="no recorded reply"):
        await reply(path, make_ask("q1", dialect="sqlite"))


@pytest.mark.asyncio
async def test_what_a_line_says_of_its_completion_is_taken(replies: Any, make_ask: MakeAsk) -> None:
    line = '{"id": "q1", "reply": "SEL", "finish": "length", "model": "m", "tokens_in": 5, "tokens_out": 6, "latency_s": 1.5}'
    said = await Replay(Model(), replies=replies("\ufeff" + line)).complete(make_ask("q1"))
    assert (said.finish, said.model, said.tokens_in, said.tokens_out, said.latency_s) == ("length", "m", 5, 6, 1.5)


@pytest.mark.parametrize(
    "place, problem, text",
    [
        (":2", "not JSON: Expecting ',' delimiter, column 12", '{"id": 1, "reply": "a"}\n{"id": "2" "reply": "b"}'),
        (":1", "an object is needed, this is a list", '["1", "SELECT 1"]'),
        (":1", "'id' is missing", '{"reply": "a"}'),
        (":1", "'id' must be text or an integer, not a boolean", '{"id": true, "reply": "a"}'),
        (":1", "'id' must be text or an integer, not null", '{"id": null, "reply": "a"}'),
        (":1", "'reply' is missing", '{"id": 1, "sql": "a"}'),
        (":1", "'reply' must be text", '{"id": 1, "reply": ["a"]}'),
        (":1", "'trial' must be an integer, not text", '{"id": 1, "reply": "a", "trial": "1"}'),
        (":1", "'dialect' must be text, not a number", '{"id": 1, "reply": "a", "dialect": 5}'),
        (":1", "'tokens_in' must be a count", '{"id": 1, "reply": "a", "tokens_in": -1}'),
        (":1", "'latency_s' must be a number", '{"id": 1, "reply": "a", "latency_s": NaN}'),
        (":1", "not usable: the key 'reply' stands twice in an object", '{"id": 1, "reply": "a", "reply": "b"}'),
        (":3", "a second reply for id '1', dialect mysql; the first is on line 1", '{"id":1,"dialect":"mysql","reply":"a"}\n\n{"id":"1","dialect":"MySQL","reply":"b"}'),
        (":1", "not usable", '{"id": 1, "reply": ' + "[" * 100_000),
        ("", "the file holds no reply", "\n\n"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_with_its_line(replies: Any, place: str, problem: str, text: str) -> None:
    path = replies(text)
    with pytest.raises(DatasetError) as caught:
        read_replies(path)
    assert f"{path}{place}: {problem}" in str(caught.value)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b'{"id": 1, "reply": "a"}\n{"id": 2, "reply": "\xff"}')
    with pytest.raises(DatasetError, match=r"replies\.jsonl:2: not UTF-8: byte 21"):
        read_replies(path)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="No such file"):
        Replay(Model(), replies=str(tmp_path / "none.jsonl"))


def test_replay_without_replies_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="needs recorded replies"):
        Replay(Model(generator="replay"), replies=None)


def test_a_first_trial_answers_where_the_trial_is_not_known(replies: Any) -> None:
    found = read_replies(replies('{"id": 1, "trial": 2, "reply": "b"}\n{"id": 1, "trial": 1, "reply": "a"}'))
    said = found.find("1", dialects=(), database=None, trial=None)
    assert said is not None
    assert said.text == "a"


@pytest.mark.parametrize("name", ["bat_model_a", "bat_model_b", "defog_postgres_model_a", "defog_postgres_model_b"])
def test_real_recordings_are_read(shared_data: Path, name: str) -> None:
    path = shared_data / "data" / "replies" / f"{name}.jsonl"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) == len(read_replies(path))


def test_a_case_key_is_what_a_journal_line_holds() -> None:
    assert CaseKey("a", "b", "c", 1)._asdict() == {"id": "a", "dialect": "b", "database": "c", "trial": 1}
