"""Work shared out to forked processes, so that a crash in native code costs one task and no other."""

from __future__ import annotations

import gc
import io
import mmap
import os
import pickle
import selectors
import signal
import struct
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

Task = Callable[[int], Any]
_NUMBER = struct.Struct("=q")
_MOST_CHUNKS = 4096  # their numbers fit into a pipe before anyone reads it
_CHUNK = 8


def run_forked(tasks: Sequence[int], make: Callable[[], Task], *, workers: int) -> dict[int, Any]:
    """The result of each task by its number. `make` is called once in each worker. A task during which its worker dies has none.

    Tasks are taken from one queue in the order given, so that unequal ones even out.
    """
    if workers <= 1 or len(tasks) <= 1 or not hasattr(os, "fork"):
        task = make()
        return {number: task(number) for number in tasks}
    results: dict[int, Any] = {}
    left: list[int] = list(tasks)
    while left:
        fatal = _round(left, make, workers=min(workers, len(left)), results=results)
        # A worker that dies takes the rest of its chunk with it; those tasks run again, without the one that killed it.
        left = [number for number in left if number not in results and number not in fatal]
    return results


@dataclass(slots=True)
class _Worker:
    pid: int
    slot: int
    received: bytearray


def _round(tasks: Sequence[int], make: Callable[[], Task], *, workers: int, results: dict[int, Any]) -> set[int]:
    """Run all tasks once; returns those that killed their worker."""
    size = max(min(_CHUNK, len(tasks) // (workers * 4)), -(-len(tasks) // _MOST_CHUNKS), 1)
    chunks = [tasks[i : i + size] for i in range(0, len(tasks), size)]
    take, give = os.pipe()
    for number in range(len(chunks)):
        os.write(give, _NUMBER.pack(number))
    os.close(give)
    places = mmap.mmap(-1, _NUMBER.size * workers)  # the task that each worker is at, visible to this process
    running: dict[int, _Worker] = {}
    gc.freeze()  # a collection in a worker would copy every page that it looks at
    try:
        for slot in range(workers):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                _work(make, chunks, take=take, writer=writer, place=(places, slot * _NUMBER.size))
            os.close(writer)
            running[reader] = _Worker(pid, slot, bytearray())
        os.close(take)
        _receive(running)
    finally:
        gc.unfreeze()
        fatal = _reap(running, places)
    for worker in running.values():
        results.update(_unpickled(worker.received))
    return {number for number in fatal if number not in results}


def _work(make: Callable[[], Task], chunks: list[Sequence[int]], *, take: int, writer: int, place: tuple[mmap.mmap, int]) -> None:
    """A worker's life; never returns."""
    code = 1
    try:
        _NUMBER.pack_into(*place, -1)
        task = make()
        with os.fdopen(writer, "wb") as out:
            while raw := os.read(take, _NUMBER.size):
                found = []
                for number in chunks[_NUMBER.unpack(raw)[0]]:
                    _NUMBER.pack_into(*place, number)
                    found.append((number, task(number)))
                out.write(pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL))
                out.flush()
                _NUMBER.pack_into(*place, -1)
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, this process must not go on as a second parent
        traceback.print_exc()
    finally:
        # Not sys.exit: buffers and exit functions are the parent's.
        os._exit(code)


def _receive(running: dict[int, _Worker]) -> None:
    """Read what the workers send until all of them have closed their end."""
    with selectors.DefaultSelector() as selector:
        for reader in running:
            selector.register(reader, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                sent = os.read(key.fd, 1 << 16)
                running[key.fd].received += sent
                if not sent:
                    selector.unregister(key.fd)


def _reap(running: dict[int, _Worker], places: mmap.mmap) -> set[int]:
    """End and collect all workers; the tasks at which some died."""
    fatal = set()
    for reader, worker in running.items():
        os.close(reader)
        # It has closed its pipe, so it is done or dead; or this process was interrupted, and it must not go on.
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
        (number,) = _NUMBER.unpack_from(places, worker.slot * _NUMBER.size)
        if number >= 0:
            fatal.add(number)
    return fatal


def _unpickled(received: bytearray) -> Iterator[tuple[int, Any]]:
    """The results in a worker's stream, as far as it got."""
    stream = io.BytesIO(received)
    while True:
        try:
            yield from pickle.load(stream)  # noqa: S301 - written by our own fork
        except (EOFError, pickle.UnpicklingError):
            return
