"""Trying again after what may pass: 429, 5xx, connections that break, time-outs."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from nl2sql_gate.errors import EndpointFault
from nl2sql_gate.generators.limits import Clock

FIRST_WAIT_S = 0.5
MOST_WAIT_S = 30.0
MOST_RETRY_AFTER_S = 120.0
SPREAD_S = 0.25
RETRIES_WHERE_NOTHING_LISTENS = 2
"""In a preflight: an endpoint may still be starting, but most often the address is wrong."""
TRANSIENT = frozenset({408, 409, 425, 429})
SERVER_ERRORS = 500

Reply = TypeVar("Reply")


class Transient(Exception):
    """One attempt failed in a way that may pass. `unreachable` where nothing listened at the address."""

    def __init__(self, words: str, *, retry_after_s: float | None = None, unreachable: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.retry_after_s = retry_after_s
        self.unreachable = unreachable


def may_pass(status: int) -> bool:
    """Whether another attempt may succeed after this HTTP status."""
    return status in TRANSIENT or status >= SERVER_ERRORS


async def persist(attempt: Callable[[], Awaitable[Reply]], *, retries: int, clock: Clock) -> tuple[Reply, int]:
    """The reply of the first attempt that succeeds, and how many it took.

    Raises `EndpointFault` with the provider's last words after `retries` more attempts; its cause is the last `Transient`.
    """
    attempts = 0
    while True:
        attempts += 1
        try:
            return await attempt(), attempts
        except Transient as error:
            if attempts > retries:
                times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
                raise EndpointFault(f"no reply after {times}: {error.words}") from error
            await clock.sleep(wait_s(attempts, error.retry_after_s, clock.draw()))


def wait_s(attempts: int, retry_after_s: float | None, drawn: float) -> float:
    """Seconds before the next attempt, `drawn` in [0, 1).

    Full jitter on a ceiling that doubles; where the endpoint names a time, that time (at most two minutes) and a little more,
    so that callers turned away together do not come back together.
    """
    if retry_after_s is not None:
        return min(retry_after_s, MOST_RETRY_AFTER_S) + drawn * SPREAD_S
    return drawn * min(MOST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(attempts - 1, 30))


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that an endpoint asks to wait, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date), or none."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
