"""The recorded bug reports about generation: what a scripted endpoint says, and what must come of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.errors import CredentialsError, EndpointFault, SettingsError
from nl2sql_gate.generators.cache import Cached
from nl2sql_gate.generators.openai_chat import OpenAIChat
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model

FINISH_OF = {"truncated": "length", "content_filter": "content_filter"}
PARAMS = {"temperature": 0, "max_tokens": 100}


def cases(shared_data: Path) -> list[dict[str, Any]]:
    lines = (shared_data / "cases" / "public.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == "generate"]


def differences(case: dict[str, Any], said: Completion | Exception, requests: int, slept: list[float]) -> list[str]:
    """What of a case's expectation does not hold."""
    expect = case["expect"].get("second_run", case["expect"])
    wrong = []
    text = str(said) if isinstance(said, Exception) else f"{said.text} {said.finish}"
    if "sql" in expect and not (isinstance(said, Completion) and expect["sql"][0] in said.text):
        wrong.append(f"no {expect['sql']} in {text}")
    if "sql_or_error" in expect and not any(words in text for words in expect["sql_or_error"]):
        wrong.append(f"none of {expect['sql_or_error']} in {text}")
    error = expect.get("error")
    if error in FINISH_OF and not (isinstance(said, Completion) and said.finish == FINISH_OF[error]):
        wrong.append(f"not {error}: {text}")
    if error == "no_sql" and not (isinstance(said, Completion) and not said.text):
        wrong.append(f"not without SQL: {text}")
    if error == "generation_error" and not isinstance(said, EndpointFault):
        wrong.append(f"not a fault: {text}")
    if error == "auth" and not isinstance(said, CredentialsError):
        wrong.append(f"not refused credentials: {text}")
    wrong += [f"{words!r} not mentioned" for words in expect.get("mentions", []) if words not in text]
    most = min(expect.get(key, 99) for key in ("requests", "requests_max", "requests_total_max"))
    if requests > most or requests < expect.get("requests", 0):
        wrong.append(f"{requests} requests")
    if sum(slept) < expect.get("waited_s_min", 0):
        wrong.append(f"waited {slept}")
    return wrong


@pytest.mark.asyncio
async def test_every_reported_bug_stays_fixed(
    shared_data: Path, endpoint: Any, make_ask: Callable[..., Ask], fake_time: Any, tmp_path: Path
) -> None:
    wrong = []
    for case in cases(shared_data):
        config = case.get("config", {})
        endpoint.script = case["api_script"]
        endpoint.bodies.clear()
        fake_time.slept.clear()
        model = Model(base_url=endpoint.url, name="m", params=PARAMS, retries=config.get("max_retries", 5))
        generator = Cached(OpenAIChat(model, clock=fake_time.clock()), tmp_path / case["id"])
        said: Completion | Exception = EndpointFault("never asked")
        for _ in range(config.get("runs", 1)):
            try:
                said = await generator.complete(make_ask())
            except (EndpointFault, CredentialsError, SettingsError) as error:
                said = error
        await generator.close()
        wrong += [f"{case['id']}: {line}" for line in differences(case, said, endpoint.requests, fake_time.slept)]
    assert wrong == []


@pytest.mark.asyncio
async def test_a_wrong_key_is_tried_once_for_all_questions(endpoint: Any, make_ask: Callable[..., Ask]) -> None:
    endpoint.script = [{"status": 401, "json": {"error": {"message": "bad key"}}}]
    generator = OpenAIChat(Model(base_url=endpoint.url, name="m"))
    with pytest.raises(CredentialsError):
        await generator.preflight()
    said = await asyncio.gather(*(generator.complete(make_ask(str(n))) for n in range(20)), return_exceptions=True)
    await generator.close()
    assert {type(error) for error in said} == {CredentialsError}
    assert endpoint.requests == 1
