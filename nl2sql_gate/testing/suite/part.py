"""What all parts of the contract share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from nl2sql_gate.testing.bench import Bench
from nl2sql_gate.testing.under_test import EngineUnderTest

Test = TypeVar("Test", bound=Callable[..., None])
_NEEDS = "_nl2sql_gate_needs"


class Part:
    """A part of the contract. `engines` are those that it is about."""

    engines: Sequence[EngineUnderTest] = ()

    @pytest.fixture
    def stock(self, bench: Bench) -> Any:
        """Three articles, and a log of one line."""
        return bench.stock()

    @pytest.fixture
    def target(self, bench: Bench) -> Any:
        """What hostile SQL attacks."""
        return bench.target()


def needs(trait: str) -> Callable[[Test], Test]:
    """Leaves a test out for engines that lack the trait."""

    def marked(test: Test) -> Test:
        setattr(test, _NEEDS, trait)
        return test

    return marked


def needed(test: object) -> str:
    """The trait that a test needs; empty where it needs none."""
    return str(getattr(test, _NEEDS, ""))
