"""GitHub's stand-in, a client of it, and a way to make it fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nl2sql_gate.github.client import Client

from github_standin import REPOSITORY, TOKEN, Fault, GitHub, described, github_at_hand

__all__ = ["described", "github_at_hand"]


@pytest.fixture
def waits() -> list[float]:
    """Seconds that the client wanted to wait."""
    return []


@pytest.fixture
def client(github: GitHub, waits: list[float]) -> Iterator[Client]:
    """A client of the stand-in that notes its waits and goes on at once."""
    made = Client(REPOSITORY, TOKEN, api_url=github.url, wait=waits.append)
    yield made
    made.close()


@pytest.fixture
def faults(github: GitHub) -> Callable[..., None]:
    """Make GitHub fail."""

    def add(method: str, path: str, status: int, **more: Any) -> None:
        github.faults.append(Fault(method, path, status, **more))

    return add
