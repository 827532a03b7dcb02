"""Text from files as UTF-8, or the byte at which it is not."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from nl2sql_gate.errors import UsageError

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def _content(path: Path) -> bytes:
    if path.is_char_device() or path.is_block_device():
        message = "it is a device, and may never end"
        raise ValueError(message)
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix.lower() == ".gz" else content


def read_text(path: Path, *, error: type[UsageError], what: str, shown: str = "") -> str:
    """The file's text; a byte order mark stays in it, a `.gz` is unpacked.

    Raises `error` in four parts: absent, no file, unreadable, not UTF-8.
    `what` names the file's role in messages ("the dataset"), `shown` its name where that is not `path`.
    """
    shown = shown or str(path)
    try:
        content = _content(path)
    except FileNotFoundError as cause:
        raise error(
            f"{what} does not exist",
            where=[f"{shown}: no such file" + _neighbours(path)],
            meaning="Nothing was read and no model was called.",
            next_step="Correct the path; it is relative to the working directory.",
        ) from cause
    except (OSError, ValueError, EOFError, zlib.error) as cause:
        reason = "it is a folder" if path.is_dir() else getattr(cause, "strerror", None) or str(cause)
        raise error(
            f"{what} cannot be read",
            where=[f"{shown}: {reason}"],
            meaning="Nothing was read and no model was called.",
            next_step="Point at a file that this user may read.",
        ) from cause
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as cause:
        line = content.count(b"\n", 0, cause.start) + 1
        utf16 = content.startswith(_UTF16_MARKS)
        bad = f"byte 0x{content[cause.start]:02x} at offset {cause.start} (line {line})"
        reason = "it is UTF-16" if utf16 else f"{bad} is not UTF-8"
        raise error(
            f"{what} is not UTF-8 text",
            where=[f"{shown}: {reason}"],
            meaning="A guess at the encoding could change questions or data without a word, so nothing was read.",
            next_step="Save the file as UTF-8, for example with: iconv -f " + ("UTF-16" if utf16 else "LATIN1") + " -t UTF-8",
        ) from cause


def _neighbours(path: Path) -> str:
    """Files of the same folder that are named alike, for a message."""
    from nl2sql_gate.dataset.problems import listed, nearest

    try:
        near = nearest(path.name, sorted(entry.name for entry in path.parent.iterdir())[:1000])
    except OSError:
        return ""
    return f"; beside it: {listed(near)}" if near else ""
