"""Programs as generators: what they are given, what their output means, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.generators.command import Command
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model, Prices

pytestmark = pytest.mark.asyncio
MakeAsk = Callable[..., Ask]


def shell(script: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script)


async def completed(command: str | tuple[str, ...], ask: Ask, timeout_s: float = 20, **given: object) -> Completion:
    generator = Command(Model(command=command, timeout_s=timeout_s, **given))
    await generator.preflight()
    try:
        return await generator.complete(ask)
    finally:
        await generator.close()


async def test_the_question_is_on_stdin(make_ask: MakeAsk) -> None:
    said = await completed("cat", make_ask("ü-1", dsn="sqlite:///x", trial=3))
    assert json.loads(said.text) == {
        "id": "ü-1",
        "question": "How many orders?",
        "evidence": "an order is a row",
        "database": "shop",
        "dialect": "sqlite",
        "schema": "CREATE TABLE orders (id INTEGER);",
        "dsn": "sqlite:///x",
        "trial": 3,
        "prompt": [{"role": "system", "content": "You write SQL."}, {"role": "user", "content": "How many orders?"}],
    }


@pytest.mark.parametrize(
    "text, output",
    [
        ("SELECT 1", '{"sql": "SELECT 1"}'),
        ("a reply", '{"reply": "a reply", "sql": "ignored"}'),
        ("SELECT 2", '{"reply": null, "sql": "SELECT 2"}'),
        ("", '{"sql": null}'),
        ("SELECT 3;\n", "SELECT 3;\n"),
        ('{"query": "SELECT 4"}', '{"query": "SELECT 4"}'),
        ("", ""),
    ],
)
async def test_what_stdout_means(make_ask: MakeAsk, tmp_path: Path, text: str, output: str) -> None:
    path = tmp_path / "out"
    path.write_text(output, encoding="utf-8")
    said = await completed(("cat", str(path)), make_ask())
    assert (said.text, said.replayed, said.finish) == (text, False, "stop")


async def test_what_a_program_knows_of_its_completion_is_taken(make_ask: MakeAsk) -> None:
    prices = Prices(input_per_million=1, output_per_million=2)
    script = """echo '{"sql": "SEL", "finish": "length", "model": "m", "tokens_in": 1000000, "tokens_out": 500000}'"""
    said = await completed(shell(script), make_ask(), prices=prices)
    assert (said.finish, said.model, said.tokens_in, said.cost) == ("length", "m", 1_000_000, 2.0)


async def test_an_answer_with_wrong_types_is_a_fault(make_ask: MakeAsk) -> None:
    with pytest.raises(EndpointFault, match="'tokens_in' must be a count"):
        await completed(shell("""echo '{"sql": "SELECT 1", "tokens_in": "many"}'"""), make_ask())


async def test_a_failure_shows_its_last_words(make_ask: MakeAsk) -> None:
    script = "echo 'SELECT 1'; for n in 1 2 3 4 5 6 7; do echo line $n >&2; done; echo key k-planted >&2; exit 3"
    with pytest.raises(EndpointFault) as caught:
        await completed(shell(script), make_ask(), api_key=SecretStr("k-planted"))
    assert caught.value.what == "the program failed: exit code 3"
    assert caught.value.where == ("line 4", "line 5", "line 6", "line 7", "key ***")


async def test_a_killed_program_is_a_fault(make_ask: MakeAsk) -> None:
    with pytest.raises(EndpointFault, match="signal SIGKILL"):
        await completed(shell("kill -9 $$"), make_ask())


async def test_a_flood_is_a_fault(make_ask: MakeAsk) -> None:
    with pytest.raises(EndpointFault, match="more than 16 MiB"):
        await completed("yes", make_ask())


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet collected by its new parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def no_longer_alive(pid: int) -> bool:
    async with asyncio.timeout(5):
        while is_alive(pid):  # noqa: ASYNC110 - another process has no event
            await asyncio.sleep(0.01)
    return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("ending", ["sleep 60", "echo SELECT 1", "exit 1"])
async def test_children_do_not_outlive_the_program(make_ask: MakeAsk, tmp_path: Path, ending: str) -> None:
    """A child that holds the pipes must not hold the question either."""
    pid_file = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {pid_file}; {ending}"
    outcome = await asyncio.gather(completed(shell(script), make_ask(), timeout_s=1), return_exceptions=True)
    assert type(outcome[0]) is (Completion if "echo" in ending else EndpointFault)
    assert await no_longer_alive(int(pid_file.read_text(encoding="ascii")))


async def test_time_is_up(make_ask: MakeAsk) -> None:
    with pytest.raises(EndpointFault, match=r"no answer within 0\.1 s"):
        await completed("sleep 60", make_ask(), timeout_s=0.1)


async def test_tokens_and_command_files_are_hidden(make_ask: MakeAsk, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = ["ACTIONS_RUNTIME_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "INPUT_API-KEY", "GITHUB_ENV", "GITHUB_OUTPUT", "STATE_x"]
    for name in [*hidden, "GITHUB_SHA", "OUR_SETTING"]:
        monkeypatch.setenv(name, "planted")
    seen = json.loads(
        (await completed((sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"), make_ask())).text
    )
    assert [name for name in hidden if name in seen] == []
    assert (seen["OUR_SETTING"], seen["GITHUB_SHA"], seen["PATH"]) == ("planted", "planted", os.environ["PATH"])


async def test_programs_run_side_by_side(make_ask: MakeAsk, tmp_path: Path) -> None:
    """Each waits for the other's file, so they end only together."""
    ours, theirs = tmp_path / "a", tmp_path / "b"
    script = "touch {}; while [ ! -e {} ]; do sleep 0.01; done; echo SELECT 1"
    said = await asyncio.gather(
        completed(shell(script.format(ours, theirs)), make_ask()), completed(shell(script.format(theirs, ours)), make_ask())
    )
    assert [reply.text for reply in said] == ["SELECT 1\n", "SELECT 1\n"]


async def test_a_program_need_not_read_its_question(make_ask: MakeAsk) -> None:
    said = await completed(shell("echo SELECT 1"), make_ask(question="x" * 1_000_000))
    assert said.text == "SELECT 1\n"


@pytest.mark.parametrize(
    "words, command",
    [
        ("is not set", None),
        ("is not set", ""),
        ("is not set", ()),
        ("No closing quotation", "a 'b"),
        ("'./none' is not found", "./none"),
    ],
)
async def test_settings_that_cannot_work(words: str, command: str | tuple[str, ...] | None) -> None:
    with pytest.raises(SettingsError) as caught:
        await Command(Model(command=command)).preflight()
    assert words in str(caught.value)


async def test_identity_holds_no_argument() -> None:
    identity = Command(Model(command=("/bin/ask", "--key", "planted"), name="m")).identity()
    assert (identity["program"], identity["name"]) == ("ask", "m")
    assert "planted" not in str(identity)
