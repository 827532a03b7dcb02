"""The scorers of a run, by the names under `metrics` and the options under `scorers`."""

from __future__ import annotations

from typing import Any

from nl2sql_gate import plugins
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.protocols import Scorer
from nl2sql_gate.settings import Settings


def make_scorers(settings: Settings) -> tuple[Scorer, ...]:
    """One scorer a metric. `scorers: {name: {type, …}}` gives options, and lets one scorer stand under several names.

    Raises `SettingsError` for options that it does not take, and where an advisory scorer would decide alone.
    """
    scorers = tuple(_make(name, dict(settings.scorers.get(name, {}))) for name in settings.metrics)
    primary = next((scorer for scorer in scorers if scorer.name == settings.policy.primary), None)
    if getattr(primary, "advisory", False):
        raise SettingsError(
            f"policy.primary is {settings.policy.primary!r}, and that never decides alone",
            meaning="Its judgement is a model's own, which may drift as the model under test does. The run did not start.",
            next_step="Take execution_accuracy as policy.primary, and keep this one under metrics.",
        )
    return scorers


def _make(name: str, options: dict[str, Any]) -> Scorer:
    factory = plugins.load("scorer", str(options.pop("type", name)))
    try:
        scorer: Scorer = factory(**options)
    except TypeError as error:
        raise SettingsError(
            f"scorers.{name}: these options are not taken",
            where=[str(error)],
            meaning="The run did not start.",
            next_step="docs/scorers.md lists the options of each scorer.",
        ) from error
    if scorer.name != name:
        scorer.name = name
    return scorer
