"""The base of a change, asked in the same run as its head: as a git ref describes it, or at a second endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from nl2sql_gate import plugins
from nl2sql_gate.commands.git_tree import Tree, tree_of
from nl2sql_gate.commands.measure import System
from nl2sql_gate.configuration import Configuration
from nl2sql_gate.errors import BaselineError, DatasetError, SettingsError
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.protocols import Generator
from nl2sql_gate.settings import Model, RateLimits, Settings

Reload = Callable[[Path], Configuration]
"""The settings of the same command line, as they are in another folder."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The base as a system, and in words what it is. `shares` the head's endpoint, and so what that allows."""

    system: System
    words: str
    shares: bool = False


def is_recorded(settings: Settings) -> bool:
    """Whether the replies are recorded ones: asked again they would only say the same once more."""
    from nl2sql_gate.generators.choice import generator_name

    return generator_name(settings.model, replies=settings.replies) == "replay"


def head_system(settings: Settings, *, shared: bool = False, offline: str = "") -> System:
    """The system that the settings describe; its replies are kept in `out`. `shared`: it has half of what the limits allow.

    `offline` says why it may not be asked: then it gives cached and recorded replies only.
    """
    system = _system(settings, journal="replies.jsonl", shared=shared, offline=offline)
    return replace(system, facts={"no_credentials": offline}) if offline else system


@contextmanager
def base_system(loaded: Configuration, reload: Reload, *, offline: str = "") -> Iterator[Beside | None]:
    """The base that `baseline: ref:…` or `endpoint:…` means, `None` where the ref has no settings of this gate yet.

    Dataset, databases, metrics, trials and policy are the head's: only what writes the SQL is the base's. `offline` as for the
    head.
    """
    location = loaded.settings.baseline or ""
    scheme, _, rest = location.partition(":")
    if scheme == "endpoint":
        yield Beside(_at_endpoint(loaded.settings, rest, offline=offline), f"{_shown(rest)}, asked in the same run")
        return
    with tree_of(rest, folder=Path.cwd()) as tree:
        found = _reloaded(loaded, reload, tree)
        if found is None:
            yield None
            return
        system = _of_tree(loaded.settings, found, tree, offline=offline)
        shares = _same_endpoint(loaded.settings.model, found.settings.model)
        yield Beside(system, f"{tree.words}, asked in the same run", shares)


def _at_endpoint(settings: Settings, url: str, *, offline: str) -> System:
    from nl2sql_gate.generators.choice import generator_name

    parts = urlsplit(url)
    kind = generator_name(settings.model, replies=None)
    key = {"openai_chat": "base_url", "http_json": "url"}.get(kind)
    if key is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        why = f"the generator {kind!r} has no address" if key is None else f"{_shown(url)!r} is no http address"
        raise SettingsError(
            "the baseline's endpoint cannot be asked",
            where=[why],
            meaning="The run did not start.",
            next_step="Write baseline: endpoint:https://HOST/PATH, with model.base_url or model.url for the head.",
        )
    model = settings.model.model_copy(update={key: url})
    theirs = settings.model_copy(update={"model": model, "replies": None})
    return _system(theirs, journal="base-replies.jsonl", shared=False, offline=offline)


def _reloaded(loaded: Configuration, reload: Reload, tree: Tree) -> Configuration | None:
    """The settings as they stood at the ref; `None` where the file was not there."""
    root = Path(tree.root)
    try:
        if loaded.file is not None and not _counterpart(loaded.file, tree).is_file():
            return None
        return reload(tree.folder)
    except SettingsError as error:
        raise _unusable(tree, error, root) from error


def _counterpart(file: Path, tree: Tree) -> Path:
    here = Path.cwd().resolve()
    path = file.resolve()
    if path.is_relative_to(here):
        return tree.folder / path.relative_to(here)
    depth = len(tree.folder.relative_to(tree.root).parts)
    top = here.parents[depth - 1] if depth else here
    return tree.root / path.relative_to(top) if path.is_relative_to(top) else path


def _of_tree(settings: Settings, found: Configuration, tree: Tree, *, offline: str) -> System:
    if found.missing and not offline:
        raise BaselineError(
            f"the settings at {tree.words} cannot be used",
            where=[f"{key} names ${{{name}}}, which is not set" for key, name in sorted(found.missing.items())],
            meaning="The base cannot be asked. Nothing was asked.",
            next_step="Set the variables that the base's settings name too.",
        )
    theirs = settings.model_copy(update={"model": found.settings.model, "replies": found.settings.replies})
    try:
        shared = _same_endpoint(settings.model, theirs.model)
        system = _system(theirs, journal="base-replies.jsonl", shared=shared, offline=offline)
    except (SettingsError, DatasetError) as error:
        raise _unusable(tree, error, tree.root) from error
    _settle_in(system.generator, tree.folder)
    return replace(system, facts={"commit": tree.commit, "branch": "", "merge_commit": "", "asked_beside": tree.words})


def _same_endpoint(one: Model, other: Model) -> bool:
    return (one.base_url, one.url, one.command) == (other.base_url, other.url, other.command)


def _unusable(tree: Tree, error: SettingsError | DatasetError, root: Path) -> BaselineError:
    return BaselineError(
        f"the settings at {tree.words} cannot be used",
        where=[line.replace(f"{root}/", "") for line in (error.what, *error.where)],
        meaning="The base cannot be asked, so there is nothing to compare with. Nothing was asked.",
        next_step="Compare with a stored baseline for this change: nl2sql-gate bless, baseline: file:…",
    )


def _system(settings: Settings, *, journal: str, shared: bool, offline: str = "") -> System:
    from nl2sql_gate.generators.choice import make_generator

    model = _halved(settings.model) if shared else settings.model
    generator = make_generator(
        model,
        load=partial(plugins.load, "generator"),
        replies=settings.replies,
        cache=settings.cache,
        journal=Path(settings.out) / journal,
        offline=offline,
    )
    return System(settings, generator, PromptBuilder(settings.model.prompt))


def _halved(model: Model) -> Model:
    """The model with half of its rate limits: two systems at one endpoint share what it allows."""
    limits = model.limits
    requests, tokens = (None if each is None else each / 2 for each in (limits.requests_per_minute, limits.tokens_per_minute))
    return model.model_copy(update={"limits": RateLimits(requests_per_minute=requests, tokens_per_minute=tokens)})


def _settle_in(generator: Generator, folder: Path) -> None:
    """A program of the base is the base's own: it runs where its files are."""
    layer: object = generator
    while layer is not None:
        if hasattr(layer, "folder"):
            layer.folder = str(folder)
        layer = getattr(layer, "inner", None)


def _shown(url: str) -> str:
    """The address without a user's name, password or query, which may be secrets."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}" if parts.scheme else url
