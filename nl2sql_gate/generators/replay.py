"""The generator that answers from recorded replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.generators.recorded import dialects_to_try, read_replies
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model


class Replay:
    """Recorded replies instead of a model. The file is read at once, so a broken one stops the run before anything is started."""

    def __init__(self, model: Model, *, replies: str | None) -> None:
        if replies is None:
            raise SettingsError(
                "the generator 'replay' needs recorded replies",
                meaning="No question was asked.",
                next_step="Set replies: to a file of JSON lines, or pass --replies FILE.",
            )
        self._name = model.name
        self._replies = read_replies(replies)

    async def preflight(self) -> None:
        """Nothing to try: the file is read."""

    async def complete(self, ask: Ask) -> Completion:
        """The recorded reply. Raises `EndpointFault` where there is none: what was never asked is not a wrong answer."""
        dialects = dialects_to_try(ask.key.dialect, ask.dialect)
        found = self._replies.find(ask.key.id, dialects=dialects, database=ask.key.database, trial=ask.key.trial)
        if found is None:
            raise EndpointFault(
                "no recorded reply",
                where=[f"{self._replies.path}: id {ask.key.id!r}, dialect {' or '.join(dialects)}, trial {ask.key.trial}"],
            )
        return found

    async def close(self) -> None:
        """Nothing is held open."""

    def identity(self) -> Mapping[str, Any]:
        """The file's digest stands for the model that wrote it."""
        return {"generator": "replay", "name": self._name, "replies": self._replies.digest}
