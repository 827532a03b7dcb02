"""Database servers that die, or freeze, in the middle of a run: it ends, says what it could not measure, and leaves nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from nl2sql_gate.generators.case_header import NAME, case_of

pytestmark = pytest.mark.server

DATASET = next(path.parent for path in sorted((Path(__file__).parents[2] / "datasets").glob("*/items.json")))
ITEMS = [item for number, item in enumerate(json.loads((DATASET / "items.json").read_text())) if number % 3][:60]
SERVICES = {"postgres": "embedded", "mariadb": "embedded", "mysql": "embedded-mariadb"}
PROGRAMS = frozenset({"postgres", "mariadbd", "mysqld"})
HALF = len(ITEMS) // 2


@dataclass
class Ended:
    """What a run left: its exit code, its words, its cases, and how long it went on after its server was gone."""

    code: int
    said: str
    cases: list[dict[str, Any]]
    lasted_s: float
    left: list[str]

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(case["outcome"] for case in self.cases)


@contextmanager
def endpoint(dialect: str, at_half: Callable[[], None]) -> Iterator[str]:
    """The address of a model that knows every golden SQL. Half of the questions are answered before `at_half`, and half after it."""
    key = "mysql" if dialect == "mariadb" else dialect
    goldens = {item["id"]: ";\n".join(sql.rstrip("; \n") for sql in item["golden_sql"][key]) for item in ITEMS}
    lock, asked = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            found = case_of(self.headers.get(NAME, ""))
            with lock:
                asked[0] += found is not None
                if asked[0] == HALF:
                    at_half()
                    asked[0] += 1
            text = goldens[found[0].id] if found else "SELECT 1"
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def servers_of(run: int) -> list[psutil.Process]:
    """The server processes of a run and their children."""
    own = [child for child in psutil.Process(run).children() if child.name() in PROGRAMS]
    return [process for server in own for process in (server, *server.children(recursive=True))]


def run_and_lose(dialect: str, number: signal.Signals, *, all_processes: bool, timeout: float) -> Ended:
    """A run of sixty items whose server gets a signal when half of them have been asked for."""
    folder = Path(tempfile.mkdtemp(prefix="lost"))
    folder.chmod(0o755)
    at: list[float] = []
    running: list[subprocess.Popen[str]] = []

    def lose() -> None:
        found = servers_of(running[0].pid)
        assert found
        for process in found if all_processes else found[:1]:
            process.send_signal(number)
        at.append(time.monotonic())

    try:
        settings = {"version": 1, "services": {dialect: SERVICES[dialect]}, "limits": {"statement_s": 2}}
        (folder / "nl2sql-gate.yml").write_text(json.dumps(settings))
        with endpoint(dialect, lose) as address:
            command = [sys.executable, "-m", "nl2sql_gate", "run", "--config", "nl2sql-gate.yml"]
            command += ["--dataset", str(DATASET / "items.json"), "--setup-directory", str(DATASET / "setup")]
            command += ["--base-url", address, "--model", "m", "--api-key", "x", "--dialect", dialect, "--concurrency", "4"]
            command += [word for item in ITEMS for word in ("--only", f"{item['id']}:{dialect}")]
            run = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder)},
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
            running.append(run)
            try:
                _, said = run.communicate(timeout=timeout)
            finally:
                for process in servers_of(run.pid) if run.poll() is None else []:
                    process.kill()
                run.kill()
        if not at and "server" in said and run.returncode == 3:
            pytest.skip(said.splitlines()[0])
        lasted_s = time.monotonic() - at[0]
        report = json.loads((folder / "nl2sql-gate-out" / "run.json").read_text())
        left = [path.name for path in folder.iterdir() if path.name not in {"nl2sql-gate.yml", "nl2sql-gate-out"}]
        left += [f"process {one.pid}" for one in psutil.process_iter() if _mentions(one, str(folder))]
        return Ended(run.returncode, said, report["cases"], lasted_s, left)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _mentions(process: psutil.Process, text: str) -> bool:
    try:
        return any(text in word for word in process.cmdline())
    except psutil.Error:
        return False


@pytest.mark.parametrize("dialect", SERVICES)
def test_a_server_that_is_killed_leaves_its_cases_unscored(dialect: str) -> None:
    ended = run_and_lose(dialect, signal.SIGKILL, all_processes=False, timeout=120)
    _assert_ended_without_a_verdict(ended)
    assert ended.lasted_s < 15


@pytest.mark.parametrize("dialect", SERVICES)
def test_a_server_that_freezes_is_waited_for_once(dialect: str) -> None:
    ended = run_and_lose(dialect, signal.SIGSTOP, all_processes=True, timeout=200)
    _assert_ended_without_a_verdict(ended)
    assert ended.lasted_s < 45


def _assert_ended_without_a_verdict(ended: Ended) -> None:
    assert ended.code == 3, ended.said
    assert set(ended.outcomes) <= {"answered", "unscored"}, ended.outcomes
    assert ended.outcomes.total() == len(ITEMS)
    # What was asked before the server was lost need not have been judged.
    assert ended.outcomes["unscored"] >= len(ITEMS) - HALF - 4
    assert {case["reason"]["code"] for case in ended.cases if case["outcome"] == "unscored"} == {"engine"}
    assert {case["scores"]["execution_accuracy"]["value"] for case in ended.cases if case["outcome"] == "answered"} <= {1}
    assert ended.left == []


@pytest.mark.parametrize("dialect", ["postgres", "mariadb"])
def test_a_server_that_starts_while_the_settings_are_refused_is_stopped(dialect: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="early-", dir="/tmp"))
    try:
        words = ["--dataset", str(DATASET / "items.json"), "--setup-directory", str(DATASET / "setup"), "--dialect", dialect]
        ran = subprocess.run(
            [sys.executable, "-m", "nl2sql_gate", "run", *words, "--model", "m", "--base-url", "ftp://example.com/v1"],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (ran.returncode, "model.base_url is no address" in ran.stderr) == (2, True)
        assert [path.name for path in folder.iterdir()] == []
        lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
        assert [line for line in lines if str(folder) in line] == []
    finally:
        shutil.rmtree(folder, ignore_errors=True)
