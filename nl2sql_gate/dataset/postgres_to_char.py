"""PostgreSQL's `to_char` for dates, so that scripts which use it mean the same in every dialect.

English names, as PostgreSQL has them without the prefix TM. Checked against PostgreSQL 15 for the patterns listed here; what is
none of them is text, as there.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_NAME_WIDTH = 9
_NOON = 12

_NUMBERS: dict[str, tuple[int, Callable[[dt.datetime], int]]] = {
    "HH24": (2, lambda at: at.hour),
    "HH12": (2, lambda at: (at.hour - 1) % 12 + 1),
    "HH": (2, lambda at: (at.hour - 1) % 12 + 1),
    "MI": (2, lambda at: at.minute),
    "SSSSS": (0, lambda at: at.hour * 3600 + at.minute * 60 + at.second),
    "SSSS": (0, lambda at: at.hour * 3600 + at.minute * 60 + at.second),
    "SS": (2, lambda at: at.second),
    "MS": (3, lambda at: at.microsecond // 1000),
    "US": (6, lambda at: at.microsecond),
    "YYYY": (4, lambda at: at.year),
    "YYY": (3, lambda at: at.year % 1000),
    "YY": (2, lambda at: at.year % 100),
    "Y": (1, lambda at: at.year % 10),
    "IYYY": (4, lambda at: at.isocalendar().year),
    "IYY": (3, lambda at: at.isocalendar().year % 1000),
    "IY": (2, lambda at: at.isocalendar().year % 100),
    "IDDD": (3, lambda at: (at.isocalendar().week - 1) * 7 + at.isoweekday()),
    "ID": (1, lambda at: at.isoweekday()),
    "IW": (2, lambda at: at.isocalendar().week),
    "I": (1, lambda at: at.isocalendar().year % 10),
    "MM": (2, lambda at: at.month),
    "DDD": (3, lambda at: at.timetuple().tm_yday),
    "DD": (2, lambda at: at.day),
    "D": (1, lambda at: at.isoweekday() % 7 + 1),
    "WW": (2, lambda at: (at.timetuple().tm_yday - 1) // 7 + 1),
    "W": (1, lambda at: (at.day - 1) // 7 + 1),
    "CC": (2, lambda at: (at.year + 99) // 100),
    "J": (0, lambda at: at.toordinal() + 1721425),
    "Q": (1, lambda at: (at.month + 2) // 3),
}
_NAMES: dict[str, Callable[[dt.datetime], str]] = {
    "MONTH": lambda at: _MONTHS[at.month - 1].ljust(_NAME_WIDTH),
    "MON": lambda at: _MONTHS[at.month - 1][:3],
    "DAY": lambda at: _DAYS[at.isoweekday() % 7].ljust(_NAME_WIDTH),
    "DY": lambda at: _DAYS[at.isoweekday() % 7][:3],
    "RM": lambda at: _ROMAN[at.month - 1].ljust(4),
    "A.M.": lambda at: "A.M." if at.hour < _NOON else "P.M.",
    "P.M.": lambda at: "A.M." if at.hour < _NOON else "P.M.",
    "AM": lambda at: "AM" if at.hour < _NOON else "PM",
    "PM": lambda at: "AM" if at.hour < _NOON else "PM",
}
_CAPITALS = ("Month", "Mon", "Day", "Dy")
_WORDS = sorted({*_NUMBERS, *_NAMES, *map(str.lower, [*_NUMBERS, *_NAMES]), *_CAPITALS, "Y,YYY", "y,yyy"}, key=len, reverse=True)
_PATTERN = re.compile(
    rf'"(?P<text>[^"]*)"|(?P<fill>FM|fm|TM|tm)?(?P<name>{"|".join(map(re.escape, _WORDS))})(?P<th>TH|th)?',
)


def to_char(at: dt.datetime, pattern: str) -> str:
    """`at` as `to_char(at, pattern)` gives it."""

    def replaced(found: re.Match[str]) -> str:
        if found.group("text") is not None:
            return found.group("text")
        name, is_short = found.group("name"), bool(found.group("fill"))
        if name.upper() == "Y,YYY":
            return f"{at.year // 1000},{at.year % 1000:03d}"
        if name.upper() in _NUMBERS:
            width, number = _NUMBERS[name.upper()]
            text = str(number(at)) if is_short else str(number(at)).rjust(width, "0")
            return text + (_ending(number(at), found.group("th")) if found.group("th") else "")
        text = _NAMES[name.upper()](at)
        text = text.lower() if name.islower() else text.upper() if name[:2].isupper() else text
        return text.rstrip() if is_short else text

    return _PATTERN.sub(replaced, pattern)


def _ending(number: int, written: str) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return ending.upper() if written.isupper() else ending
