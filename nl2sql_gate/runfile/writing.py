"""Runs and baselines as bytes and files: keys sorted, one case a line, so that a repository shows which cases changed."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nl2sql_gate.errors import UsageError
from nl2sql_gate.records import Run
from nl2sql_gate.runfile.cells import encode_cell
from nl2sql_gate.runfile.entries import baseline_case_entry, baseline_head, case_entry, run_head

Redact = Callable[[str], str]

_READABLE = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, default=encode_cell)
_ASCII = json.JSONEncoder(sort_keys=True, ensure_ascii=True, allow_nan=False, default=encode_cell)


def write_run(run: Run, path: Path, *, redact: Redact | None = None) -> None:
    """Write `run.json`: everything. `redact` is applied to every text in it. The file is there whole, or the old one is."""
    write_file(path, run_bytes(run, redact=redact))


def write_baseline(run: Run, path: Path, *, redact: Redact | None = None) -> None:
    """Write `baseline.json`: what later runs are compared with, without replies and rows."""
    write_file(path, baseline_bytes(run, redact=redact))


def run_bytes(run: Run, *, redact: Redact | None = None) -> bytes:
    """The content of `run.json`; the same run gives the same bytes."""
    return document(run_head(run), "cases", map(case_entry, run.cases), redact=redact)


def baseline_bytes(run: Run, *, redact: Redact | None = None) -> bytes:
    """The content of `baseline.json`, for any store."""
    return document(baseline_head(run), "cases", map(baseline_case_entry, run.cases), redact=redact)


def document(head: Mapping[str, Any], lines: str, entries: Iterable[Any], *, redact: Redact | None = None) -> bytes:
    """A JSON object with the keys of `head`, each on a line, and under `lines` one entry a line; keys sorted."""
    parts = [(name, _line(value, redact)) for name, value in head.items()]
    body = b",\n".join(b"  " + _line(entry, redact) for entry in entries)
    parts.append((lines, b"[\n" + body + b"\n ]" if body else b"[]"))
    return b"{\n" + b",\n".join(b" " + _line(name, None) + b": " + value for name, value in sorted(parts)) + b"\n}\n"


def write_file(path: Path, content: bytes) -> None:
    """Write a file that the caller named. Raises `UsageError` where the place takes none, for example on a full disk."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise UsageError(
            f"{path.name} cannot be written",
            where=[f"{path}: {error.strerror or error}"],
            meaning="What was found out is not on disk, so no verdict is given.",
            next_step="Make room, or name a folder that may be written (--out).",
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that whoever reads sees the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        # mkstemp makes a private file, but later steps of a workflow run as another user.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _line(value: Any, redact: Redact | None) -> bytes:
    text = dump(value)
    # Only where a secret shows in the JSON text is it worth walking the value: replacing in the text could break the JSON.
    if redact is not None and redact(text) != text:
        text = dump(redacted(value, redact))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8 form; escaped, it survives.
        return _ASCII.encode(json.loads(text)).encode()


def dump(value: Any) -> str:
    """`value` as one line of JSON: keys sorted, text readable, numbers that JSON lacks as `encode_cell` has them."""
    try:
        return _READABLE.encode(value)
    except (TypeError, ValueError):
        return _READABLE.encode(_plain(value))


def _plain(value: Any) -> Any:
    """A tree that JSON can hold, from one with numbers that are not finite or keys that are not text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    return encode_cell(value)


def redacted(value: Any, redact: Redact) -> Any:
    """A tree of plain JSON with `redact` applied to its texts, keys included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return dict(_redacted_items(value, redact))
    if isinstance(value, list | tuple):
        return [redacted(each, redact) for each in value]
    return value


def _redacted_items(value: Mapping[Any, Any], redact: Redact) -> Iterator[tuple[str, Any]]:
    for key, each in value.items():
        yield redact(str(key)), redacted(each, redact)
