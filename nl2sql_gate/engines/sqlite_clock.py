"""A clock that stands still for one SQLite connection, so that two sides of a case see the same moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

_KEYWORDS = {"current_timestamp": "datetime", "current_date": "date", "current_time": "time"}
_FUNCTIONS = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Function → the place of its moment among the arguments."""


def set_clock(connection: sqlite3.Connection, instant: datetime | None) -> None:
    """Let `now` be `instant` on this connection; `None` gives it the machine's clock back.

    SQLite has no setting for it, so its date functions are overridden, each by the real one of another connection with the moment
    in the place of `now`. They are registered as deterministic, which a clock that stands still is: schemas may index by them.
    """
    calculator = None if instant is None else sqlite3.connect(":memory:", check_same_thread=False)
    moment = "" if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:23]
    for keyword, name in _KEYWORDS.items():
        connection.create_function(keyword, 0, calculator and _fixed(calculator, name, moment), deterministic=True)
    for name, place in _FUNCTIONS.items():
        connection.create_function(name, -1, calculator and _replacing(calculator, name, moment, place), deterministic=True)


def _fixed(calculator: sqlite3.Connection, name: str, moment: str) -> Callable[[], Any]:
    value = calculator.execute(f"SELECT {name}(?)", (moment,)).fetchone()[0]
    return lambda: value


def _replacing(calculator: sqlite3.Connection, name: str, moment: str, place: int) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        given = list(arguments)
        if len(given) == place:
            given.append(moment)
        elif len(given) > place and isinstance(given[place], str) and given[place].strip().lower() == "now":
            given[place] = moment
        marks = ", ".join("?" * len(given))
        return calculator.execute(f"SELECT {name}({marks})", given).fetchone()[0]

    return function
