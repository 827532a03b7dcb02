"""What an endpoint says when it refuses, in its own words, and whose turn it is then.

Providers agree on little: the shapes read here are OpenAI's, Azure's, OpenRouter's, vLLM's, FastAPI's, Google's list, plain text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nl2sql_gate.generators.retries import may_pass

Kind = Literal["content_filter", "context_length", "parameter", "credentials", "transient", "other"]

MOST_WORDS = 300
SHORTEST_SECRET = 4
FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed", "safety"}
)
CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "prompt_too_long"})
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "account_deactivated"})
PARAMETER_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter", "invalid_parameter"})
RATE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "overloaded_error", "server_error"})
FILTER_WORDS = re.compile(
    r"content[ _-](management |policy|filter)|response was filtered|prompt was (flagged|filtered)", re.IGNORECASE
)
CONTEXT_WORDS = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|(prompt|input) is too long|too many (input |prompt )?tokens"
    r"|reduce the length of|exceeds the maximum number of tokens|tokens`? must be <=",
    re.IGNORECASE,
)
PARAMETER_WORDS = re.compile(
    r"unsupported (parameter|value)|unrecognized request argument|unknown (parameter|argument)|extra inputs are not permitted",
    re.IGNORECASE,
)
RATE_WORDS = re.compile(r"rate.?limit|overloaded|too many requests|temporarily|try again|capacity", re.IGNORECASE)
ABOUT_THE_REQUEST = frozenset({400, 413, 422})
ABOUT_THE_CALLER = frozenset({401, 402, 403, 404})


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: HTTP status, or the one that a body of status 200 claims (0 where none), and the provider's words and codes.

    `in_answer` where it came with status 200.
    """

    status: int
    words: str
    codes: frozenset[str] = frozenset()
    param: str = ""
    in_answer: bool = False

    def kind(self, params: Collection[str] = ()) -> Kind:
        """Whose turn it is. `params` are the names of the parameters that were sent: a refusal that names one is about it."""
        if self._is_about_content():
            return "content_filter"
        if self.status in ABOUT_THE_REQUEST or not self.status:
            # Servers complain about max_tokens in the words of a context length; the prompt is not to blame for it.
            if self.param in params or self.codes & PARAMETER_CODES or PARAMETER_WORDS.search(self.words):
                return "parameter"
            if self.codes & CONTEXT_CODES or CONTEXT_WORDS.search(self.words):
                return "context_length"
        if self.status in ABOUT_THE_CALLER or self.codes & QUOTA_CODES:
            return "credentials"
        if may_pass(self.status) or self.codes & RATE_CODES or (not self.status and RATE_WORDS.search(self.words)):
            return "transient"
        return "other"

    def _is_about_content(self) -> bool:
        if self.codes & FILTER_CODES:
            return True
        return self.status in (0, 400, 403, 422) and FILTER_WORDS.search(self.words) is not None

    def __str__(self) -> str:
        """Status and words, as a message shows them."""
        return f"HTTP {self.status}: {self.words}" if self.status else self.words


class Refused(Exception):
    """An endpoint refused one request."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def read_refusal(status: int, body: Any, *, secrets: Collection[str] = ()) -> Refusal:
    """The refusal in a body (parsed JSON, or text); `status` 0 for HTTP 200. Secrets are masked, and it is cut to a line."""
    error = _error_in(body)
    if not isinstance(error, Mapping):
        return Refusal(status, words_of(error, secrets) or "no words", in_answer=not status)
    inner = error.get("innererror")
    metadata = error.get("metadata")
    spoken = [
        error.get("code"),
        error.get("type"),
        error.get("status"),
        inner.get("code") if isinstance(inner, Mapping) else None,
    ]
    codes = {str(code).lower() for code in spoken if isinstance(code, str)}
    if isinstance(metadata, Mapping) and "flagged_input" in metadata:
        codes.add("content_filter")
    spelled = (error[key] for key in ("message", "detail", "error", "msg", "error_message") if error.get(key))
    message = next(spelled, ", ".join(sorted(codes)) or dict(error))
    param = error.get("param")
    return Refusal(
        status or _status_in(error),
        words_of(message, secrets) or "no words",
        frozenset(codes),
        param if isinstance(param, str) else "",
        in_answer=not status,
    )


def words_of(said: Any, secrets: Collection[str] = ()) -> str:
    """`said` as one line of at most 300 characters, without control characters and secrets."""
    text = mask(said if isinstance(said, str) else repr(said) if said is not None else "", secrets)
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= MOST_WORDS else line[: MOST_WORDS - 1] + "…"


def mask(text: str, secrets: Collection[str]) -> str:
    """`text` with each secret shown as `***`."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text


def _error_in(body: Any) -> Any:
    """The part of a body that speaks of the error."""
    if isinstance(body, list) and body:
        return _error_in(body[0])
    if isinstance(body, Mapping):
        for key in ("error", "errors"):
            inner = body.get(key)
            if isinstance(inner, Mapping | list) and inner:
                return _error_in(inner)
    return body


def _status_in(error: Mapping[str, Any]) -> int:
    """The HTTP status that an error in a body of status 200 claims; 0 where it claims none."""
    for key in ("code", "status", "status_code"):
        value = error.get(key)
        number = int(value) if isinstance(value, str) and value.isdecimal() else value
        if isinstance(number, int) and not isinstance(number, bool) and 400 <= number <= 599:  # noqa: PLR2004 - HTTP's own range
            return number
    return 0
