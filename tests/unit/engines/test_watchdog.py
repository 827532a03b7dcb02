from __future__ import annotations

import os
import threading
import time

from nl2sql_gate.engines.watchdog import Watchdog


def test_a_deadline_fires_once_at_its_time() -> None:
    fired = threading.Event()
    calls: list[float] = []
    started = time.monotonic()

    def cancel() -> None:
        calls.append(time.monotonic() - started)
        fired.set()

    deadline = Watchdog().arm(0.05, cancel)
    assert fired.wait(2)
    assert deadline.disarm() is True
    assert len(calls) == 1
    assert calls[0] >= 0.05


def test_a_disarmed_deadline_never_fires() -> None:
    watchdog = Watchdog()
    calls: list[int] = []
    deadline = watchdog.arm(0.05, lambda: calls.append(1))
    assert deadline.disarm() is False
    later = threading.Event()
    watchdog.arm(0.1, later.set)
    assert later.wait(2)
    assert calls == []


def test_a_shorter_deadline_overtakes_a_longer_one() -> None:
    watchdog = Watchdog()
    order: list[str] = []
    done = threading.Event()
    watchdog.arm(0.15, lambda: (order.append("long"), done.set()))
    watchdog.arm(0.03, lambda: order.append("short"))
    assert done.wait(2)
    assert order == ["short", "long"]


def test_a_disarm_waits_for_a_cancel_that_is_under_way() -> None:
    entered, leave = threading.Event(), threading.Event()
    state: list[str] = []

    def cancel() -> None:
        entered.set()
        leave.wait(2)
        state.append("cancelled")

    deadline = Watchdog().arm(0.0, cancel)
    assert entered.wait(2)
    threading.Timer(0.05, leave.set).start()
    assert deadline.disarm() is True
    assert state == ["cancelled"]


def test_a_forked_child_has_a_watchdog_of_its_own() -> None:
    watchdog = Watchdog()
    watchdog.arm(60, lambda: None).disarm()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        fired = threading.Event()
        watchdog.arm(0.01, fired.set)
        os.write(writer, b"y" if fired.wait(2) else b"n")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1) == b"y"
