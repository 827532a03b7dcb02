"""`CHANGELOG.md`: the section of a version, and what a release does to the text."""

from __future__ import annotations

import re

UNRELEASED = "## Unreleased"
_HEADING = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)


def released(text: str, version: str, date: str) -> str:
    """The text in which what was unreleased belongs to `version`. Raises `ValueError` where nothing was, or it is there."""
    if section(text, version, default=""):
        message = f"CHANGELOG.md has a section {version} already"
        raise ValueError(message)
    if not section(text, "Unreleased", default=""):
        message = "CHANGELOG.md says nothing under Unreleased: a release that nobody notices is none"
        raise ValueError(message)
    return text.replace(UNRELEASED, f"## {version}, {date}", 1)


def reopened(text: str) -> str:
    """The text with an empty place for what comes next, above the newest version."""
    if UNRELEASED in text:
        return text
    newest = _HEADING.search(text)
    if newest is None:
        return f"{text.rstrip()}\n\n{UNRELEASED}\n"
    return f"{text[: newest.start()]}{UNRELEASED}\n\n{text[newest.start() :]}"


def section(text: str, title: str, *, default: str | None = None) -> str:
    """What stands under the heading `title`, or `title, DATE`. Raises `ValueError` where there is no such section."""
    headings = list(_HEADING.finditer(text))
    for place, heading in enumerate(headings):
        if heading["title"].partition(",")[0].strip() == title:
            end = headings[place + 1].start() if place + 1 < len(headings) else len(text)
            return text[heading.end() : end].strip()
    if default is not None:
        return default
    message = f"CHANGELOG.md has no section {title}"
    raise ValueError(message)
