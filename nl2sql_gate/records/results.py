"""What running SQL gives: cells, rows, errors, orders, states, and the two sides of a case.

Cells are `None | bool | int | float | Decimal | str | bytes | date | datetime | time | timedelta | UUID`,
`list` for arrays and `Json` for documents. What Python cannot hold (years beyond 9999, BC, `infinity`) is the
database's own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Cell = Any
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ResultSet:
    """Rows as positional tuples beside their column names; `rowcount` is what the driver says of a write, −1 if unknown."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    rowcount: int = -1
    elapsed_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class SqlError:
    """The database refused the SQL, in its own words.

    `code` is the database's (SQLSTATE, number), `reason` ours: `error`, `timeout`, `too_many_rows`, `too_many_bytes`, `refused`.
    """

    message: str
    code: str = ""
    reason: str = "error"
    elapsed_s: float = field(default=0.0, compare=False)


Execution = ResultSet | SqlError


@dataclass(frozen=True, slots=True, eq=False)
class Json:
    """A JSON document as a cell: compared by content, never by its text. `value` is what `json.loads` gives.

    The order of keys does not count, 1 equals 1.0, and true is not 1, as JSON has it and Python has not.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and _typed(self.value) == _typed(other.value)

    def __hash__(self) -> int:
        return hash(_typed(self.value))


def _typed(value: Any) -> Any:
    """A hashable form of a JSON value in which true and 1 differ."""
    if isinstance(value, bool):
        return ("true",) if value else ("false",)
    if isinstance(value, Mapping):
        return ("object", frozenset((key, _typed(each)) for key, each in value.items()))
    if isinstance(value, list | tuple):
        return ("array", *(_typed(each) for each in value))
    return value


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The order that golden SQL demands.

    `free` (no top-level ORDER BY), `keys` (rows may change places within equal `keys`, one key tuple per golden row),
    `strict` (ordered, but the keys could not be had: the item is flagged).
    """

    kind: Literal["free", "keys", "strict"]
    keys: tuple[Row, ...] = ()


FREE_ORDER = RowOrder("free")


@dataclass(frozen=True, slots=True)
class State:
    """What a database held at a moment, so far as comparing effects needs it.

    `tables` maps a table to its rows' multiset digest and count;
    `catalogue` maps an object (`table.column`, `view v`) to a description.
    """

    tables: Mapping[str, Any]
    catalogue: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a case did: its last result; for dml and ddl the eval_query's results and the state before and after.

    An eval query that fails after generated SQL (a missing column, say) is a `SqlError` among `evals`, and a wrong answer.
    `evals_before` are the eval queries' results before the SQL: where golden leaves them as they are, they decide nothing.
    `varies` holds, per eval result (for dql: for the one result), the columns that differ between two golden runs: the cells
    there read `<varies>` on both sides before any scorer sees them.
    `after_again` is golden's state after its second run: what differs there differs by nature.
    """

    sql: str
    result: ResultSet
    evals: tuple[Execution, ...] = ()
    evals_before: tuple[Execution, ...] = ()
    before: State | None = None
    after: State | None = None
    after_again: State | None = None
    order: RowOrder = FREE_ORDER
    eval_orders: tuple[RowOrder, ...] = ()
    varies: tuple[frozenset[int], ...] = ()
