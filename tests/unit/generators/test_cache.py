"""The cache: what is kept, by what it is found again, and what a damaged folder does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.generators.cache import Cached
from nl2sql_gate.generators.stored import request_digest
from nl2sql_gate.records import Ask, Completion, Prompt, Schema

pytestmark = pytest.mark.asyncio
MakeAsk = Callable[..., Ask]


class Counting:
    """A generator that numbers its replies."""

    def __init__(self, name: str = "m", address: str = "http://a/v1", **said: Any) -> None:
        self.address = address
        self.asked = 0
        self.closed = False
        self._name = name
        self._said = said

    async def preflight(self) -> None:
        """Nothing to try."""

    async def complete(self, ask: Ask) -> Completion:
        del ask
        self.asked += 1
        if "fault" in self._said:
            raise EndpointFault(self._said["fault"])
        return Completion(
            **{"text": f"SELECT {self.asked}", "tokens_in": 5, "cost": 0.5, "latency_s": 1.5, "model": "m-1", **self._said}
        )

    async def close(self) -> None:
        self.closed = True

    def identity(self) -> Mapping[str, Any]:
        return {"name": self._name, "params": {"seed": 1}}


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def test_the_same_question_is_paid_once(make_ask: MakeAsk, tmp_path: Path) -> None:
    inner = Counting()
    first = await Cached(inner, tmp_path).complete(make_ask())
    again = await Cached(inner, tmp_path).complete(make_ask())
    assert inner.asked == 1
    assert replace(first, replayed=True) == again


@pytest.mark.parametrize(
    "change",
    [
        lambda ask: replace(ask, key=ask.key._replace(trial=1)),
        lambda ask: replace(ask, key=ask.key._replace(id="other")),
        lambda ask: replace(ask, dialect="duckdb"),
        lambda ask: replace(ask, prompt=Prompt((("user", "How many orders?"),))),
        lambda ask: replace(ask, item=replace(ask.item, evidence="none")),
        lambda ask: replace(ask, schema=Schema("shop", "sqlite", (), "CREATE TABLE x (y INT);")),
    ],
)
async def test_another_request_is_asked(make_ask: MakeAsk, tmp_path: Path, change: Callable[[Ask], Ask]) -> None:
    inner = Counting()
    cached = Cached(inner, tmp_path)
    await cached.complete(make_ask())
    await cached.complete(change(make_ask()))
    assert inner.asked == 2


@pytest.mark.parametrize("other", [Counting("n"), Counting(address="http://preview/v1")])
async def test_another_model_is_asked(make_ask: MakeAsk, tmp_path: Path, other: Counting) -> None:
    await Cached(Counting(), tmp_path).complete(make_ask())
    await Cached(other, tmp_path).complete(make_ask())
    assert other.asked == 1


async def test_where_the_database_lies_does_not_matter(make_ask: MakeAsk) -> None:
    first = request_digest(Counting(), make_ask(service="pg15", dialect="postgres", dsn="postgresql://a"))
    assert first == request_digest(Counting(), make_ask(service="pg16", dialect="postgres", dsn="postgresql://b"))


@pytest.mark.parametrize(
    "said", [{"text": ""}, {"text": " \n"}, {"finish": "content_filter"}, {"finish": "refusal"}, {"text": "", "finish": "length"}]
)
async def test_what_is_no_usable_reply_is_not_kept(make_ask: MakeAsk, tmp_path: Path, said: dict[str, Any]) -> None:
    await Cached(Counting(**said), tmp_path).complete(make_ask())
    assert files(tmp_path) == []


async def test_a_fault_is_not_kept(make_ask: MakeAsk, tmp_path: Path) -> None:
    with pytest.raises(EndpointFault):
        await Cached(Counting(fault="down"), tmp_path).complete(make_ask())
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"format": "x", "reply": "y"}', '{"format": "nl2sql-gate/reply/v1", "reply": 5}', "\xff"]
)
async def test_a_damaged_entry_is_asked_for_again_and_mended(make_ask: MakeAsk, tmp_path: Path, damage: str) -> None:
    await Cached(Counting(), tmp_path).complete(make_ask())
    [path] = files(tmp_path)
    path.write_bytes(damage.encode("latin-1"))
    cached = Cached(Counting(), tmp_path)
    assert (await cached.complete(make_ask())).replayed is False
    assert [(warned.code, warned.subject) for warned in cached.warnings] == [("cache_entry_unusable", str(path))]
    assert (await cached.complete(make_ask())).replayed is True


async def test_no_half_written_file_stays(make_ask: MakeAsk, tmp_path: Path) -> None:
    cached = Cached(Counting(), tmp_path)
    for number in range(20):
        await cached.complete(make_ask(str(number)))
    assert [path.suffix for path in files(tmp_path)] == [".json"] * 20


async def test_a_folder_that_cannot_be_written_warns_once(make_ask: MakeAsk, tmp_path: Path) -> None:
    cached = Cached(Counting(), tmp_path / "cache")
    for number in range(256):
        (tmp_path / "cache" / f"{number:02x}").write_text("a file in the way", encoding="utf-8")
    for number in range(3):
        assert (await cached.complete(make_ask(str(number)))).text == f"SELECT {number + 1}"
    assert [warned.code for warned in cached.warnings].count("cache_not_written") == 1


async def test_a_folder_that_cannot_be_made_is_a_settings_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="cache folder"):
        Cached(Counting(), tmp_path / "file" / "cache")


async def test_closing_closes_what_is_inside(tmp_path: Path) -> None:
    inner = Counting()
    await Cached(inner, tmp_path).close()
    assert inner.closed
