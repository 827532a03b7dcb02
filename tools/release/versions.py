"""Versions and the tags that follow from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_VERSION = re.compile(r"(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)\.(?P<patch>0|[1-9]\d*)(?:(?P<kind>a|b|rc)(?P<number>\d+))?")
_KINDS = {"a": 0, "b": 1, "rc": 2, None: 3}


@dataclass(frozen=True, slots=True)
class Version:
    """A version as PyPI writes it: `1.2.3`, `1.3.0rc1`."""

    text: str
    parts: tuple[int, int, int]
    is_final: bool
    order: tuple[int, ...]

    @property
    def tag(self) -> str:
        """The tag of exactly this version."""
        return f"v{self.text}"

    @property
    def moving_tags(self) -> tuple[str, ...]:
        """Tags that move to this version: `v1.2` and `v1`; none for a preview, which nobody must get unasked."""
        if not self.is_final:
            return ()
        major, minor, _ = self.parts
        # Below 1.0 a minor version may break what the one before promised, so there is no v0 to follow.
        return (f"v{major}.{minor}", f"v{major}") if major else (f"v{major}.{minor}",)


def parse(text: str) -> Version:
    """The version that `1.2.3` or `v1.2.3` names. Raises `ValueError`."""
    match = _VERSION.fullmatch(text.removeprefix("v"))
    if match is None:
        message = f"{text!r} is no version: write 1.2.3, or 1.2.3rc1 for a preview"
        raise ValueError(message)
    parts = (int(match["major"]), int(match["minor"]), int(match["patch"]))
    order = (*parts, _KINDS[match["kind"]], int(match["number"] or 0))
    return Version(match[0], parts, match["kind"] is None, order)


def may_move(tag: str, version: Version, existing: Iterable[str]) -> bool:
    """Whether `tag` may move to `version`: no newer final version of its line exists."""
    line = tag + "."
    others = []
    for each in existing:
        try:
            other = parse(each)
        except ValueError:
            continue
        if other.is_final and f"{each}.".startswith(line):
            others.append(other.order)
    return all(order <= version.order for order in others)


def image_tags(version: Version) -> tuple[str, ...]:
    """The tags of the image: the version, and what moves to it, without the v."""
    return (version.text, *(tag.removeprefix("v") for tag in version.moving_tags))
