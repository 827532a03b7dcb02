"""Limits of the platform, and text that keeps them. Sizes are UTF-8 bytes: the platform counts those, or fewer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

SUMMARY_HARD_BYTES = 1024 * 1024
"""A step summary of one byte more is dropped whole, and the step stays green."""

SUMMARY_BYTES = 900 * 1024
COMMENT_BYTES = 60_000
"""GitHub takes 65,536 characters; it does not document whether it counts characters or bytes."""

CHECK_SUMMARY_BYTES = 60_000
CHECK_ANNOTATIONS = 50
"""Annotations in one request of the check-run API."""

COMMAND_ANNOTATIONS = 10
"""Annotations of one type that one step may show."""

ANNOTATION_CHARACTERS = 4096

Level = TypeVar("Level")


def size(text: str) -> int:
    """UTF-8 bytes of `text`."""
    return len(text.encode("utf-8", "surrogatepass"))


def first_that_fits(levels: Iterable[Level], render: Callable[[Level], str], *, max_bytes: int) -> tuple[str, Level]:
    """The rendering of the first level that is small enough, with that level; the last one whatever its size.

    Levels go from the most to the least. Whole renderings are tried, so that no tag, row or character is cut in two.
    """
    text, chosen = "", None
    for level in levels:
        text, chosen = render(level), level
        if size(text) <= max_bytes:
            break
    if chosen is None:
        message = "there are no levels to choose from"
        raise ValueError(message)
    return text, chosen


def shortened(text: str, characters: int) -> str:
    """`text`, or its beginning with an ellipsis, at most `characters` long."""
    return text if len(text) <= characters else f"{text[: characters - 1].rstrip()}…"


def shortened_lines(text: str, *, lines: int, width: int) -> str:
    """At most `lines` lines of at most `width` characters; what is left out is said in a last line."""
    given = text.splitlines() or [""]
    kept = [shortened(line, width) for line in given[:lines]]
    if len(given) > lines:
        kept.append(f"… {len(given) - lines} more lines")
    return "\n".join(kept)
