"""The generator that runs a program: the question as JSON on its stdin, the reply on its stdout.

Its stdin is one object: `id`, `question`, `evidence`, `database`, `dialect`, `schema`, `dsn`, `trial`, `prompt` (messages). Its
stdout is an object with `sql` or `reply` (and `finish`, `model`, `tokens_in`, `tokens_out` where it knows them), or plain text,
which is the reply. It runs in a process group of its own, which is killed when it is done or its time is up, and sees neither
the runner's tokens nor the files through which a step speaks to the runner.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.generators.limits import SYSTEM_CLOCK, Clock, Limiter
from nl2sql_gate.generators.pricing import cost_of
from nl2sql_gate.generators.question import parts_of
from nl2sql_gate.generators.refusals import words_of
from nl2sql_gate.generators.stored import completion_of, encodable
from nl2sql_gate.github.child_environment import scrubbed
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model

MOST_OUTPUT_BYTES = 16 * 1024 * 1024
STDERR_BYTES = 64 * 1024
STDERR_LINES = 5
POLL_S = 0.05
GRACE_S = 1.0


class Command:
    """One run of a program for each question. It is not run again when it fails: what is worth a retry, the program knows.

    `folder` is where it runs; the working directory where it is `None`.
    """

    def __init__(self, model: Model, *, replies: str | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        del replies
        self.folder: str | None = None
        self._model = model
        self._clock = clock
        self._argv = _argv(model.command)
        self._limiter = Limiter(model.limits, clock)
        self._secrets = [model.api_key.get_secret_value()] if model.api_key else []

    async def preflight(self) -> None:
        """Look for the program. Raises `SettingsError` where it is not there or may not be executed."""
        program = self._argv[0]
        if self.folder is not None and os.path.dirname(program):  # noqa: PTH120 - a bare name is looked up in PATH
            program = os.path.join(self.folder, program)  # noqa: PTH118 - keeps a leading ./ away from PATH
        if shutil.which(program) is None:
            raise SettingsError(
                "the program of model.command cannot be run",
                where=[f"model.command: {self._argv[0]!r} is not found, or is not executable"],
                meaning="No question was asked.",
                next_step="Give its path (relative ones start with ./), and make it executable.",
            )

    async def complete(self, ask: Ask) -> Completion:
        """What the program says. Raises `EndpointFault` where it fails, takes too long or floods its output."""
        question = json.dumps(parts_of(ask), ensure_ascii=True).encode("ascii")
        booked = await self._limiter.admit(len(question))
        started = self._clock.now()
        output = await self._run(question)
        latency_s = self._clock.now() - started
        completion = _completion(output)
        self._limiter.settle(booked, tokens_in=completion.tokens_in, tokens_out=completion.tokens_out)
        cost = completion.cost
        if cost is None:
            cost = cost_of(self._model.prices, completion.tokens_in, completion.tokens_out)
        return replace(completion, latency_s=latency_s, cost=cost)

    async def close(self) -> None:
        """Nothing is held open."""

    def identity(self) -> Mapping[str, Any]:
        """The model's name, the program's, and the digest of its arguments, which may hold secrets."""
        digest = sha256("\0".join(self._argv).encode("utf-8", "surrogateescape")).hexdigest()
        return {"generator": "command", "name": self._model.name, "program": os.path.basename(self._argv[0]), "arguments": digest}  # noqa: PTH119

    async def _run(self, question: bytes) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=scrubbed(os.environ),
                cwd=self.folder,
                start_new_session=True,
            )
        except OSError as error:
            raise EndpointFault(f"the program cannot be run: {error.strerror or error}") from error
        try:
            async with asyncio.timeout(self._model.timeout_s):
                output, complaints = await _talk(process, question)
                status = await process.wait()
        except TimeoutError as error:
            raise EndpointFault(f"the program gave no answer within {self._model.timeout_s:g} s") from error
        finally:
            await _end(process)
        if status != 0:
            how = f"exit code {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
            lines = complaints.decode("utf-8", "replace").splitlines()[-STDERR_LINES:]
            raise EndpointFault(
                f"the program failed: {how}", where=[words_of(line, self._secrets) for line in lines if line.strip()]
            )
        return output.decode("utf-8", "replace")


async def _talk(process: asyncio.subprocess.Process, question: bytes) -> tuple[bytes, bytes]:
    """Write the question, read what comes. All at once, or a program that writes before it reads would wait for us for ever."""
    assert process.stdin is not None  # noqa: S101 - all three are pipes
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101

    async def tell(stdin: asyncio.StreamWriter) -> None:
        # A program need not read its question to answer.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(question)
            await stdin.drain()
        stdin.close()

    watcher = asyncio.create_task(_end_leftovers(process))
    try:
        _, output, complaints = await asyncio.gather(tell(process.stdin), _all_of(process.stdout), _end_of(process.stderr))
    finally:
        watcher.cancel()
    return output, complaints


async def _end_leftovers(process: asyncio.subprocess.Process) -> None:
    """Kill the children that outlive the program: while they hold its pipes, its output has no end.

    `Process.wait` does not say when the program itself is done: before Python 3.13 it waits for the pipes too.
    """
    while process.returncode is None:  # noqa: ASYNC110 - asyncio has no event for it
        await asyncio.sleep(POLL_S)
    _kill_group(process)


async def _all_of(stream: asyncio.StreamReader) -> bytes:
    parts, size = [], 0
    while part := await stream.read(65536):
        size += len(part)
        if size > MOST_OUTPUT_BYTES:
            raise EndpointFault(f"the program wrote more than {MOST_OUTPUT_BYTES // 1024 // 1024} MiB")
        parts.append(part)
    return b"".join(parts)


async def _end_of(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while part := await stream.read(65536):
        kept = (kept + part)[-STDERR_BYTES:]
    return kept


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave nothing of a program behind: its group is killed, and pipes that a child took to a group of its own are closed."""
    _kill_group(process)
    try:
        async with asyncio.timeout(GRACE_S):
            await process.wait()
    except TimeoutError:
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - asyncio has no public way to let go of the pipes


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _argv(command: str | tuple[str, ...] | None) -> tuple[str, ...]:
    try:
        argv = tuple(shlex.split(command)) if isinstance(command, str) else tuple(command or ())
    except ValueError as error:
        problem = f"model.command: {error}"
    else:
        if argv and argv[0].strip():
            return argv
        problem = "model.command is not set"
    raise SettingsError(
        "the generator 'command' needs a program",
        where=[problem],
        meaning="No question was asked.",
        next_step='Set model.command, for example ["python", "ask.py"]; it is run without a shell.',
    )


def _completion(output: str) -> Completion:
    """The completion that a program's stdout amounts to. An object without `sql` and `reply` is text like any other."""
    try:
        said = json.loads(output)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not ("sql" in said or "reply" in said):
        return Completion(encodable(output))
    try:
        entry = {**said, "reply": said["reply"] if said.get("reply") is not None else said.get("sql")}
        return replace(completion_of(entry), replayed=False)
    except ValueError as error:
        raise EndpointFault(f"the program's answer cannot be used: {error}") from error
