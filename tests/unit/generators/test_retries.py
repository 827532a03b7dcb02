"""Waiting between attempts: full jitter, Retry-After, and the end of patience."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from nl2sql_gate.errors import EndpointFault
from nl2sql_gate.generators.retries import Transient, persist, retry_after_s, wait_s

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize("attempts, ceiling", [(1, 0.5), (2, 1), (3, 2), (6, 16), (7, 30), (1000, 30)])
def test_waits_are_drawn_below_a_ceiling_that_doubles(attempts: int, ceiling: float) -> None:
    assert wait_s(attempts, None, 0.0) == 0
    assert wait_s(attempts, None, 0.5) == ceiling / 2


@pytest.mark.parametrize("asked, least, most", [(0, 0, 0.25), (1, 1, 1.25), (120, 120, 120.25), (86_400, 120, 120.25)])
def test_the_endpoints_time_is_kept_up_to_two_minutes(asked: float, least: float, most: float) -> None:
    assert least == wait_s(1, asked, 0.0)
    assert most >= wait_s(1, asked, 0.999)


@pytest.mark.parametrize(
    "seconds, headers",
    [
        (None, {}),
        (2.0, {"retry-after": "2"}),
        (0.25, {"retry-after-ms": "250", "retry-after": "1"}),
        (90.0, {"retry-after": "Thu, 01 Jan 2026 12:01:30 GMT"}),
        (0.0, {"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}),
        (None, {"retry-after": "soon"}),
        (None, {"retry-after": "-5"}),
        (None, {"retry-after": "inf"}),
        (None, {"retry-after": ""}),
    ],
)
def test_what_retry_after_may_say(seconds: float | None, headers: Mapping[str, str]) -> None:
    assert seconds == retry_after_s(headers, NOW)


class Flaky:
    """Fails a number of times, then answers."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.attempts = 0

    async def __call__(self) -> str:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise Transient(f"failure {self.attempts}")
        return "reply"


@pytest.mark.asyncio
async def test_the_first_reply_ends_the_attempts(fake_time: Any) -> None:
    assert await persist(Flaky(2), retries=5, clock=fake_time.clock()) == ("reply", 3)


@pytest.mark.asyncio
async def test_the_last_words_are_shown(fake_time: Any) -> None:
    flaky = Flaky(9)
    with pytest.raises(EndpointFault, match="no reply after 4 attempts: failure 4"):
        await persist(flaky, retries=3, clock=fake_time.clock())
    assert (flaky.attempts, len(fake_time.slept)) == (4, 3)


@pytest.mark.asyncio
async def test_no_retries_is_one_attempt(fake_time: Any) -> None:
    with pytest.raises(EndpointFault, match="no reply after 1 attempt: failure 1"):
        await persist(Flaky(1), retries=0, clock=fake_time.clock())
    assert fake_time.slept == []
