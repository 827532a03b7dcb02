"""Which image `action.yml` runs: built from the branch's Dockerfile, or the prebuilt one of a release."""

from __future__ import annotations

import re

BRANCH = "Dockerfile"
_IMAGE = re.compile(r"^(?P<start>  image: ).*$", re.MULTILINE)


def pinned(action: str, image: str) -> str:
    """The text of `action.yml` with the prebuilt `image`."""
    return _with(action, f"docker://{image}")


def unpinned(action: str) -> str:
    """The text of `action.yml` as a branch has it."""
    return _with(action, BRANCH)


def image_of(action: str) -> str:
    """What stands under `runs.image`."""
    return _line(action).removeprefix("  image: ")


def _with(action: str, image: str) -> str:
    _line(action)
    return _IMAGE.sub(lambda match: match["start"] + image, action)


def _line(action: str) -> str:
    found = [match[0] for match in _IMAGE.finditer(action)]
    if len(found) != 1:
        message = f"action.yml has {len(found)} lines with runs.image"
        raise ValueError(message)
    return found[0]
