"""Extensions by name, through entry points; the built-ins are found the same way."""

from __future__ import annotations

import difflib
from importlib.metadata import entry_points
from typing import Any

from nl2sql_gate.errors import SettingsError

GROUPS = {
    "engine": "nl2sql_gate.engines",
    "generator": "nl2sql_gate.generators",
    "scorer": "nl2sql_gate.scorers",
    "baseline store": "nl2sql_gate.baselines",
    "reporter": "nl2sql_gate.reporters",
    "embedding": "nl2sql_gate.embeddings",
}


def names(kind: str) -> tuple[str, ...]:
    """Names of all installed extensions of a kind, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=GROUPS[kind])}))


def load(kind: str, name: str) -> Any:
    """The extension called `name`. Raises `SettingsError` naming the nearest ones, or why its import failed."""
    found = [point for point in entry_points(group=GROUPS[kind]) if point.name == name]
    if not found:
        known = names(kind)
        near = difflib.get_close_matches(name, known, n=1)
        raise SettingsError(
            f"there is no {kind} called {name!r}",
            where=[f"known: {', '.join(known) or 'none'}"],
            meaning="The run did not start.",
            next_step=f"Did you mean {near[0]!r}?" if near else "Correct the name, or install the package that brings it.",
        )
    try:
        return found[0].load()
    except ImportError as error:
        raise SettingsError(
            f"the {kind} {name!r} cannot be loaded",
            where=[f"{found[0].value}: {error}"],
            meaning="A package that it needs is not installed here.",
            next_step=f"Install it, for example: pip install 'nl2sql-gate[{name}]'",
        ) from error
