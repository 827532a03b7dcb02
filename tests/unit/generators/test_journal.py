"""The journal: a run that dies resumes without paying again, and a run that ends leaves recorded replies."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.generators.command import Command
from nl2sql_gate.generators.journal import Journal
from nl2sql_gate.generators.recorded import read_replies
from nl2sql_gate.generators.replay import Replay
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model

pytestmark = pytest.mark.asyncio
MakeAsk = Callable[..., Ask]


class Paid:
    """A generator that counts what it was asked."""

    def __init__(self, name: str = "m", failing: str = "") -> None:
        self.asked: list[str] = []
        self._name = name
        self._failing = failing

    async def preflight(self) -> None:
        """Nothing to try."""

    async def complete(self, ask: Ask) -> Completion:
        self.asked.append(ask.key.id)
        if ask.key.id == self._failing:
            raise EndpointFault("down")
        return Completion(f"SELECT 'ü {ask.key.id}'", tokens_in=5, cost=0.5)

    async def close(self) -> None:
        """Nothing is open."""

    def identity(self) -> Mapping[str, Any]:
        return {"name": self._name}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out" / "replies.jsonl"


def part(path: Path) -> Path:
    return path.with_name("replies.jsonl.part")


async def dies_after(path: Path, asks: list[Ask], paid: Paid) -> None:
    """A run that is killed: nothing is closed properly but the file, by the operating system."""
    journal = Journal(paid, path)
    for ask in asks:
        await journal.complete(ask)
    assert len(part(path).read_bytes().splitlines()) >= len(asks)
    await journal.close()


async def test_a_run_that_dies_resumes_without_paying_again(path: Path, make_ask: MakeAsk) -> None:
    asks = [make_ask(name) for name in "abcd"]
    await dies_after(path, asks[:2], Paid())
    second = Paid()
    journal = Journal(second, path)
    said = [await journal.complete(ask) for ask in asks]
    await journal.close()
    assert second.asked == ["c", "d"]
    assert [(reply.text, reply.replayed) for reply in said] == [
        ("SELECT 'ü a'", True),
        ("SELECT 'ü b'", True),
        ("SELECT 'ü c'", False),
        ("SELECT 'ü d'", False),
    ]


KILLED = """
import asyncio, os, sys
from nl2sql_gate.generators.command import Command
from nl2sql_gate.generators.journal import Journal
from nl2sql_gate.records import Ask, CaseKey, Item, Prompt, Schema, SqlField
from nl2sql_gate.settings import Model

async def main():
    item = Item("a", "How many orders?", "dql", "shop", ("sqlite",), SqlField(), evidence="an order is a row")
    prompt = Prompt((("system", "You write SQL."), ("user", "How many orders?")))
    schema = Schema("shop", "sqlite", (), "CREATE TABLE orders (id INTEGER);")
    journal = Journal(Command(Model(command="cat")), sys.argv[1])
    await journal.complete(Ask(CaseKey("a", "sqlite", "shop", 0), "sqlite", item, prompt, schema))
    os._exit(9)

asyncio.run(main())
"""


async def test_a_killed_process_leaves_what_it_paid_for(path: Path, make_ask: MakeAsk) -> None:
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(path))
    assert await killed.wait() == 9
    journal = Journal(Command(Model(command="cat")), path)
    said = await journal.complete(make_ask("a"))
    await journal.close()
    assert (json.loads(said.text)["id"], said.replayed) == ("a", True)


@pytest.mark.parametrize("torn", [b"", b"{", b'{"id": "b", "dialect": "sqlite", "data', b'{"id": "b\xff'])
async def test_a_torn_last_line_costs_one_question(path: Path, make_ask: MakeAsk, torn: bytes) -> None:
    await dies_after(path, [make_ask("a")], Paid())
    part(path).write_bytes(part(path).read_bytes() + torn)
    second = Paid()
    journal = Journal(second, path)
    await journal.complete(make_ask("a"))
    await journal.complete(make_ask("b"))
    await journal.close()
    assert (second.asked, journal.warnings) == (["b"], [])
    assert [json.loads(line)["id"] for line in part(path).read_text(encoding="utf-8").splitlines()] == ["a", "b"]


@pytest.mark.parametrize(
    "line", [b"{}", b"[]", b"nothing", b'{"id": "a", "dialect": "sqlite", "database": "shop", "trial": 0, "request": 1}']
)
async def test_a_broken_line_is_warned_of_and_asked_again(path: Path, make_ask: MakeAsk, line: bytes) -> None:
    path.parent.mkdir()
    part(path).write_bytes(line + b"\n")
    paid = Paid()
    journal = Journal(paid, path)
    await journal.complete(make_ask("a"))
    await journal.close()
    assert paid.asked == ["a"]
    assert [warned.place.line for warned in journal.warnings] == ([] if b'"request"' in line else [1])


async def test_another_model_or_question_is_asked(path: Path, make_ask: MakeAsk) -> None:
    await dies_after(path, [make_ask("a")], Paid("m"))
    other = Paid("n")
    await dies_after(path, [make_ask("a")], other)
    changed = Paid("m")
    await dies_after(path, [make_ask("a", question="How many orders at all?")], changed)
    assert (other.asked, changed.asked) == (["a"], ["a"])


async def test_services_of_one_dialect_keep_their_own_replies(path: Path, make_ask: MakeAsk) -> None:
    asks = [make_ask("a", dialect="postgres", service=service) for service in ("pg15", "pg16")]
    paid = Paid()
    await dies_after(path, asks, paid)
    assert paid.asked == ["a", "a"]


async def test_faults_are_asked_again(path: Path, make_ask: MakeAsk) -> None:
    journal = Journal(Paid(failing="a"), path)
    with pytest.raises(EndpointFault):
        await journal.complete(make_ask("a"))
    await journal.close()
    second = Paid()
    await dies_after(path, [make_ask("a")], second)
    assert second.asked == ["a"]


async def test_a_finished_run_leaves_recorded_replies_and_nothing_to_resume(path: Path, make_ask: MakeAsk) -> None:
    asks = [make_ask("b", trial=1), make_ask("b"), make_ask("a", dialect="postgres", service="pg16")]
    await dies_after(path, [*asks[:1], make_ask("stale")], Paid())
    journal = Journal(Paid(), path)
    for ask in asks:
        await journal.complete(ask)
    await journal.close()
    journal.finish()
    assert not part(path).exists()
    assert [slot[0] for slot in read_replies(path).by_slot] == ["a", "b", "b"]
    replayed = [await Replay(Model(), replies=str(path)).complete(ask) for ask in asks]
    assert [reply.text for reply in replayed] == ["SELECT 'ü b'", "SELECT 'ü b'", "SELECT 'ü a'"]
    third = Paid()
    await dies_after(path, asks, third)
    assert third.asked == ["b", "b", "a"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
async def test_a_full_disk_loses_no_reply(path: Path, make_ask: MakeAsk) -> None:
    journal = Journal(Paid(), path)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._handle)
    os.close(full)
    said = [await journal.complete(make_ask(name)) for name in "ab"]
    assert [reply.text for reply in said] == ["SELECT 'ü a'", "SELECT 'ü b'"]
    assert [warned.code for warned in journal.warnings] == ["journal_not_written"]
    await journal.close()


async def test_a_folder_that_cannot_be_written_stops_the_run_first(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="journal of replies"):
        Journal(Paid(), tmp_path / "out" / "replies.jsonl")
