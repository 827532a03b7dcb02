"""Which generator the settings mean, and what is put around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.generators.cache import Cached
from nl2sql_gate.generators.choice import finish, generator_name, make_generator, warnings_of
from nl2sql_gate.generators.command import Command
from nl2sql_gate.generators.http_json import HttpJson
from nl2sql_gate.generators.journal import Journal
from nl2sql_gate.generators.openai_chat import OpenAIChat
from nl2sql_gate.generators.replay import Replay
from nl2sql_gate.protocols import Generator
from nl2sql_gate.settings import Model

BUILT_IN = {"openai_chat": OpenAIChat, "http_json": HttpJson, "command": Command, "replay": Replay}


@pytest.mark.parametrize(
    "name, model, replies",
    [
        ("replay", {}, "r.jsonl"),
        ("replay", {"name": "m"}, "r.jsonl"),
        ("openai_chat", {"base_url": "http://h/v1"}, "r.jsonl"),
        ("openai_chat", {"name": "m"}, None),
        ("openai_chat", {"base_url": "http://h/v1"}, None),
        ("command", {"generator": "command", "base_url": "http://h/v1"}, "r.jsonl"),
        ("a_plugin", {"generator": "a_plugin"}, None),
    ],
)
def test_which_generator_is_meant(name: str, model: dict[str, Any], replies: str | None) -> None:
    assert name == generator_name(Model(**model), replies=replies)


def test_settings_that_say_nothing_are_refused() -> None:
    with pytest.raises(SettingsError, match="nothing says how to ask a model"):
        make_generator(Model(), load=BUILT_IN.__getitem__)


@pytest.mark.asyncio
async def test_cache_and_journal_stand_around_the_generator(tmp_path: Path) -> None:
    generator = make_generator(
        Model(base_url="http://127.0.0.1:1/v1"),
        load=BUILT_IN.__getitem__,
        cache=str(tmp_path / "cache"),
        journal=tmp_path / "replies.jsonl",
    )
    assert isinstance(generator, Journal)
    assert isinstance(generator.inner, Cached)
    assert isinstance(generator.inner.inner, OpenAIChat)
    assert warnings_of(generator) == ()
    await generator.close()
    finish(generator)
    assert not (tmp_path / "replies.jsonl.part").exists()


def test_recorded_replies_are_not_recorded_again(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": 1, "reply": "a"}', encoding="utf-8")
    generator = make_generator(
        Model(), load=BUILT_IN.__getitem__, replies=str(tmp_path / "r.jsonl"), cache=str(tmp_path / "c"), journal=tmp_path / "j"
    )
    assert isinstance(generator, Replay)
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_is_a_generator(name: str, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": 1, "reply": "a"}', encoding="utf-8")
    model = Model(generator=name, url="http://127.0.0.1:1", base_url="http://127.0.0.1:1/v1", command="cat")
    generator = make_generator(model, load=BUILT_IN.__getitem__, replies=str(tmp_path / "r.jsonl"))
    assert isinstance(generator, Generator)
    assert generator.identity()["generator"] == name
