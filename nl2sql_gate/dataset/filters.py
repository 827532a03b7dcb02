"""Which items run: the settings' filters, `--only`, and the dialects of each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from nl2sql_gate.dataset.dialect_names import is_known
from nl2sql_gate.dataset.problems import capped, listed, nearest
from nl2sql_gate.dialects import canonical, lookup_order
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.records import Dataset, Item

if TYPE_CHECKING:
    from nl2sql_gate.settings import Filters


class Only(NamedTuple):
    """One `--only ID[:DIALECT]`. `id` may be a glob; an empty dialect is any."""

    id: str
    dialect: str = ""

    def wants(self, item_id: str, dialect: str) -> bool:
        """Whether the case of `item_id` in `dialect` is meant."""
        return _matches(item_id, self.id) and self.dialect in {"", dialect}


def parse_only(text: str, *, services: Iterable[str] = ()) -> Only:
    """`ID[:DIALECT]` taken apart. An id may hold colons: only a known dialect or one of `services` is split off the end."""
    front, colon, last = text.rpartition(":")
    if colon and front.strip() and last in set(services):
        return Only(front.strip(), last)
    if colon and front.strip() and is_known(canonical(last)):
        return Only(front.strip(), canonical(last))
    if not text.strip():
        raise DatasetError(
            "--only names no item",
            where=["--only: the value is blank"],
            meaning="The run did not start.",
            next_step="Give an id: --only 43, --only 43:postgres or --only 'orders-*'.",
        )
    return Only(text.strip())


def effective_dialects(item: Item, run_dialects: Sequence[str]) -> tuple[str, ...]:
    """The item's dialects that also run, in item order; `mariadb` counts as listed where `mysql` is.

    An item that lists none (its golden SQL holds everywhere) runs in all. Golden SQL may still be absent: then the case
    is `skipped`.
    """
    running = tuple(dict.fromkeys(canonical(name) for name in run_dialects))
    if not item.dialects:
        return running
    found: dict[str, None] = {}
    for listed_dialect in item.dialects:
        if listed_dialect in running:
            found[listed_dialect] = None
        for dialect in running:
            if dialect not in item.dialects and listed_dialect in lookup_order(dialect):
                found[dialect] = None
    return tuple(found)


def select(
    dataset: Dataset, filters: Filters, ids: Sequence[str] = (), *, services: Mapping[str, str] | None = None
) -> tuple[Item, ...]:
    """The items that pass all filters, in file order. `ids` are further id patterns, as `--only` gives them.

    `services` maps names of services to dialects: `filters.dialects` may hold either.
    Within one filter any value is enough; ids are exact or globs; tags and databases match whole, tags in any case. Types are
    those that the SQL has. Raises `DatasetError` for a value that nothing matches, and where all filters together leave nothing.
    """
    dialects = {name: (services or {}).get(name, name) for name in filters.dialects}
    _refuse_unknown(dataset, filters, ids, dialects=dialects)
    wanted_tags = {tag.strip().lower() for tag in filters.tags}
    steps: list[tuple[str, Sequence[str], Callable[[Item], bool]]] = [
        ("ids", filters.ids, lambda item: any(_matches(item.id, pattern) for pattern in filters.ids)),
        ("--only", ids, lambda item: any(_matches(item.id, pattern) for pattern in ids)),
        ("databases", filters.databases, lambda item: item.database in filters.databases),
        ("types", filters.types, lambda item: item.query_type in filters.types),
        ("tags", filters.tags, lambda item: any(tag.lower() in wanted_tags for tag in item.tags)),
        ("dialects", filters.dialects, lambda item: bool(effective_dialects(item, list(dialects.values())))),
    ]
    left = dataset.items
    removed: list[str] = []
    for name, values, keeps in steps:
        if not values:
            continue
        kept = tuple(item for item in left if keeps(item))
        removed.append(f"{name} [{listed(values)}] removed {len(left) - len(kept)} of {len(left)} items")
        left = kept
    if not left:
        raise DatasetError(
            f"the filters select none of the {len(dataset.items)} items of {dataset.path}",
            where=removed,
            meaning="Nothing would be measured, and nothing measured is not a pass.",
            next_step="Widen the filter that removed the last items; the dataset has types " + listed(_types(dataset)) + ".",
        )
    return left


def _refuse_unknown(dataset: Dataset, filters: Filters, ids: Sequence[str], *, dialects: Mapping[str, str]) -> None:
    """Stop at filter values that nothing in the dataset matches: a typo would narrow a run without a word."""
    all_ids = [item.id for item in dataset.items]
    tags = sorted({tag for item in dataset.items for tag in item.tags})
    databases = sorted({item.database for item in dataset.items})
    known_dialects = list(dict.fromkeys(dialect for item in dataset.items for dialect in item.dialects))
    lower_tags = {tag.lower() for tag in tags}

    def is_there(pattern: str) -> bool:
        return any(_matches(known, pattern) for known in all_ids)

    unknown = [
        *(_unknown("filters.ids", "id", one, all_ids) for one in filters.ids if not is_there(one)),
        *(_unknown("--only", "id", one, all_ids) for one in ids if not is_there(one)),
        *(_unknown("filters.tags", "tag", one, tags) for one in filters.tags if one.strip().lower() not in lower_tags),
        *(_unknown("filters.databases", "database", one, databases) for one in filters.databases if one not in databases),
        *(
            _unknown("filters.dialects", "dialect", name, known_dialects)
            for name, dialect in dialects.items()
            if not any(effective_dialects(item, [dialect]) for item in dataset.items)
        ),
    ]
    if unknown:
        raise DatasetError(
            f"the filters name what {dataset.path} does not have",
            where=capped(unknown),
            meaning="A filter that silently matches nothing would narrow the run. The run did not start.",
            next_step="Correct the names, or take them out of the filters.",
        )


def _unknown(where: str, kind: str, name: str, known: Sequence[str]) -> str:
    near = nearest(name, known) or nearest(name.partition(":")[0], known)
    if near:
        return f"{where}: no item has the {kind} {name!r}; near: {listed(near)}"
    return f"{where}: no item has the {kind} {name!r}; there are {listed(known) or 'none'}"


def _matches(text: str, pattern: str) -> bool:
    """An id is matched by itself even where it holds `*`, `?` or `[`."""
    return text == pattern or fnmatchcase(text, pattern)


def _types(dataset: Dataset) -> list[str]:
    return sorted({item.query_type for item in dataset.items})
