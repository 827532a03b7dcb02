"""What an error operator is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nl2sql_gate.mutation.site import Site

if TYPE_CHECKING:
    from nl2sql_gate.mutation.query import Query

Group = Literal[
    "projection", "filter", "grouping", "join", "aggregate", "order", "limit",
    "value", "null", "function", "scope", "set", "window", "write", "definition",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of error that a model makes.

    `name` is stable: it is in files and in seeds. `summary` says what it does to SQL; `needs` which rows tell the mutant from
    golden SQL. `published` operators are those of SQLMorph's experiment.
    """

    name: str
    group: Group
    sites: Callable[[Query], Iterator[Site]]
    summary: str
    needs: str
    published: bool = False
