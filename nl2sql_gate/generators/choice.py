"""Which generator a run asks, with the cache and the journal around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.generators.cache import Cached
from nl2sql_gate.generators.journal import Journal
from nl2sql_gate.generators.offline import Offline
from nl2sql_gate.protocols import Generator
from nl2sql_gate.records import Warned
from nl2sql_gate.settings import Model


class GeneratorFactory(Protocol):
    """What an entry point in `nl2sql_gate.generators` names."""

    def __call__(self, model: Model, *, replies: str | None) -> Generator:
        """A generator for the section `model` of the settings; `replies` is the recorded replies' file, where one is given.

        Connects to nothing yet. Raises `SettingsError` where the section does not say enough.
        """
        ...


def make_generator(
    model: Model,
    *,
    load: Callable[[str], GeneratorFactory],
    replies: str | None = None,
    cache: str | None = None,
    journal: Path | None = None,
    offline: str = "",
) -> Generator:
    """The generator that the settings ask for, with its cache and its journal around it.

    `load` gives the factory of a name: `partial(plugins.load, "generator")`. Recorded replies need neither cache nor journal.
    `offline` says why nothing may be asked, on a fork for example: then there are cached and recorded replies only.
    """
    name = generator_name(model, replies=replies)
    generator = load(name)(model, replies=replies)
    if offline and name != "replay":
        recorded = load("replay")(model, replies=replies) if replies is not None else None
        generator = Offline(generator, recorded=recorded, words=offline)
        return Cached(generator, cache) if cache is not None else generator
    if name == "replay":
        return generator
    if cache is not None:
        generator = Cached(generator, cache)
    if journal is not None:
        generator = Journal(generator, journal)
    return generator


def generator_name(model: Model, *, replies: str | None) -> str:
    """Which generator is meant: the one named, else `replay` for replies without an address, else the one that the keys fit.

    Raises `SettingsError` where nothing says how to ask a model.
    """
    if model.generator:
        return model.generator
    if replies is not None and not model.base_url:
        return "replay"
    if model.base_url or model.name:
        return "openai_chat"
    raise SettingsError(
        "nothing says how to ask a model",
        where=["neither model.base_url, model.name, model.generator nor replies is set"],
        meaning="The run did not start.",
        next_step="Set model.base_url and model.name for an endpoint, or pass --replies FILE to score recorded replies.",
    )


def finish(generator: Generator) -> None:
    """The run is complete: its journal becomes the run's recorded replies. Without this call the next run resumes it."""
    for layer in _layers(generator):
        if isinstance(layer, Journal):
            layer.finish()


def warnings_of(generator: Generator) -> tuple[Warned, ...]:
    """What cache and journal found odd."""
    return tuple(warned for layer in _layers(generator) for warned in getattr(layer, "warnings", ()))


def _layers(generator: Generator) -> list[Generator]:
    layers = [generator]
    while isinstance(layers[-1], Cached | Journal):
        layers.append(layers[-1].inner)
    return layers
