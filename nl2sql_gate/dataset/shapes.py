"""How the items of known dataset formats look, so that a file of another format is named instead of failing key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """One format: an item has all keys of `needs`, and one of `one_of` where that is not empty."""

    name: str
    title: str
    needs: frozenset[str] = frozenset()
    one_of: frozenset[str] = frozenset()

    def fits(self, item: Mapping[str, Any]) -> bool:
        """Whether `item` has the keys."""
        return self.needs <= item.keys() and (not self.one_of or bool(self.one_of & item.keys()))


SHAPES = (
    Shape("bird", "BIRD", needs=frozenset({"db_id", "question", "golden_sql"})),
    Shape("evalbench", "EvalBench's format", one_of=frozenset({"nl_prompt", "golden_sql"})),
    Shape("agentic", "an agentic dataset", one_of=frozenset({"starting_prompt", "conversation_plan", "expected_trajectory"})),
    Shape("bird_interact", "BIRD-Interact", one_of=frozenset({"amb_user_query", "selected_database"})),
    Shape("spider2", "Spider 2", needs=frozenset({"instance_id", "db"}), one_of=frozenset({"question", "instruction"})),
    Shape("spider2", "Spider 2", needs=frozenset({"instance_id", "db_id"}), one_of=frozenset({"question", "instruction"})),
    Shape("bird", "BIRD", needs=frozenset({"db_id", "question"}), one_of=frozenset({"SQL", "SQLite_query", "Postgres_query"})),
    Shape("spider", "Spider", needs=frozenset({"db_id", "question", "query"})),
    Shape("bird", "BIRD", needs=frozenset({"db_id", "question", "question_id"})),
    Shape("defog_csv", "defog's question files", needs=frozenset({"db_name", "question", "query"})),
    Shape("evalbench_legacy", "EvalBench's format of 2024", needs=frozenset({"prompt", "examples"})),
)
"""The first that fits wins: formats that share keys stand with the more particular first."""


def shape_of(item: Any) -> Shape | None:
    """The format that an item looks like, or `None`."""
    if not isinstance(item, Mapping):
        return None
    return next((shape for shape in SHAPES if shape.fits(item)), None)


def title_of(name: str) -> str:
    """A format's name for people."""
    return next((shape.title for shape in SHAPES if shape.name == name), name)
