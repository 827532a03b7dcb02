"""Which cases a run has: the items that the filters leave, in every service that speaks one of their dialects."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nl2sql_gate.commands.databases import Opened, service_of
from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import DatasetError, SettingsError
from nl2sql_gate.judge import Planned, Target
from nl2sql_gate.records import CaseKey, Dataset, Item
from nl2sql_gate.settings import Settings

if TYPE_CHECKING:
    from nl2sql_gate.dataset import Only


@dataclass(frozen=True, slots=True)
class Selection:
    """The items of a run and, for each service, the items and databases that it takes, in dataset order."""

    dataset: Dataset
    items: tuple[Item, ...]
    services: tuple[str, ...]
    by_service: Mapping[str, tuple[Item, ...]]
    complete: bool
    shard: Shard | None = None

    def databases(self) -> dict[str, frozenset[str]]:
        """The databases that each service must hold."""
        return {name: frozenset(item.database for item in items) for name, items in self.by_service.items() if items}

    def cases(self, trials: int) -> int:
        """How many cases the run has."""
        return trials * sum(len(items) for items in self.by_service.values())


@dataclass(frozen=True, slots=True)
class Shard:
    """The `index`-th of `count` parts, from 1; `items` are the ids of all parts, in order."""

    index: int
    count: int
    items: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Shard:
        """`I/N`. Raises `SettingsError`."""
        first, slash, second = text.partition("/")
        if slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
            return cls(int(first), int(second))
        raise SettingsError(
            f"--shard {text!r} is not I/N with 1 ≤ I ≤ N",
            meaning="The run did not start.",
            next_step="In a matrix of four: --shard 1/4 to --shard 4/4.",
        )


def select_cases(settings: Settings, *, only: Sequence[str] = (), partial: bool = False, shard: Shard | None = None) -> Selection:
    """Read the dataset and apply the filters. Raises `DatasetError` where nothing is left, naming what took it.

    A shard takes every `count`-th item, so that parts are alike; of a whole that is complete, the parts are no partial runs.
    """
    from nl2sql_gate import dataset as reader

    if not settings.dataset:
        raise SettingsError(
            "no dataset is given",
            meaning="The run did not start.",
            next_step="Set dataset: in nl2sql-gate.yml, or give --dataset FILE. nl2sql-gate init writes a first one.",
        )
    dataset = reader.load(settings.dataset, format=settings.format, strict=settings.strict)
    known = {name: service.dialect for name, service in settings.services.items()}
    wanted = [reader.parse_only(text, services=known) for text in only]
    items = reader.select(dataset, settings.filters, ids=tuple(each.id for each in wanted), services=known)
    if shard is not None:
        shard = dataclasses.replace(shard, items=tuple(item.id for item in items))
        items = items[shard.index - 1 :: shard.count]
    services = _services(settings, items)
    by_service = {name: _taken(name, items, settings, wanted) for name in services}
    if not any(by_service.values()):
        dialects = sorted({dialect for item in items for dialect in item.dialects})
        raise DatasetError(
            "0 cases are selected: no item is for a dialect of this run",
            where=[
                f"dialects of this run: {', '.join(services) or 'none'}",
                f"dialects of the items: {', '.join(dialects) or 'none'}",
            ],
            meaning="The run did not start: nothing measured is not a pass.",
            next_step="Correct filters.dialects, --dialect, services, or the items' dialects.",
        )
    used = tuple(name for name in services if by_service[name])
    taken = {name: by_service[name] for name in used}
    return Selection(dataset, items, used, taken, complete=not (only or partial), shard=shard)


def _services(settings: Settings, items: Sequence[Item]) -> tuple[str, ...]:
    """Names of the services of this run: those filtered for, else those configured, else a service for each dialect."""
    reference = settings.reference
    if settings.filters.dialects:
        names: list[str] = []
        for dialect in settings.filters.dialects:
            named = [
                name for name, service in settings.services.items() if name == dialect or canonical(service.dialect) == dialect
            ]
            names += named or [dialect]
        chosen = list(dict.fromkeys(names))
    elif settings.services:
        chosen = list(settings.services)
    else:
        chosen = list(dict.fromkeys(dialect for item in items for dialect in item.dialects))
    return tuple(name for name in chosen if name != reference or len(chosen) == 1)


def _taken(name: str, items: Sequence[Item], settings: Settings, wanted: Sequence[Only]) -> tuple[Item, ...]:
    from nl2sql_gate.dataset import effective_dialects

    dialect = service_of(name, settings).dialect
    return tuple(
        item
        for item in items
        if effective_dialects(item, (dialect,))
        and (not wanted or any(only.wants(item.id, name) or only.wants(item.id, dialect) for only in wanted))
    )


def plan(selection: Selection, opened: Mapping[str, Opened], settings: Settings) -> list[Planned]:
    """All cases in dataset order: item, service, trial."""
    from nl2sql_gate.dataset import case_digest, effective_query_type

    targets = _targets(opened, settings)
    planned: list[Planned] = []
    for item in selection.items:
        for name in selection.services:
            if item not in selection.by_service[name]:
                continue
            dialect = targets[name].dialect
            digest = case_digest(item, dialect, opened[name].digests[item.database])
            # An item runs as what its SQL is, and that may differ between dialects.
            typed = dataclasses.replace(item, query_type=effective_query_type(item, dialect))
            planned += [
                Planned(CaseKey(item.id, name, item.database, trial), typed, targets[name], digest)
                for trial in range(1, settings.trials + 1)
            ]
    return planned


def _targets(opened: Mapping[str, Opened], settings: Settings) -> dict[str, Target]:
    targets = {
        name: Target(name, each.dialect, each.databases, deterministic=each.deterministic) for name, each in opened.items()
    }
    reference = targets.get(settings.reference) if settings.reference else None
    if reference is None:
        return targets
    return {
        name: target if target is reference else dataclasses.replace(target, reference=reference)
        for name, target in targets.items()
    }
