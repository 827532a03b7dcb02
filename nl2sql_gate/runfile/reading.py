"""Run and baseline files read back, with a message for everything that people put in their place."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nl2sql_gate.errors import BaselineError
from nl2sql_gate.records import Run

if TYPE_CHECKING:
    from pydantic import ValidationError

MAX_BYTES = 128 * 1024 * 1024
"""Larger files are refused unread: parsed, they would need many times their size."""

SHOWN_PROBLEMS = 3

_FORMAT = re.compile(r"nl2sql-gate/([a-z]+)/v(\d+)(?:\.\d+)?")
_MAKE_ONE = "Name a run.json or baseline.json of nl2sql-gate; `nl2sql-gate bless` writes one from a finished run."


def read_run(source: Path | str | bytes, *, name: str = "", max_bytes: int = MAX_BYTES) -> Run:
    """The run in a run file or baseline file, given as a path or as its content; `name` is how messages call the content.

    Unknown keys are ignored. Raises `BaselineError` where it is absent, too large, of another kind, damaged or of a newer major.
    """
    if isinstance(source, bytes):
        shown, content = name or "the content", source
    else:
        shown, content = str(source), _load(Path(source), max_bytes)
    if len(content) > max_bytes:
        _refuse_size(shown, len(content), max_bytes)
    tree = _parse(content, shown)
    _check_format(tree, shown)
    return _build(tree, shown)


def _load(path: Path, max_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > max_bytes:
            _refuse_size(str(path), size, max_bytes)
        return path.read_bytes()
    except FileNotFoundError as error:
        _refuse(str(path), "there is no such file", what="the baseline is absent", cause=error)
    except OSError as error:
        _refuse(str(path), error.strerror or str(error), cause=error)


def _parse(content: bytes, shown: str) -> dict[str, Any]:
    _refuse_other_kinds(content, shown)
    try:
        tree = json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        _refuse(shown, f"byte {error.start} is no UTF-8: this is not a text file", cause=error)
    except json.JSONDecodeError as error:
        detail = f"line {error.lineno}, column {error.colno}: {error.msg}"
        _refuse(shown, detail if error.lineno > 1 or error.colno > 1 else f"{detail}: this is not JSON", cause=error)
    except RecursionError as error:
        _refuse(shown, "it is nested too deeply", cause=error)
    except ValueError as error:
        _refuse(shown, str(error), cause=error)
    if not isinstance(tree, dict):
        _refuse(shown, f"it holds a JSON {_kind(tree)}, where a run is an object")
    return tree


def _refuse_other_kinds(content: bytes, shown: str) -> None:
    start = content[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        _refuse(shown, "it is empty")
    if b"<<<<<<< " in content[:100_000] and b"\n>>>>>>> " in content:
        _refuse(
            shown,
            "it holds conflict markers of an unfinished merge",
            next_step="Resolve the merge: take one side's file whole.",
        )
    if start.startswith(b"version https://git-lfs"):
        _refuse(
            shown,
            "it is a Git LFS pointer, the content was not checked out",
            next_step="Check out with `lfs: true`, or keep the baseline out of Git LFS.",
        )
    for magic, kind in _OTHER_KINDS:
        if start.lower().startswith(magic):
            _refuse(shown, f"it is {kind}")
    if b"\0" in content[:4096]:
        _refuse(shown, "it is a binary file")


_OTHER_KINDS = (
    (b"pk\x03\x04", "a zip archive; an artifact must be unpacked first"),
    (b"\x1f\x8b", "a gzip archive; it must be unpacked first"),
    (b"(\xb5/\xfd", "a zstd archive; it must be unpacked first"),
    (b"<?xml", "an XML document; a web page for signing in looks like this"),
    (b"<", "an HTML page; a web page for signing in looks like this"),
)


def _check_format(tree: dict[str, Any], shown: str) -> None:
    given = tree.get("format")
    match = _FORMAT.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        has = "it has no key `format`" if given is None else f"its format is {str(given)[:80]!r}"
        _refuse(shown, f"{has}: this is no file of nl2sql-gate")
    kind, major = match[1], int(match[2])
    if kind not in {"run", "baseline"}:
        _refuse(shown, f"it is a {kind} file ({given}), which does not hold what a comparison needs")
    if major != 1:
        newer = major > 1
        _refuse(
            shown,
            f"its format is {given}, this release reads nl2sql-gate/{kind}/v1",
            what="the baseline was written by a newer release" if newer else "the baseline's format is unknown",
            next_step="Use that release here too, or bless a run of this release." if newer else _MAKE_ONE,
        )


def _build(tree: dict[str, Any], shown: str) -> Run:
    # Only here: pydantic takes longer to import than all the rest of this module.
    from pydantic import ValidationError

    from nl2sql_gate.runfile.format import RunFile
    from nl2sql_gate.runfile.restoring import restore_run

    try:
        run = restore_run(RunFile.model_validate(tree))
    except ValidationError as error:
        _refuse(shown, *_problems(error), cause=error)
    except ValueError as error:
        _refuse(shown, str(error), cause=error)
    twice = [key for key, count in Counter(case.key for case in run.cases).items() if count > 1]
    if twice:
        more = f" and {len(twice) - 1} more" if len(twice) > 1 else ""
        key = twice[0]
        _refuse(shown, f"it holds the case {key.id!r} ({key.dialect}, {key.database}, trial {key.trial}) twice{more}")
    return run


def _problems(error: ValidationError) -> list[str]:
    problems = error.errors(include_url=False, include_input=False)
    lines = [f"{_location(problem['loc'])}: {problem['msg']}" for problem in problems[:SHOWN_PROBLEMS]]
    rest = len(problems) - len(lines)
    return [*lines, f"and {rest} more"] if rest else lines


def _location(parts: tuple[str | int, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.removeprefix(".") or "the whole"


def _no_constant(text: str) -> NoReturn:
    message = f"it holds {text}, which is not JSON"
    raise ValueError(message)


def _kind(tree: Any) -> str:
    return {list: "array", str: "string", type(None): "null", bool: "boolean"}.get(type(tree), "number")


def _refuse_size(shown: str, size: int, limit: int) -> NoReturn:
    _refuse(
        shown,
        f"it has {size / 1e6:.0f} MB, the limit is {limit / 1e6:.0f} MB",
        next_step="Use the baseline.json of that run: it holds no replies and no rows. Or split the dataset into several gates.",
    )


def _refuse(
    shown: str,
    *details: str,
    what: str = "the baseline cannot be read",
    next_step: str = _MAKE_ONE,
    cause: Exception | None = None,
) -> NoReturn:
    raise BaselineError(
        what,
        where=[shown, *details],
        meaning="There is nothing to compare with: a regression would not be seen.",
        next_step=next_step,
    ) from cause
