"""What a scorer sees and says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nl2sql_gate.records.items import Item, QueryType
from nl2sql_gate.records.results import Side


@dataclass(frozen=True, slots=True)
class Case:
    """What a scorer sees: an answered case. `goldens` are alternatives, any of which is right; for dml and ddl there is one.

    `columns` is `position`, `any_order` or `superset`; `state` is `effects` or `strict`.
    """

    item: Item
    dialect: str
    query_type: QueryType
    goldens: tuple[Side, ...]
    generated: Side
    columns: str = "position"
    state: str = "effects"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, for people (`message`) and for grouping (`code`); `detail` is plain JSON."""

    code: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """A value in [0, 1] with its reason; `version` changes when old values stop being comparable."""

    value: float
    reason: Reason | None = None
    version: str = "1"


@dataclass(frozen=True, slots=True)
class ScoreFault:
    """A scorer that could not score this case."""

    fault: str
