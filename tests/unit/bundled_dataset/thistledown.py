"""The bundled dataset as its tests see it: its files, and what may be compared with what."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import sqlglot

FOLDER = Path(__file__).resolve().parents[3] / "datasets" / "thistledown"
SETUP = FOLDER / "setup"
DIALECTS = ("sqlite", "duckdb", "postgres", "mysql", "sqlserver")
DATABASES = ("bee_yards", "honey_market")
SQLGLOT = {"sqlserver": "tsql", "mariadb": "mysql"}
Row = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """One item, with its SQL picked for a dialect."""

    id: str
    kind: str
    database: str
    raw: dict[str, Any]

    def sql(self, field: str, dialect: str) -> list[str]:
        """The SQL of one field in one dialect; MariaDB takes MySQL's."""
        return list(self.raw.get(field, {}).get("mysql" if dialect == "mariadb" else dialect, []))

    def is_ordered(self, sql: str, dialect: str) -> bool:
        """Whether the query promises an order of its rows."""
        return bool(sqlglot.parse_one(sql, dialect=SQLGLOT.get(dialect, dialect)).args.get("order"))


@cache
def questions(*kinds: str) -> tuple[Question, ...]:
    """The items of these types, of all types where none is named."""
    raw = json.loads((FOLDER / "items.json").read_text(encoding="utf-8"))
    items = [Question(item["id"], item["query_type"], item["database"], item) for item in raw]
    return tuple(item for item in items if not kinds or item.kind in kinds)


def statements(text: str) -> list[str]:
    """The statements of one text; no literal of the dataset holds a semicolon."""
    return [part.strip() for part in text.split(";") if part.strip()]


def same(left: Sequence[Row], right: Sequence[Row], *, ordered: bool) -> bool:
    """Whether two results of different engines hold the same values: SQLite has neither decimals, nor dates, nor booleans."""
    one, other = [_plain(row) for row in left], [_plain(row) for row in right]
    if not ordered:
        one, other = sorted(one, key=_key), sorted(other, key=_key)
    return len(one) == len(other) and all(
        len(a) == len(b) and all(_cells_agree(x, y) for x, y in zip(a, b, strict=True)) for a, b in zip(one, other, strict=True)
    )


def _plain(row: Iterable[Any]) -> Row:
    return tuple(_plain_cell(cell) for cell in row)


def _plain_cell(cell: Any) -> Any:
    if isinstance(cell, bool | int):
        return Decimal(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date):
        return cell.isoformat()
    return cell


def _key(row: Row) -> tuple[tuple[int, str], ...]:
    return tuple(
        (0, "") if cell is None else (1, f"{float(cell):.6f}") if isinstance(cell, float | Decimal) else (2, str(cell))
        for cell in row
    )


def _cells_agree(left: Any, right: Any) -> bool:
    if isinstance(left, float) or isinstance(right, float):
        if not isinstance(left, float | Decimal) or not isinstance(right, float | Decimal):
            return False
        return abs(float(left) - float(right)) <= 1e-9 * max(abs(float(left)), abs(float(right)))
    return bool(left == right)
