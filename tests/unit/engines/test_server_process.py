from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from nl2sql_gate.engines.postgres_server import EmbeddedPostgres
from nl2sql_gate.engines.server_process import ServerProcess, scrubbed_environment, started_at, sweep, working_folder
from nl2sql_gate.errors import ServiceError

PREFIX = "nl2sql-gate-unittest-"


def test_a_server_gets_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    monkeypatch.setenv("ACTIONS_RUNTIME_TOKEN", "planted")
    server = ServerProcess(PREFIX, users=("postgres",))
    try:
        server.run(["env"])
        names = {line.partition("=")[0] for line in (server.folder / "server.log").read_text().splitlines()}
        assert names - {"PWD", "SHLVL", "_"} == set(scrubbed_environment(server.folder))
    finally:
        server.stop(ask=signal.SIGTERM)


def test_a_server_that_fails_shows_its_last_lines() -> None:
    server = ServerProcess(PREFIX, users=("postgres",))
    try:
        with pytest.raises(ServiceError) as caught:
            server.run(["sh", "-c", "echo cannot bind; exit 3"])
        assert "sh ended with 3" in str(caught.value)
        assert "cannot bind" in str(caught.value)
    finally:
        server.stop(ask=signal.SIGTERM)
    assert not server.folder.exists()


def test_stopping_ends_what_ignores_the_signal_and_its_children() -> None:
    server = ServerProcess(PREFIX, users=("postgres",))
    server.start(["sh", "-c", "sleep 600 & sleep 600"])
    group = server.pid
    server.stop(ask=signal.SIGTERM)
    server.stop(ask=signal.SIGTERM)
    left = [p for p in psutil.process_iter() if _group(p) == group and p.status() != psutil.STATUS_ZOMBIE]
    assert left == []


def _group(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except OSError:
        return 0


def test_the_sweep_removes_dead_runs_and_leaves_live_ones() -> None:
    live = ServerProcess(PREFIX, users=("postgres",))
    dead = ServerProcess(PREFIX, users=("postgres",))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (dead.folder / "owner.json").write_text(json.dumps({"pid": gone.pid, "started": "1"}))
    dead.start(["sleep", "600", "--", str(dead.folder / "data")])
    try:
        assert sweep(PREFIX) == [dead.folder]
        assert live.folder.exists()
    finally:
        live.stop(ask=signal.SIGTERM)
        dead.stop(ask=signal.SIGTERM)


def test_folders_of_engines_without_a_server_are_swept_too(tmp_path: Path) -> None:
    dead = working_folder(PREFIX, "")
    (dead / "owner.json").write_text(json.dumps({"pid": 2**22 + 1, "started": "1"}))
    live = working_folder(PREFIX, "")
    try:
        assert not dead.exists()
        assert working_folder(PREFIX, str(tmp_path / "a" / "b")).parent == tmp_path / "a" / "b"
    finally:
        shutil.rmtree(live)


def test_a_server_that_cannot_start_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("initdb", "exit 0"), ("postgres", "echo 'FATAL: could not map memory'; exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o011)
    monkeypatch.setenv("NL2SQL_GATE_POSTGRES_BIN", str(tmp_path))
    server = EmbeddedPostgres()
    with pytest.raises(ServiceError) as caught:
        server.start()
    assert "PostgreSQL does not start" in str(caught.value)
    assert "FATAL: could not map memory" in str(caught.value)
    assert not Path(server.address.host).exists()


def test_the_sweep_leaves_folders_that_are_not_ours() -> None:
    stranger = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        assert sweep(PREFIX) == []
        assert stranger.exists()
    finally:
        stranger.rmdir()


def test_a_process_is_known_by_its_start() -> None:
    assert started_at(os.getpid()) == started_at(os.getpid()) != ""
    assert started_at(2**22 + 1) == ""


def test_the_sweep_removes_what_nobody_signed_once_it_is_old() -> None:
    """Its maker died between making and signing it, or a tool that outlived its run made it anew."""
    young, old = (Path(tempfile.mkdtemp(prefix=PREFIX)) for _ in range(2))
    (old / "data").mkdir()
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    try:
        assert sweep(PREFIX) == [old]
        assert young.exists()
    finally:
        young.rmdir()


def test_stopping_ends_halted_children_in_groups_of_their_own() -> None:
    """PostgreSQL's children have their own groups, and one that is halted never sees that its server went."""
    server = ServerProcess(PREFIX, users=("postgres",))
    server.start(["sh", "-c", "setsid sleep 600 & wait"])
    deadline = time.monotonic() + 10
    while not (children := [p for p in psutil.Process(server.pid).children() if p.name() == "sleep"]):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    children[0].suspend()
    server.stop(ask=signal.SIGTERM)
    gone, alive = psutil.wait_procs(children, timeout=5)
    assert (len(gone), alive) == (1, [])
