"""Replies kept from run to run, addressed by what was asked: one file a reply, written whole or not at all.

Only usable replies are kept: no fault, no refusal, no empty text. A reply that a limit cut off is usable: it was paid for, and
the same request would be cut off again.

What changes behind an address without changing the model's name or its parameters is not seen: for an endpoint whose insides are
under test, keep no cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.generators.stored import completion_of, object_of, request_digest
from nl2sql_gate.protocols import Generator
from nl2sql_gate.records import Ask, Completion, Place, Warned

FORMAT = "nl2sql-gate/reply/v1"
NOT_KEPT = frozenset({"content_filter", "context_length", "refusal"})


class Cached:
    """A generator whose replies are looked up in `folder` first. `inner` is the generator that is asked otherwise."""

    def __init__(self, inner: Generator, folder: str | Path) -> None:
        self.inner = inner
        self.warnings: list[Warned] = []
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                "the cache folder cannot be made",
                where=[f"{folder}: {error.strerror or error}"],
                meaning="No question was asked.",
                next_step="Set cache: to a folder that may be written, or to null.",
            ) from error

    async def preflight(self) -> None:
        """The inner generator's."""
        await self.inner.preflight()

    async def complete(self, ask: Ask) -> Completion:
        """The kept reply, or the inner generator's, which is then kept."""
        digest = request_digest(self.inner, ask)
        path = self._folder / digest[:2] / f"{digest}.json"
        found = self._read(path)
        if found is not None:
            return found
        completion = await self.inner.complete(ask)
        if completion.text.strip() and completion.finish not in NOT_KEPT:
            self._write(path, completion)
        return completion

    async def close(self) -> None:
        """The inner generator's."""
        await self.inner.close()

    def identity(self) -> Mapping[str, Any]:
        """The inner generator's: where a reply lay does not change what it is."""
        return self.inner.identity()

    @property
    def address(self) -> str:
        """The inner generator's."""
        return str(getattr(self.inner, "address", ""))

    def _read(self, path: Path) -> Completion | None:
        try:
            entry = json.loads(path.read_bytes())
            if not isinstance(entry, dict) or entry.get("format") != FORMAT or not isinstance(entry.get("reply"), str):
                raise ValueError("not an entry of this cache")  # noqa: TRY301 - handled like broken JSON
            return completion_of(entry)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self._warn("cache_entry_unusable", f"a cached reply cannot be used and is asked for again: {error}", path)
            return None

    def _write(self, path: Path, completion: Completion) -> None:
        text = json.dumps({"format": FORMAT, **object_of(completion)}, ensure_ascii=False, sort_keys=True) + "\n"
        try:
            write_whole(path, text)
        except OSError as error:
            if not any(warned.code == "cache_not_written" for warned in self.warnings):
                self._warn("cache_not_written", f"replies cannot be cached: {error.strerror or error}", path)

    def _warn(self, code: str, message: str, path: Path) -> None:
        self.warnings.append(Warned(code, message, str(path), Place(str(path))))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees it whole or not at all, whatever happens meanwhile. Makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:16]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # mkstemp makes files for their owner alone; a cache is shared like any other file.
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
