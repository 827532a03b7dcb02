"""SQL in a JSON reply or in the arguments of a tool call, read leniently."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nl2sql_gate.sqltext.statement_words import starts_statement

_SQL_KEYS = (
    *("sql", "sqlquery", "finalsql", "generatedsql", "finalsqlquery", "sqlstatement", "sqlstatements", "sqlqueries", "sqlcode"),
    *("sqltext", "sqlcommand", "predictedsql", "outputsql", "resultsql", "correctedsql", "sqls", "finalquery", "generatedquery"),
    *("query", "queries", "statement", "statements"),
)
_OTHER_KEYS = (
    "finalanswer",
    "answer",
    "code",
    "output",
    "response",
    "result",
    "completion",
    "content",
    "text",
    "command",
    "value",
)
_CARRIERS = {
    "arguments",
    "args",
    "input",
    "parameters",
    "params",
    "content",
    "functioncall",
    "function",
    "text",
    "output",
    "response",
}
_NAME_ONLY_LETTERS = re.compile(r"[\W_]+", re.ASCII)
_FIELD = re.compile(
    r"[\"'](?P<key>sql|sql_?query|final_?sql|generated_?sql|sql_?statement|query|statement)[\"']\s*+:\s*+"
    r"\"(?P<value>(?:[^\"\\]++|\\.)*+)(?P<end>\"?)",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OBJECT_START = re.compile(r"\{\s*+[\"']")
_MOST_OBJECTS = 5
_MOST_NODES = 20_000
_DEEPEST = 3
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class JsonField:
    """What a JSON reply holds under the key that names SQL; `value` may be empty. `is_closed` where the JSON was complete."""

    key: str
    value: str
    is_closed: bool = True


def sql_field(text: str) -> JsonField | None:
    """The SQL in `text` that is JSON as a whole, or nothing.

    Raw line breaks in strings, a missing end, wrong escapes are forgiven. A text in quotes counts where it begins as SQL does.
    """
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')):
        return None
    try:
        document = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return _by_pattern(stripped)
    if isinstance(document, str):
        return JsonField("string", document) if starts_statement(document) else None
    return _best(document)


def embedded_sql_field(text: str) -> JsonField | None:
    """The SQL in the last JSON object within `text` that holds any."""
    decoder = json.JSONDecoder(strict=False)
    best: JsonField | None = None
    position = 0
    for _ in range(_MOST_OBJECTS):
        found = _OBJECT_START.search(text, position)
        if found is None:
            break
        position = found.end()
        try:
            document, position = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        best = _best(document) or best
    return best or _by_pattern(text)


def _best(document: Any) -> JsonField | None:
    found = [
        (not starts_statement(value), rank, depth, -order, key, value)
        for order, (rank, depth, key, value) in enumerate(_walk(document))
    ]
    if not found:
        return None
    *_, key, value = min(found, key=lambda entry: entry[:4])
    # The name goes into reports, and a reply may call its keys what it likes.
    return JsonField(_NAME_ONLY_LETTERS.sub("_", key)[:_LONGEST_NAME], value)


def _walk(document: Any) -> Iterator[tuple[int, int, str, str]]:
    """All fields that may hold SQL, as (rank of the key, depth, key, value), without recursion."""
    stack: list[tuple[Any, int]] = [(document, 0)]
    unpacked = 0
    for _ in range(_MOST_NODES):
        if not stack:
            return
        node, depth = stack.pop()
        if isinstance(node, list):
            stack.extend((child, depth + 1) for child in reversed(node))
        if not isinstance(node, dict):
            continue
        for key, value in node.items():
            name = _NAME_ONLY_LETTERS.sub("", str(key)).lower()
            text = _as_text(value)
            if name in _SQL_KEYS:
                yield _SQL_KEYS.index(name), depth, str(key), text or ""
            elif text is not None and (name in _OTHER_KEYS or starts_statement(text)) and "{" not in text[:1]:
                yield len(_SQL_KEYS) + (_OTHER_KEYS.index(name) if name in _OTHER_KEYS else 99), depth, str(key), text
            if isinstance(value, str) and name in _CARRIERS and value.lstrip()[:1] in {"{", "["} and unpacked < _DEEPEST:
                unpacked += 1
                value = _loaded(value)  # noqa: PLW2901
            if isinstance(value, dict | list):
                stack.append((value, depth + 1))


def _as_text(value: Any) -> str | None:
    """A text, or a list of texts as a script; `null` is an empty text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return ";\n".join(part.strip().removesuffix(";") for part in value)
    return None


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        field = _by_pattern(text)
        return {field.key: field.value} if field else None


def _by_pattern(text: str) -> JsonField | None:
    """For JSON that no reader accepts: the last string behind a key that names SQL."""
    found = None
    for found in _FIELD.finditer(text):  # noqa: B007
        pass
    if found is None:
        return None
    return JsonField(found.group("key"), _ESCAPE.sub(_unescaped, found.group("value")), is_closed=bool(found.group("end")))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape.group(1)
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)
