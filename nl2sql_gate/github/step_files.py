"""The files through which a step gives a job its summary and outputs, and gives files back to their owner."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from nl2sql_gate.github.limits import SUMMARY_BYTES, SUMMARY_HARD_BYTES

_RESERVE = 4096
"""Kept free below the hard limit: the runner masks the text line by line, and a mask may be longer than what it hides."""


def room_in_summary(path: Path) -> int:
    """Bytes that may still be appended to the step summary, counting what earlier commands of the step wrote."""
    return max(0, min(SUMMARY_BYTES, SUMMARY_HARD_BYTES - _RESERVE - _written(path)))


def append_summary(path: Path, markdown: str) -> bool:
    """Append to the step summary; false, and nothing written, where the platform would drop it whole or takes nothing."""
    content = f"{markdown.rstrip()}\n\n".encode(errors="replace")
    if _written(path) + len(content) > SUMMARY_HARD_BYTES:
        return False
    return _append(path, content)


def append_outputs(path: Path, outputs: Mapping[str, str | float | None]) -> bool:
    """Append step outputs; false where the file cannot be written.

    A random delimiter stands around each value, so that no value can end itself and set another.
    """
    blocks = []
    for name, value in outputs.items():
        text = "" if value is None else str(value)
        delimiter = f"end-{secrets.token_hex(16)}"
        blocks.append(f"{name}<<{delimiter}\n{text}\n{delimiter}\n")
    return _append(path, "".join(blocks).encode(errors="replace"))


def _written(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _append(path: Path, content: bytes) -> bool:
    """Append; false where the file takes nothing. The runner's files are for telling: they do not decide."""
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError:
        return False
    return True


def give_back(paths: Iterable[Path], *, owner_of: Path) -> list[str]:
    """Give files and folders, with all in them, to the owner of `owner_of`, where this process may.

    A container writes as root, and later steps run as someone else. Returns what could not be given, in words.
    """
    try:
        owner = owner_of.stat()
    except OSError as error:
        return [f"{owner_of}: {error.strerror}"]
    if os.geteuid() != 0 or owner.st_uid == 0:
        return []
    problems = []
    for path in paths:
        for each in [path, *(path.rglob("*") if path.is_dir() and not path.is_symlink() else [])]:
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.chown(each, owner.st_uid, owner.st_gid, follow_symlinks=False)
            except OSError as error:
                problems.append(f"{each}: {error.strerror}")
    return problems
