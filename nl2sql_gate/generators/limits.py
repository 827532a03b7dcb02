"""Requests and tokens a minute: callers are admitted in the order in which they come, evenly spaced, never in a burst.

Each caller books its place on a timetable before it sleeps. So nobody overtakes, a late wake-up costs no throughput, and any 60
seconds hold at most as many requests as the limit says.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nl2sql_gate.settings import RateLimits

MINUTE_S = 60.0
FIRST_GUESS_TOKENS_OUT = 200.0
CHARACTERS_PER_TOKEN = 4.0
WEIGHT_OF_NEWEST = 0.2


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, waiting and chance, as one thing to pass in."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    draw: Callable[[], float] = random.random


SYSTEM_CLOCK = Clock()


class Timetable:
    """Places for `per_minute` units a minute."""

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._seconds_per_unit = MINUTE_S / per_minute
        self._clock = clock
        self._free_from = clock.now()

    def book(self, units: float = 1.0) -> float:
        """Take the next place for `units`; returns the seconds to wait for it. Time that nobody used is not saved up."""
        now = self._clock.now()
        start = max(now, self._free_from)
        self._free_from = start + units * self._seconds_per_unit
        return start - now

    def correct(self, units: float) -> None:
        """Book `units` more for what has already begun; fewer, where they are negative."""
        self._free_from += units * self._seconds_per_unit


class Limiter:
    """Both limits of the settings; where one is not set it costs nothing."""

    def __init__(self, limits: RateLimits, clock: Clock) -> None:
        self._clock = clock
        self._requests = Timetable(limits.requests_per_minute, clock) if limits.requests_per_minute else None
        self._tokens = Timetable(limits.tokens_per_minute, clock) if limits.tokens_per_minute else None
        self._usual_tokens_out = FIRST_GUESS_TOKENS_OUT

    async def admit(self, characters: int) -> float:
        """Wait until a prompt of this many characters may be sent; returns the tokens that were booked for it."""
        expected = characters / CHARACTERS_PER_TOKEN + self._usual_tokens_out
        waits = (
            self._requests.book() if self._requests else 0.0,
            self._tokens.book(expected) if self._tokens else 0.0,
        )
        if max(waits) > 0:
            await self._clock.sleep(max(waits))
        return expected

    def settle(self, booked: float, *, tokens_in: int | None, tokens_out: int | None) -> None:
        """Correct the booking by what the endpoint counted; where it does not say, the guess stands."""
        if self._tokens is None or tokens_in is None or tokens_out is None:
            return
        self._tokens.correct(tokens_in + tokens_out - booked)
        self._usual_tokens_out += WEIGHT_OF_NEWEST * (tokens_out - self._usual_tokens_out)
