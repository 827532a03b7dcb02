"""Small JSON paths: `data.sql`, `choices[0].message.content`, `$.rows[-1]['generated sql']`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Path = tuple[str | int, ...]

STEP = re.compile(r"""\.?(?P<name>[^.\[\]'"\s]+)|\[(?P<index>-?\d+)\]|\[(?P<quote>['"])(?P<key>.*?)(?P=quote)\]""")


def parse_path(text: str) -> Path:
    """The steps of a path: names and indices. Raises `ValueError` that says where it stops being one."""
    steps: list[str | int] = []
    position = 1 if text.startswith("$") else 0
    while position < len(text):
        step = STEP.match(text, position)
        needs_dot = bool(steps) or position == 1
        if step is None or (step["name"] is not None and needs_dot != text[position : position + 1].startswith(".")):
            message = f"column {position + 1} of {text!r} is neither .name, [number] nor ['key']"
            raise ValueError(message)
        if step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            steps.append(step["name"] if step["name"] is not None else step["key"])
        position = step.end()
    if not steps:
        message = "the path is empty"
        raise ValueError(message)
    return tuple(steps)


def pick(document: Any, path: Path) -> Any:
    """What stands at a path. Raises `LookupError` that names the first step that leads nowhere."""
    here = document
    for number, step in enumerate(path):
        try:
            if isinstance(step, int) and not isinstance(here, list):
                raise KeyError(step)  # noqa: TRY301 - the same answer as for an index beyond the list
            if isinstance(step, str) and not isinstance(here, Mapping):
                raise KeyError(step)  # noqa: TRY301 - likewise
            here = here[step]
        except (KeyError, IndexError) as error:
            message = f"nothing stands at {_shown(path[: number + 1])}"
            raise LookupError(message) from error
    return here


def _shown(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
