"""Limits a minute, with a clock that only moves when somebody sleeps."""

from __future__ import annotations

import asyncio
import heapq
from typing import Any

import pytest

from nl2sql_gate.generators.limits import Clock, Limiter, Timetable
from nl2sql_gate.settings import RateLimits


class Simulation:
    """Time for many sleepers: it moves to the next waking when nobody has anything to do."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = 0

    async def sleep(self, seconds: float) -> None:
        self._number += 1
        waking = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now_s + seconds, self._number, waking))
        await waking

    async def run(self, *tasks: Any) -> None:
        waiting = asyncio.gather(*tasks)
        while not waiting.done():
            for _ in range(5):
                await asyncio.sleep(0)
            if self._sleepers and not waiting.done():
                self.now_s, _, waking = heapq.heappop(self._sleepers)
                waking.set_result(None)
        await waiting

    def clock(self) -> Clock:
        return Clock(now=lambda: self.now_s, sleep=self.sleep)


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(1 for time in times if start <= time < start + 60 - 1e-9) for start in times)


@pytest.mark.asyncio
@pytest.mark.parametrize("workers", [1, 10, 64])
@pytest.mark.parametrize("per_minute", [30, 60, 600])
async def test_no_minute_holds_more_requests_than_the_limit(workers: int, per_minute: int) -> None:
    """Ten workers that each sleep a minute's share while they hold a permit would send ten times the limit."""
    simulation = Simulation()
    limiter = Limiter(RateLimits(requests_per_minute=per_minute), simulation.clock())
    sent: list[float] = []

    async def worker() -> None:
        for _ in range(3 * per_minute // workers):
            await limiter.admit(100)
            sent.append(simulation.now_s)

    await simulation.run(*(worker() for _ in range(workers)))
    assert most_in_a_minute(sent) <= per_minute
    assert len(sent) / (max(sent) + 60 / per_minute) == pytest.approx(per_minute / 60, rel=1e-6)


@pytest.mark.asyncio
async def test_whoever_comes_first_is_admitted_first() -> None:
    simulation = Simulation()
    limiter = Limiter(RateLimits(requests_per_minute=60), simulation.clock())
    order: list[int] = []

    async def caller(number: int) -> None:
        await limiter.admit(0)
        order.append(number)

    await simulation.run(*(caller(number) for number in range(20)))
    assert list(range(20)) == order


@pytest.mark.asyncio
async def test_tokens_are_limited_by_what_the_endpoint_counted() -> None:
    """The guess before a call is corrected after it: replies of 900 tokens at 6,000 a minute are one in ten seconds."""
    simulation = Simulation()
    limiter = Limiter(RateLimits(tokens_per_minute=6000), simulation.clock())
    sent: list[float] = []

    async def worker() -> None:
        for _ in range(20):
            booked = await limiter.admit(400)
            sent.append(simulation.now_s)
            limiter.settle(booked, tokens_in=100, tokens_out=900)

    await simulation.run(worker(), worker())
    assert (len(sent) - 1) * 1000 / (sent[-1] - sent[0]) == pytest.approx(100, rel=0.05)


@pytest.mark.asyncio
async def test_unset_limits_never_wait() -> None:
    simulation = Simulation()
    limiter = Limiter(RateLimits(), simulation.clock())
    for _ in range(1000):
        await limiter.admit(10_000)
    assert simulation.now_s == 0


@pytest.mark.asyncio
async def test_a_request_beyond_the_whole_budget_is_sent_and_paid_off() -> None:
    simulation = Simulation()
    limiter = Limiter(RateLimits(tokens_per_minute=100), simulation.clock())
    sent: list[float] = []

    async def worker() -> None:
        for _ in range(2):
            await limiter.admit(0)
            sent.append(simulation.now_s)

    await simulation.run(worker())
    assert sent == [0, 120]


def test_idle_time_is_not_saved_up() -> None:
    simulation = Simulation()
    table = Timetable(60, simulation.clock())
    simulation.now_s = 3600
    assert [table.book() for _ in range(3)] == [0, 1, 2]
