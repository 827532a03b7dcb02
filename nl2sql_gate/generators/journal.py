"""Every reply on disk as it comes, so that a run that dies resumes without paying twice.

While a run lasts, the journal of `replies.jsonl` is `replies.jsonl.part`, one line a reply, each written at once. A run that
finds such a file replays from it what is asked again in the same words. `finish` turns it into `replies.jsonl`, which the next
run does not replay: asking a model twice shall give two answers. Both are recorded replies, fit for `--replies`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.generators.cache import write_whole
from nl2sql_gate.generators.stored import completion_of, object_of, request_digest
from nl2sql_gate.protocols import Generator
from nl2sql_gate.records import Ask, CaseKey, Completion, Place, Warned


class Journal:
    """A generator whose replies are written to a journal for `path`. `inner` is the generator that is asked."""

    def __init__(self, inner: Generator, path: str | Path) -> None:
        self.inner = inner
        self.warnings: list[Warned] = []
        self._path = Path(path)
        self._part = self._path.with_name(f"{self._path.name}.part")
        self._used: dict[CaseKey, dict[str, Any]] = {}
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
            self._found = self._resume()
        except OSError as error:
            raise SettingsError(
                "the journal of replies cannot be written",
                where=[f"{self._part}: {error.strerror or error}"],
                meaning="No question was asked: what is paid for must not be lost.",
                next_step="Set out: to a folder that may be written.",
            ) from error

    async def preflight(self) -> None:
        """The inner generator's."""
        await self.inner.preflight()

    async def complete(self, ask: Ask) -> Completion:
        """The reply of the run that died, where it had one to this case and this request; else the inner generator's, noted."""
        digest = request_digest(self.inner, ask)
        entry = self._found.get((ask.key, digest))
        if entry is not None:
            self._used[ask.key] = entry
            return completion_of(entry)
        completion = await self.inner.complete(ask)
        self._note(ask.key, digest, completion)
        return completion

    async def close(self) -> None:
        """Put the journal safely on disk and close it; the part stays for the next run unless `finish` was called."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            # Not every file can be synchronised, and a disk that fails has been warned of.
            with contextlib.suppress(OSError):
                os.fsync(handle)
            os.close(handle)
        await self.inner.close()

    def finish(self) -> None:
        """The run is complete: keep the replies that it used, sorted by case, as `path`, and remove the part."""
        try:
            if self._used:
                write_whole(self._path, "".join(_line(self._used[key]) for key in sorted(self._used)))
            self._part.unlink(missing_ok=True)
        except OSError as error:
            self._warn_of(error)

    def identity(self) -> Mapping[str, Any]:
        """The inner generator's."""
        return self.inner.identity()

    def _note(self, key: CaseKey, digest: str, completion: Completion) -> None:
        entry = {**key._asdict(), **object_of(completion), "request": digest}
        self._used[key] = entry
        try:
            if self._handle >= 0:
                # One call a line: whatever is killed, and when, leaves whole lines and at most one torn one at the end.
                os.write(self._handle, _line(entry).encode("utf-8"))
        except OSError as error:
            # The reply is there and can be scored; only a run that dies would pay for it again.
            self._warn_of(error)

    def _warn_of(self, error: OSError) -> None:
        if not any(warned.code == "journal_not_written" for warned in self.warnings):
            words = f"replies cannot be kept, a run that dies will pay for them again: {error.strerror or error}"
            self.warnings.append(Warned("journal_not_written", words, str(self._part), Place(str(self._part))))

    def _resume(self) -> dict[tuple[CaseKey, str], dict[str, Any]]:
        """What a run that died has left; its torn last line is cut off, so that the next line starts on its own."""
        content = self._part.read_bytes()
        whole, newline, torn = content.rpartition(b"\n")
        if torn:
            os.ftruncate(self._handle, len(whole) + len(newline))
        found = {}
        for number, raw in enumerate(whole.split(b"\n") if whole else [], start=1):
            try:
                entry = json.loads(raw)
                key = CaseKey(entry["id"], entry["dialect"], entry["database"], entry["trial"])
                completion_of(entry)
                found[key, str(entry["request"])] = entry
            except (ValueError, TypeError, KeyError, RecursionError):
                place = Place(str(self._part), number)
                self.warnings.append(
                    Warned("journal_line_unusable", f"{place} cannot be used; its question is asked again", place=place)
                )
        return found


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"
