"""Refusals in the shapes of many providers: the words that are shown, and whose turn it is."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql_gate.generators.refusals import MOST_WORDS, read_refusal

OPENAI_CONTEXT = {"error": {"message": "too long", "code": "context_length_exceeded", "param": "messages"}}
AZURE_FILTER = {
    "error": {
        "message": "blocked",
        "code": "content_filter",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
        "status": 400,
    }
}
OPENROUTER_FLAGGED = {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"], "flagged_input": "x"}}}
VLLM_TOO_LONG = {
    "object": "error",
    "message": "The prompt is too long for the context window",
    "type": "BadRequestError",
    "code": 400,
}
TGI_TOO_LONG = {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096", "error_type": "validation"}
GOOGLE_LIST = [{"error": {"code": 404, "message": "models/x is not found", "status": "NOT_FOUND"}}]
FASTAPI = {"detail": "Not authenticated"}
QUOTA = {"error": {"message": "no money", "type": "insufficient_quota", "code": "insufficient_quota"}}
BEDROCK_THROTTLE = {"message": "Too many tokens, please wait before trying again."}
DROP = {"error": {"message": "litellm.UnsupportedParamsError: unknown parameter: 'seed'"}}


@pytest.mark.parametrize(
    "kind, status, body",
    [
        ("context_length", 400, OPENAI_CONTEXT),
        ("context_length", 400, VLLM_TOO_LONG),
        ("context_length", 422, TGI_TOO_LONG),
        ("content_filter", 400, AZURE_FILTER),
        ("content_filter", 403, OPENROUTER_FLAGGED),
        ("content_filter", 400, {"error": {"message": "The response was filtered by the content management policy"}}),
        ("credentials", 401, FASTAPI),
        ("credentials", 404, GOOGLE_LIST),
        ("credentials", 402, {"error": {"message": "Insufficient credits"}}),
        ("credentials", 429, QUOTA),
        ("parameter", 400, DROP),
        ("parameter", 400, {"error": {"message": "not allowed here", "param": "seed"}}),
        ("transient", 429, {"error": {"message": "context window of requests is full"}}),
        ("transient", 429, BEDROCK_THROTTLE),
        ("transient", 500, {"error": {"message": "content_filter service is down"}}),
        ("transient", 529, {"error": {"message": "overloaded"}}),
        ("transient", 408, ""),
        ("transient", 0, {"error": {"message": "rate limit exceeded"}}),
        ("transient", 0, {"error": {"message": "model overloaded", "code": 429}}),
        ("transient", 0, {"error": {"message": "busy", "code": "503"}}),
        ("other", 0, {"error": {"message": "something else"}}),
        ("other", 400, {"error": {"message": "invalid JSON"}}),
        ("other", 413, "<html>Request Entity Too Large</html>"),
    ],
)
def test_whose_turn_it_is(kind: str, status: int, body: Any) -> None:
    assert kind == read_refusal(status, body).kind(["seed"])


@pytest.mark.parametrize(
    "shown, status, body",
    [
        ("HTTP 401: Not authenticated", 401, FASTAPI),
        ("HTTP 404: models/x is not found", 404, GOOGLE_LIST),
        ("HTTP 429: model overloaded", 0, {"error": {"message": "model overloaded", "code": 429}}),
        ("HTTP 502: no words", 502, ""),
        ("HTTP 500: no words", 500, None),
        ("HTTP 503: up [31m stream", 503, "up\n\x1b[31m stream\r\n"),
        ("HTTP 400: must be text", 400, {"errors": [{"message": "must be text"}]}),
        ("HTTP 400: {'a': 1}", 400, {"a": 1}),
        ("HTTP 400: server_error", 400, {"error": {"message": "", "code": "server_error"}}),
    ],
)
def test_the_providers_words(shown: str, status: int, body: Any) -> None:
    assert shown == str(read_refusal(status, body))


def test_words_are_cut_to_a_line() -> None:
    words = read_refusal(500, "x" * 10_000).words
    assert (len(words), words[-1]) == (MOST_WORDS, "…")


def test_secrets_are_masked_before_the_cut() -> None:
    """Half a key at the end of a cut line would still be half a key."""
    secret = "sk-" + "s" * 40
    words = read_refusal(401, "x" * (MOST_WORDS - 10) + secret, secrets=[secret]).words
    assert "sk-" not in words


def test_a_secret_of_two_letters_does_not_blacken_the_message() -> None:
    assert read_refusal(401, "no", secrets=["no"]).words == "no"
