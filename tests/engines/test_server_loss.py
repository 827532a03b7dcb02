"""A server that dies is our failure, never the model's; and nothing of it is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from nl2sql_gate import plugins
from nl2sql_gate.engines.prepared import prepare
from nl2sql_gate.errors import EngineFault, ServiceError
from nl2sql_gate.records import DatabaseSource, Limits, Place, ResultSet, SetupStatement

from declared import STARTED

DECLARED = {each.dialect: each for each in STARTED if each.traits.sleep}
SERVERS = list(DECLARED)
SETUP = (SetupStatement("CREATE TABLE t(a INTEGER)", Place("setup.sql", 1)),)


def start(dialect: str, **options: Any) -> Any:
    """An engine of its own, running."""
    found = plugins.load("engine", dialect)(
        name=dialect, dialect=dialect, way=DECLARED[dialect].way, limits=Limits(statement_s=20), workdir="", workers=2, **options
    )
    try:
        found.start()
    except ServiceError as error:
        pytest.skip(str(error).splitlines()[0])
    return found


@pytest.mark.server
@pytest.mark.parametrize("dialect", SERVERS)
def test_a_killed_server_is_a_fault_and_leaves_nothing(dialect: str) -> None:
    engine = start(dialect)
    try:
        database = engine.provision(DatabaseSource("d", dialect, "x", setup=SETUP))
        pid = engine.server_pid
        folder = Path(f"/proc/{pid}/cwd").resolve()
        killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(EngineFault):
            _read(database, DECLARED[dialect].traits.sleep or "")
        killer.join()
        with pytest.raises(EngineFault):
            _read(database, "SELECT 1")
        with pytest.raises(EngineFault):
            _write(database, "INSERT INTO t VALUES (1)")
    finally:
        engine.stop()
        engine.stop()
    assert not folder.exists()
    assert [p.pid for p in psutil.process_iter() if _mentions(p, str(folder))] == []


@pytest.mark.server
@pytest.mark.parametrize("dialect", SERVERS)
def test_a_dead_runs_server_is_swept_by_the_next(dialect: str, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, signal, sys
        from nl2sql_gate import plugins
        from nl2sql_gate.records import Limits
        engine = plugins.load("engine", {dialect!r})(
            name="s", dialect={dialect!r}, way={DECLARED[dialect].way!r}, limits=Limits(), workdir="", workers=1)
        engine.start()
        print(engine.server_pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=Path.cwd())
    if not ran.stdout:
        pytest.skip(ran.stderr[-200:])
    server = psutil.Process(int(ran.stdout))
    folder = Path(f"/proc/{server.pid}/cwd").resolve()
    assert folder.exists()
    engine = start(dialect)
    try:
        server.wait(5)
        assert not folder.exists()
        assert isinstance(engine.provision(DatabaseSource("d", dialect, "x", setup=SETUP)).schema(sample_values=0).ddl, str)
    finally:
        engine.stop()


@pytest.mark.server
def test_servers_start_from_prepared_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(tempfile.mkdtemp(prefix="nl2sql-gate-test-prepared-"))
    try:
        folder.chmod(0o755)
        names = prepare(folder)
        if not names:
            pytest.skip("no server is installed")
        monkeypatch.setenv("NL2SQL_GATE_PREPARED", str(folder))
        for dialect in SERVERS:
            engine = start(dialect)
            try:
                database = engine.provision(DatabaseSource("d", dialect, "x", setup=SETUP))
                assert isinstance(_write(database, "INSERT INTO t VALUES (1)"), ResultSet)
            finally:
                engine.stop()
        assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    finally:
        shutil.rmtree(folder)


@pytest.mark.server
@pytest.mark.parametrize("dialect", SERVERS)
def test_two_services_run_side_by_side(dialect: str) -> None:
    one, other = start(dialect), start(dialect)
    try:
        with one.provision(DatabaseSource("d", dialect, "x", setup=SETUP)).reading() as session:
            other.stop()
            assert isinstance(session.execute("SELECT 1"), ResultSet)
    finally:
        one.stop()
        other.stop()


def _read(database: Any, sql: str) -> object:
    with database.reading() as session:
        return session.execute(sql)


def _write(database: Any, sql: str) -> object:
    with database.writing([sql]) as session:
        return session.execute(sql)


def _mentions(process: psutil.Process, text: str) -> bool:
    try:
        return any(text in word for word in process.cmdline())
    except psutil.Error:
        return False
