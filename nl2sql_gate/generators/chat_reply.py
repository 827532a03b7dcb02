"""A chat completion's body as a `Completion`: null content, lists of parts, tool calls, and finish reasons in many spellings."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from nl2sql_gate.generators.refusals import Refused, read_refusal
from nl2sql_gate.generators.stored import encodable
from nl2sql_gate.records import Completion

FINISHES = {
    "": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "safety": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
}
"""A provider's word, in lower case → ours. Others are kept."""
SQL_KEYS = ('"sql"', '"query"', '"sql_query"', '"statement"')


def read_chat_reply(body: Any, *, secrets: Collection[str] = ()) -> Completion:
    """The completion in a body of status 200. Raises `Refused` where the body is an error, or holds no choice."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if (
        not isinstance(body, Mapping)
        or body.get("error")
        or body.get("object") == "error"
        or (not choices and body.get("message"))
    ):
        raise Refused(read_refusal(0, body, secrets=secrets))
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise Refused(read_refusal(0, f"the answer holds no choice with a message: {_as_json(body)}", secrets=secrets))
    if choice.get("error"):
        # OpenRouter reports a provider that failed half-way inside the choice.
        raise Refused(read_refusal(0, choice, secrets=secrets))
    called = _arguments(message)
    text = called if called is not None else _text_of(message.get("content"))
    finish = _finish(choice.get("finish_reason"))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not text.strip():
        text, finish = refusal, "refusal"
    tokens_in, tokens_out = read_usage(body.get("usage"))
    model = body.get("model")
    return Completion(
        text=encodable(text),
        finish=finish,
        model=encodable(model) if isinstance(model, str) else "",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def read_usage(usage: Any) -> tuple[int | None, int | None]:
    """Tokens in and out, or none where the endpoint does not count."""
    if not isinstance(usage, Mapping):
        return None, None
    return _count(usage, "prompt_tokens", "input_tokens"), _count(usage, "completion_tokens", "output_tokens")


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def _finish(reason: Any) -> str:
    word = reason.lower() if isinstance(reason, str) else ""
    return FINISHES.get(word, word)


def _text_of(content: Any) -> str:
    """Content as text. Of parts, those of type text; a thinking part is no answer."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text"):
            value = part.get("text")
            value = value.get("value") if isinstance(value, Mapping) else value
            texts.append(value if isinstance(value, str) else "")
    return "".join(texts)


def _arguments(message: Mapping[str, Any]) -> str | None:
    """The arguments of the tool call that speaks of SQL, else of the first with any, unless there is text beside empty ones."""
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    functions.append(message.get("function_call"))
    arguments = [function.get("arguments") for function in functions if isinstance(function, Mapping)]
    # Some servers send the arguments as an object instead of the text of one.
    texts = [_as_json(argument) if isinstance(argument, Mapping) else argument for argument in arguments]
    written = [text for text in texts if isinstance(text, str) and text.strip()]
    return next((text for text in written if any(key in text.lower() for key in SQL_KEYS)), written[0] if written else None)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
