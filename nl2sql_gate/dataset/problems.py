"""What is wrong with a file, collected while it is read, so that one run shows all of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Place, Warned

MOST_SHOWN = 50
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Problems:
    """Errors and warnings of one file, each with its place, item and field."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.errors: list[str] = []
        self.warnings: list[Warned] = []
        self.attached: dict[str, str] = {}

    def refuse(self, place: Place, subject: str, message: str) -> None:
        """Add an error; reading goes on, `raise_errors` ends it."""
        self.errors.append(printable(f"{place}: {subject}: {message}" if subject else f"{place}: {message}"))

    def warn(self, code: str, place: Place, subject: str, message: str) -> None:
        """Add a warning about `subject`, an item id or a file."""
        self.warnings.append(Warned(code=code, message=printable(message), subject=subject, place=place))

    def attach(self, texts: Mapping[str, str]) -> None:
        """Remember texts of other files that went into the items: they belong to the dataset's digest."""
        self.attached.update(texts)

    def raise_errors(self, *, meaning: str, next_step: str) -> None:
        """Raise one `DatasetError` with all errors, capped; nothing where there are none."""
        if not self.errors:
            return
        count = len(self.errors)
        raise DatasetError(
            f"{self.file} has {count} error{'s' if count > 1 else ''}",
            where=capped(self.errors),
            meaning=meaning,
            next_step=next_step,
        )


def printable(text: str) -> str:
    """`text` on one line: a key or a tag of the file must not forge a line of the log."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def capped(lines: Iterable[str]) -> list[str]:
    """The first 50 lines, and how many more there are."""
    lines = list(lines)
    left = len(lines) - MOST_SHOWN
    return [*lines[:MOST_SHOWN], f"and {left} more"] if left > 0 else lines


def listed(names: Iterable[str], *, most: int = 12) -> str:
    """Names in one line, at most `most` of them."""
    names = [printable(name) for name in names]
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def nearest(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """The known names most like `name`, best first; none where nothing is alike."""
    by_lower: dict[str, str] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), candidate)
    return [by_lower[found] for found in get_close_matches(name.lower(), by_lower, n=most, cutoff=0.6)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)`, or nothing."""
    near = nearest(name, known, most=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
