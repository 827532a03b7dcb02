"""Whether a server answers, and what happens to connections where it does not."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from nl2sql_gate.engines.pulse import Pulse, hang_up, peers_of
from nl2sql_gate.errors import EngineFault


def test_only_connections_to_the_silent_server_are_shut(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        socket.create_server(("127.0.0.1", 0)) as other,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX) as to_local,
    ):
        path = str(tmp_path / "s")
        local.bind(path)
        local.listen()
        to_local.connect(path)
        address = silent.getsockname()
        with socket.create_connection(address) as lost, socket.create_connection(other.getsockname()) as kept:
            hang_up(peers_of("127.0.0.1", address[1]))
            assert lost.recv(1) == b""
            assert kept.send(b"x") == 1
            assert to_local.send(b"x") == 1
            hang_up({path})
            assert to_local.recv(1) == b""
            assert kept.send(b"x") == 1


def test_hanging_up_leaves_no_file_open(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w"), (tmp_path / "b").open("w"), socket.create_server(("127.0.0.1", 0)) as server:
        before = len(list(Path("/dev/fd").iterdir()))
        for _ in range(3):
            hang_up({server.getsockname(), str(tmp_path)})
        assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_host_that_nobody_knows_has_no_addresses() -> None:
    assert list(peers_of("no-such-host.invalid", 5432)) == []


def test_who_waits_for_a_silent_server_is_told() -> None:
    answers = threading.Event()
    answers.set()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as waiting:

        def probe() -> None:
            if not answers.is_set():
                raise TimeoutError

        pulse = Pulse("PostgreSQL", probe, lambda: {server.getsockname()}, every_s=0.01, patience_s=0.1)
        pulse.start()
        try:
            pulse.check()
            answers.clear()
            waiting.settimeout(10)
            assert waiting.recv(1) == b""
            with pytest.raises(EngineFault, match="does not answer any more"):
                pulse.check()
            answers.set()
            _wait_until_it_answers(pulse)
        finally:
            pulse.stop()


def _wait_until_it_answers(pulse: Pulse) -> None:
    for _ in range(1_000_000):
        try:
            pulse.check()
        except EngineFault:
            continue
        return
    pytest.fail("it answers, and is not known to")
