"""Runs that are killed, endpoints that never come to an end, and files that hold what no run wrote."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shop import Shop


@pytest.fixture
def dripping() -> Iterator[str]:
    """The address of an endpoint that answers at once, a blank at a time, without end."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
            while not stop.wait(0.2):
                connection.sendall(b" ")

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    stop.set()
    listener.close()


def test_the_deadline_of_the_run_holds_for_the_first_call_too(shop: Shop, dripping: str) -> None:
    ran = shop.gate(
        *("run", "--dataset", "items.json", "--setup-directory", "setup", "--base-url", dripping, "--model", "m"),
        *("--set", "limits.run_s=2"),
        timeout=40,
    )
    assert (ran.returncode, "limits.run_s" in ran.stderr) == (3, True)


def test_what_a_killed_run_left_is_removed_by_the_next(shop: Shop, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    shop.environment = {"TMPDIR": str(folder)}
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
    shop.write_replies({**shop.replies, "q1": endless})
    words = [sys.executable, "-m", "nl2sql_gate", "run", "--dataset", "items.json", "--setup-directory", "setup"]
    given = {"PATH": os.environ["PATH"], "HOME": str(shop.folder), "TMPDIR": str(folder)}
    with subprocess.Popen([*words, "--replies", "replies.jsonl"], cwd=shop.folder, env=given, stderr=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 30
        while not list(folder.glob("nl2sql_gate_*/*/templates")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        run.kill()
    assert list(folder.iterdir()) != []
    shop.write_replies(shop.replies)
    assert shop.run().returncode == 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
def test_a_job_that_is_cancelled_while_it_starts_is_interrupted(background: bool) -> None:
    code = "from nl2sql_gate.cli import guarded; import os, signal; raise SystemExit(guarded(lambda: os.kill(os.getpid(), signal.SIGTERM) or 0))"
    # A shell's background job ignores Ctrl-C, and hands that on to what it starts.
    ignoring = 'trap "" INT; ' if background else ""
    shell = ["sh", "-c", ignoring + 'exec "$@"', "sh"]
    ran = subprocess.run([*shell, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (130, "")


def test_an_interrupt_while_a_class_is_made_ends_with_130_too(tmp_path: Path) -> None:
    """It passes through code that was compiled from text, which makes the interpreter remember it."""
    text = "from nl2sql_gate.cli import guarded\nimport sys\nsys.exit(guarded(lambda: exec('raise KeyboardInterrupt') or 0))\n"
    (tmp_path / "interrupted.py").write_text(text)
    ran = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, check=False)
    assert ran.returncode == 130


def test_a_run_in_the_background_of_a_shell_can_be_cancelled(shop: Shop, dripping: str) -> None:
    words = ["run", "--dataset", "items.json", "--setup-directory", "setup", "--base-url", dripping, "--model", "m"]
    shell = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "nl2sql_gate", *words]
    given = {"PATH": os.environ["PATH"], "HOME": str(shop.folder)}
    with subprocess.Popen(shell, cwd=shop.folder, env=given, stderr=subprocess.PIPE, text=True) as run:
        time.sleep(3)
        run.terminate()
        try:
            _, said = run.communicate(timeout=20)
        finally:
            run.kill()
    assert (run.returncode, "error: interrupted" in said) == (130, True), said


def test_a_second_interrupt_while_tidying_up_leaves_nothing_behind(shop: Shop, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
    shop.write_replies({**shop.replies, "q1": endless})
    words = [sys.executable, "-m", "nl2sql_gate", "run", "--dataset", "items.json", "--setup-directory", "setup"]
    given = {"PATH": os.environ["PATH"], "HOME": str(shop.folder), "TMPDIR": str(folder)}
    with subprocess.Popen([*words, "--replies", "replies.jsonl"], cwd=shop.folder, env=given, stderr=subprocess.PIPE) as run:
        deadline = time.monotonic() + 30
        while not list(folder.glob("nl2sql_gate_*/*/templates/*")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        while run.poll() is None:
            run.send_signal(signal.SIGINT)
            time.sleep(0.05)
            assert time.monotonic() < deadline
    assert run.returncode == 130
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("provenance", [{"fingerprint": [1]}, {"facts": "x"}, {"facts": None}])
def test_a_file_whose_provenance_is_none_is_refused(shop: Shop, provenance: dict[str, Any]) -> None:
    assert shop.run().returncode == 0
    run = shop.report()
    (shop.folder / "odd.json").write_text(json.dumps({**run, "provenance": {**run["provenance"], **provenance}}))
    for words in (["odd.json", "nl2sql-gate-out/run.json"], ["nl2sql-gate-out/run.json", "odd.json"]):
        ran = shop.gate("compare", *words)
        assert (ran.returncode, f"provenance.{next(iter(provenance))}: Input should be a valid" in ran.stderr) == (2, True)


def test_an_engine_that_a_file_describes_in_no_words_is_left_out(shop: Shop) -> None:
    assert shop.run().returncode == 0
    run = shop.report()
    run["provenance"]["fingerprint"]["engines"] = {"a": {"b": 1}, "c": [], "d": "x"}
    (shop.folder / "odd.json").write_text(json.dumps(run))
    assert shop.gate("compare", "odd.json", "nl2sql-gate-out/run.json").returncode in {0, 3}


def test_half_a_surrogate_pair_in_a_run_can_become_the_baseline(shop: Shop) -> None:
    assert shop.run().returncode == 0
    run = shop.report()
    run["cases"][0]["id"] = "q\ud800"
    (shop.folder / "odd.json").write_text(json.dumps(run))
    assert shop.gate("bless", "odd.json", "--to", "baseline.json").returncode == 0


def test_blanks_around_an_id_do_not_part_a_reply_from_its_question(shop: Shop) -> None:
    shop.write_replies({f" {name} ": text for name, text in shop.replies.items()})
    assert shop.run().returncode == 0
    assert {case["outcome"] for case in shop.report()["cases"]} == {"answered"}
