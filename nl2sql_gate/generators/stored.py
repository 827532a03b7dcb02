"""Completions as JSON objects, and the digest of what was asked: what replies files, the cache and the journal have in common."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from nl2sql_gate.protocols import Generator
from nl2sql_gate.records import Ask, Completion


def request_digest(generator: Generator, ask: Ask) -> str:
    """sha256 over everything that may shape the reply: the model's identity, the prompt, the item's parts, the trial.

    The service's name and the case's DSN are not in it: they change from machine to machine. The endpoint's address is, where the
    generator tells it (`address`): a preview and the product often serve a model of the same name.
    """
    asked = {
        "identity": dict(generator.identity()),
        "address": getattr(generator, "address", ""),
        "messages": [list(message) for message in ask.prompt.messages],
        "id": ask.key.id,
        "question": ask.item.question,
        "evidence": ask.item.evidence,
        "database": ask.key.database,
        "dialect": ask.dialect,
        "schema": ask.schema.ddl,
        "trial": ask.key.trial,
    }
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return sha256(text.encode("ascii")).hexdigest()


def object_of(completion: Completion) -> dict[str, Any]:
    """A completion as plain JSON; what is unknown is left out."""
    entry: dict[str, Any] = {"reply": completion.text, "finish": completion.finish}
    for name in ("model", "tokens_in", "tokens_out", "cost", "latency_s"):
        value = getattr(completion, name)
        if value not in (None, ""):
            entry[name] = value
    return entry


def completion_of(entry: Mapping[str, Any]) -> Completion:
    """The completion that an object describes, marked as replayed. Raises `ValueError` that names the field at fault."""
    return Completion(
        text=_text(entry, "reply"),
        finish=_text(entry, "finish") or "stop",
        model=_text(entry, "model"),
        tokens_in=_count(entry, "tokens_in"),
        tokens_out=_count(entry, "tokens_out"),
        cost=_amount(entry, "cost"),
        latency_s=_amount(entry, "latency_s"),
        replayed=True,
    )


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced, so that it can be written: JSON lets a model send halves of characters."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        message = f"{name!r} must be text"
        raise ValueError(message)  # noqa: TRY004 - a fault of the file, caught with the others
    return encodable(value)


def _count(entry: Mapping[str, Any], name: str) -> int | None:
    value = entry.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{name!r} must be a count"
        raise ValueError(message)
    return value


def _amount(entry: Mapping[str, Any], name: str) -> float | None:
    value = entry.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        message = f"{name!r} must be a number of at least 0"
        raise ValueError(message)
    return float(value)
