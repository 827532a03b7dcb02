"""A generator that has no credentials: it gives what is recorded, and asks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nl2sql_gate.errors import EndpointFault
from nl2sql_gate.protocols import Generator
from nl2sql_gate.records import Ask, Completion


class Offline:
    """Stands in for `inner`, whose identity and address it keeps, so that a cache around it finds what was kept for `inner`.

    `recorded` gives recorded replies, where there are any. What is neither cached nor recorded is a fault, in `words`.
    """

    def __init__(self, inner: Generator, *, recorded: Generator | None, words: str) -> None:
        self._inner = inner
        self._recorded = recorded
        self._words = words

    async def preflight(self) -> None:
        """Nothing to try."""

    async def complete(self, ask: Ask) -> Completion:
        """The recorded reply. Raises `EndpointFault` where there is none."""
        if self._recorded is not None:
            return await self._recorded.complete(ask)
        raise EndpointFault("no cached reply, and nothing was asked", where=[self._words])

    async def close(self) -> None:
        """Release what both hold."""
        await self._inner.close()
        if self._recorded is not None:
            await self._recorded.close()

    def identity(self) -> Mapping[str, Any]:
        """The identity of the generator that would be asked."""
        return self._inner.identity()

    @property
    def address(self) -> str:
        """The address that would be asked."""
        return str(getattr(self._inner, "address", ""))
