"""A clock that stands still for one SQLite connection, so that two sides of a case see the same moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

_KEYWORDS = {"current_timestamp": "datetime", "current_date": "date", "current_time": "time"}
_FUNCTIONS = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Function → the place of its moment among the arguments."""


class Clock:
    """The clock of one connection: the machine's until a moment is set.

    SQLite has no setting for it, so its date functions are overridden, each by the real one of another connection with the moment
    in the place of `now`. They are registered as deterministic, which a clock that stands still is: schemas may index by them.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._calculator = sqlite3.connect(":memory:", check_same_thread=False)
        self._moment = "now"
        for keyword, name in _KEYWORDS.items():
            connection.create_function(keyword, 0, self._fixed(name), deterministic=True)
        for name, place in _FUNCTIONS.items():
            connection.create_function(name, -1, self._replacing(name, place), deterministic=True)

    def set(self, instant: datetime | None) -> None:
        """Stand still at `instant`; with `None` run again."""
        self._moment = "now" if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:23]

    def close(self) -> None:
        """Release the other connection; the functions cannot be called any more."""
        self._calculator.close()

    def _fixed(self, name: str) -> Callable[[], Any]:
        return lambda: self._calculator.execute(f"SELECT {name}(?)", (self._moment,)).fetchone()[0]

    def _replacing(self, name: str, place: int) -> Callable[..., Any]:
        def function(*arguments: Any) -> Any:
            given = list(arguments)
            if len(given) == place:
                given.append(self._moment)
            elif len(given) > place and isinstance(given[place], str) and given[place].strip().lower() == "now":
                given[place] = self._moment
            marks = ", ".join("?" * len(given))
            return self._calculator.execute(f"SELECT {name}({marks})", given).fetchone()[0]

        return function
