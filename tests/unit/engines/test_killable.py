"""Processes that can be killed: what passes between them and the run, and what stays in the run's own."""

from __future__ import annotations

import datetime as dt
import pickle
import socket
import subprocess
import sys
import time
import uuid
from decimal import Decimal
from pathlib import Path

import pytest

from nl2sql_gate.engines.distant_state import decode, encode
from nl2sql_gate.engines.frames import Closed, receive, send
from nl2sql_gate.engines.killable import Overrun, Workers
from nl2sql_gate.engines.sqlite_guard import compiles_soon
from nl2sql_gate.errors import EngineFault
from nl2sql_gate.records import Json, ResultSet, SqlError, State
from nl2sql_gate.state import Content, TableState

CELLS = (
    None, True, 2**70, 1.5, Decimal("1.50"), "é\ud800", b"\xff", dt.date(2024, 2, 29), dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    dt.time(1, 2, 3), dt.timedelta(days=1), uuid.UUID(int=7), [1, [2]], Json({"a": [1]}),
)  # fmt: skip


@pytest.fixture
def line() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair()


class Chosen:
    """A value that runs something where it is read."""

    def __reduce__(self) -> object:
        return print, ("chosen",)


@pytest.mark.parametrize(
    "value", [ResultSet(("a",), (CELLS,)), SqlError("no", reason="timeout"), ("value", {"x": "y" * 100_000})]
)
def test_values_arrive_as_they_were_sent(line: tuple[socket.socket, socket.socket], value: object) -> None:
    here, there = line
    with here, there:
        send(there, value)
        assert receive(here, time.monotonic() + 5) == value


def test_what_is_no_value_is_not_made(line: tuple[socket.socket, socket.socket], capsys: pytest.CaptureFixture[str]) -> None:
    here, there = line
    with here, there:
        send(there, Chosen())
        with pytest.raises(pickle.UnpicklingError, match=r"builtins\.print is no value"):
            receive(here, None)
    assert capsys.readouterr().out == ""


def test_silence_and_an_end_are_told_apart(line: tuple[socket.socket, socket.socket]) -> None:
    here, there = line
    with here:
        with pytest.raises(TimeoutError):
            receive(here, time.monotonic() + 0.01)
        there.close()
        with pytest.raises(Closed):
            receive(here, time.monotonic() + 5)


def test_a_state_travels_without_what_both_sides_have() -> None:
    def unread() -> Content:
        raise AssertionError

    template = State({"a": TableState(["x"], [], unread), "b": TableState(["x"], [], unread)}, {"table a": {}})
    changed = State({"a": template.tables["a"], "b": TableState(["x"], ["x"], lambda: Content(1, ((1,),)))}, {"table b": {}})
    sent = pickle.loads(pickle.dumps(encode(changed, template)))  # noqa: S301 -- ours
    found = decode(sent, template)
    assert found.tables["a"] is template.tables["a"]
    assert found.tables["b"] == changed.tables["b"]
    assert found.catalogue == {"table b": {}}
    assert decode(encode(template, template), template) is template


def test_large_tables_have_the_same_digest_in_every_process() -> None:
    script = (
        "from decimal import Decimal\nfrom nl2sql_gate.state import content_of, tables\n"
        "rows = [(None, str(i), i, 1.5, b'x', True) for i in range(tables.MAX_ROWS + 1)]\n"
        "print(content_of(rows).digest, content_of([(n, s, Decimal(i), f, b, 1) for n, s, i, f, b, t in rows]).digest)"
    )
    ran = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]
    digests = {word for one in ran for word in one.stdout.split()}
    assert len(digests) == 1


def test_a_call_that_does_not_come_back_ends_its_process(tmp_path: Path) -> None:
    workers = Workers(lambda: tmp_path)
    with workers.lend("x") as worker:
        with pytest.raises(Overrun):
            worker.call("begin", None, within=0)
        assert not worker.is_alive
    with workers.lend("x") as other:
        assert other is not worker
        with pytest.raises(EngineFault, match="process failed"):
            other.call("execute", "SELECT 1")
        assert other.is_alive
    workers.stop()
    assert list(tmp_path.iterdir()) == []


def chain(length: int, *, uses: int) -> str:
    """Named queries, each of which uses the one before."""
    named = [
        f"a{i} AS (SELECT * FROM a{i - 1}{', '.join([''] + [f'a{i - 1} b{j}' for j in range(uses - 1)])})"
        for i in range(1, length)
    ]
    return f"WITH a0 AS (SELECT 1 AS x), {', '.join(named)} SELECT * FROM a{length - 1}"


@pytest.mark.parametrize(
    ("sql", "soon"),
    [
        ("SELECT 1", True),
        ("WITH t AS (SELECT 1) SELECT * FROM t, t AS u", True),
        (chain(4, uses=2), True),
        (chain(12, uses=2), False),
        (chain(3, uses=40), False),
        (chain(12, uses=2).replace(" AS (", " AS NOT MATERIALIZED("), False),
        (chain(12, uses=2).replace("a1", '"a1"'), False),
        ("WITH t AS /* ) */ (SELECT 1) SELECT * FROM t", False),
        ("CREATE VIEW v AS SELECT 1 AS x", True),
        ("\n".join(f"CREATE VIEW v{i} AS SELECT * FROM v{i - 1} UNION ALL SELECT * FROM v{i - 1}" for i in range(1, 12)), False),
        ("SELECT 1 WHERE 1 IN (" + ",".join("1" * 60_000) + ")", False),
    ],
    ids=lambda value: str(value)[:25],
)
def test_queries_that_are_written_out_over_and_over_do_not_stay_near(sql: str, soon: bool) -> None:
    assert compiles_soon(sql) is soon
