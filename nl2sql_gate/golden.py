"""Golden SQL, run before a token is spent: what the right answer is, or why this item has none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from nl2sql_gate.execution import Ran, Work, run
from nl2sql_gate.protocols import Database
from nl2sql_gate.records import (
    FREE_ORDER,
    Execution,
    Item,
    QueryType,
    Reason,
    ResultSet,
    Row,
    RowOrder,
    Side,
    SqlError,
    Warned,
)

VARIES = "<varies>"
LATER = timedelta(seconds=1.7)
"""What the clock has moved on by when a golden runs again: columns that hold the time differ even in whole seconds."""
Mode = Literal["alternatives", "sequence"]


@dataclass(frozen=True, slots=True)
class Golden:
    """The golden answers of one item in one dialect.

    `sides` are alternatives; empty where `failure` (a `golden_error`) or `skip` says why there are none.
    `volatile`: it names a clock or random function, or two runs differ: it runs again beside the generated SQL.
    """

    query_type: QueryType
    sides: tuple[Side, ...] = ()
    failure: Reason | None = None
    error: SqlError | None = None
    skip: Reason | None = None
    volatile: bool = False
    warnings: tuple[Warned, ...] = ()
    elapsed_s: float = 0.0


def work_of(item: Item, dialect: str, statements: tuple[str, ...]) -> Work:
    """`statements` of `item` with the item's own setup, eval queries and cleanup in `dialect`."""
    return Work(
        item.query_type,
        statements,
        setup=item.setup_sql.pick(dialect),
        evals=item.eval_query.pick(dialect) if item.query_type != "dql" else (),
        cleanup=item.cleanup_sql.pick(dialect),
    )


def mode_of(item: Item, setting: str) -> Mode:
    """Whether the golden list holds alternatives or a sequence: the item's word, the settings', or by type."""
    given = item.golden_mode or setting
    if given == "alternatives" or (given != "sequence" and item.query_type == "dql"):
        return "alternatives"
    return "sequence"


@dataclass(frozen=True, slots=True)
class Manner:
    """How goldens run: `deterministic` engines need no second run; at `clock` the engine's clock stands, where it can."""

    golden_mode: str = "auto"
    deterministic: bool = False
    clock: datetime | None = None


def answer(item: Item, dialect: str, database: Database, manner: Manner = Manner()) -> Golden:
    """Run the golden SQL of `item`. Raises `EngineFault`."""
    listed = item.golden_sql.pick(dialect)
    if not listed:
        reason = Reason("no_golden", f"no golden SQL in {dialect}")
        return Golden(item.query_type, skip=reason)
    works = [listed] if mode_of(item, manner.golden_mode) == "sequence" else [(sql,) for sql in listed]
    sides: list[Side] = []
    warnings: list[Warned] = []
    failures: list[tuple[Reason, SqlError | None]] = []
    volatile = False
    elapsed_s = 0.0
    for statements in works:
        outcome, is_volatile = _side(item, dialect, database, statements, manner)
        volatile = volatile or is_volatile
        if isinstance(outcome, Side):
            sides.append(outcome)
            elapsed_s += outcome.result.elapsed_s
            warnings += _varying(item, outcome)
        else:
            failures.append(outcome)
    if not sides:
        reason, error = failures[0]
        return Golden(item.query_type, failure=reason, error=error, volatile=volatile)
    warnings += [Warned("golden_alternative_fails", reason.message, item.id, item.place) for reason, _ in failures]
    warnings += [
        Warned("strict_order", "the golden's sort keys cannot be read, so tied rows must keep its order", item.id, item.place)
        for side in sides
        if side.order.kind == "strict" and item.row_order != "free"
    ]
    skip = _unobserved(item, sides) if item.query_type != "dql" else None
    if skip is None and item.query_type != "dql" and not any(_changes(side) for side in sides):
        warnings.append(Warned("golden_changes_nothing", "the golden SQL changes nothing", item.id, item.place))
    return Golden(item.query_type, tuple(sides), skip=skip, volatile=volatile, warnings=tuple(warnings), elapsed_s=elapsed_s)


def _side(
    item: Item, dialect: str, database: Database, statements: tuple[str, ...], manner: Manner
) -> tuple[Side | tuple[Reason, SqlError | None], bool]:
    """One alternative, run twice where two runs can differ; and whether they can."""
    from nl2sql_gate.sqltext import names_clock_or_random

    work = work_of(item, dialect, statements)
    clocked = any(names_clock_or_random(sql, dialect) for sql in (*work.statements, *work.evals, *work.setup))
    order_query, appended, positions = _order_query(statements[-1], dialect) if item.query_type == "dql" else (None, 0, None)
    clock = manner.clock if clocked else None
    first = run(database, work, extra=(order_query,) if order_query else (), clock=clock)
    failure = _failure(first)
    if failure is not None:
        return failure, clocked
    side = _as_side(work, first, dialect, appended=appended, positions=positions)
    if manner.deterministic and not clocked and item.query_type == "dql":
        return side, False
    second = run(database, work, clock=clock and clock + LATER)
    failure = _failure(second)
    if failure is not None:
        return failure, True
    return _settle(side, second, is_dql=item.query_type == "dql", clocked=clocked)


def _settle(side: Side, second: Ran, *, is_dql: bool, clocked: bool) -> tuple[Side | tuple[Reason, SqlError | None], bool]:
    """The side with what differs between its two runs masked; a failure where nothing firm is left."""
    pairs = [(side.result, second.result)] if is_dql else list(zip(side.evals, second.evals, strict=False))
    varies: list[frozenset[int]] = []
    for one, other in pairs:
        columns = differing_columns(one, other, ordered=side.order.kind != "free")
        if columns is None:
            reason = Reason("unstable", "two runs of the golden SQL give different rows")
            return (reason, None), True
        varies.append(columns)
    changed = any(varies)
    masked = replace(side, varies=tuple(varies), after_again=second.after)
    return mask(masked, masked.varies, is_dql=is_dql), changed or clocked


def differing_columns(one: Execution, other: Execution, *, ordered: bool) -> frozenset[int] | None:
    """The columns in which two runs differ; `None` where the rows themselves do, or where no column is left."""
    if isinstance(one, SqlError) or isinstance(other, SqlError):
        return frozenset() if isinstance(one, SqlError) and isinstance(other, SqlError) else None
    if len(one.columns) != len(other.columns) or len(one.rows) != len(other.rows):
        return None
    if repr(one.rows) == repr(other.rows):
        return frozenset()
    width = len(one.columns)
    varying = frozenset(i for i in range(width) if _column(one, i, ordered=ordered) != _column(other, i, ordered=ordered))
    if len(varying) == width:
        return None
    firm = [i for i in range(width) if i not in varying]
    if _project(one.rows, firm, ordered=ordered) != _project(other.rows, firm, ordered=ordered):
        return None
    return varying


def mask(side: Side, varies: tuple[frozenset[int], ...], *, is_dql: bool) -> Side:
    """`side` with every cell of a varying column replaced by `<varies>`, so that no scorer compares it."""
    if not any(varies):
        return side
    if is_dql:
        return replace(side, result=_masked(side.result, varies[0]))
    evals = tuple(
        _masked(result, columns) if isinstance(result, ResultSet) else result
        for result, columns in zip(side.evals, varies, strict=False)
    )
    return replace(side, evals=evals + side.evals[len(evals) :])


def _masked(result: ResultSet, columns: frozenset[int]) -> ResultSet:
    if not columns:
        return result
    rows = tuple(tuple(VARIES if i in columns else cell for i, cell in enumerate(row)) for row in result.rows)
    return replace(result, rows=rows)


def _column(result: ResultSet, index: int, *, ordered: bool) -> list[str]:
    cells = [repr(row[index]) for row in result.rows]
    return cells if ordered else sorted(cells)


def _project(rows: tuple[Row, ...], columns: list[int], *, ordered: bool) -> list[str]:
    kept = [repr([row[i] for i in columns]) for row in rows]
    return kept if ordered else sorted(kept)


def _failure(ran: Ran) -> tuple[Reason, SqlError | None] | None:
    if ran.setup_error is not None:
        return Reason("setup_sql", f"setup_sql fails: {ran.setup_error.message}"), ran.setup_error
    if isinstance(ran.result, SqlError):
        return Reason(f"golden_{ran.result.reason}", f"golden SQL fails: {ran.result.message}"), ran.result
    for result in ran.evals:
        if isinstance(result, SqlError):
            return Reason("eval_query", f"eval_query fails after golden SQL: {result.message}"), result
    return None


def _as_side(work: Work, ran: Ran, dialect: str, *, appended: int, positions: tuple[int, ...] | None) -> Side:
    if not isinstance(ran.result, ResultSet):
        raise TypeError(ran.result)
    return Side(
        sql=";\n".join(work.statements),
        result=ran.result,
        evals=ran.evals,
        evals_before=ran.evals_before,
        before=ran.before,
        after=ran.after,
        order=row_order(ran.result, ran.extra, work.statements[-1], dialect, appended=appended, positions=positions)
        if work.query_type == "dql"
        else FREE_ORDER,
        eval_orders=tuple(
            row_order(result, (), sql, dialect, appended=0, positions=_order_query(sql, dialect)[2])
            for sql, result in zip(work.evals, ran.evals, strict=False)
            if isinstance(result, ResultSet)
        ),
    )


def row_order(
    result: ResultSet,
    extra: tuple[Execution, ...],
    sql: str,
    dialect: str,
    *,
    appended: int,
    positions: tuple[int, ...] | None,
) -> RowOrder:
    """The order that `sql` demands of its rows: by key positions, by keys appended in a second run, or strictly."""
    from nl2sql_gate.sqltext import top_level_order

    if "order" not in sql.lower() or not top_level_order(sql, dialect).is_ordered:
        return FREE_ORDER
    if positions is not None and all(position < len(result.columns) for position in positions):
        return RowOrder("keys", tuple(tuple(row[i] for i in positions) for row in result.rows))
    if extra and isinstance(extra[0], ResultSet):
        keyed = extra[0]
        same = len(keyed.rows) == len(result.rows) and len(keyed.columns) == len(result.columns) + appended
        if same and repr([row[:-appended] for row in keyed.rows]) == repr(list(result.rows)):
            return RowOrder("keys", tuple(row[-appended:] for row in keyed.rows))
    return RowOrder("strict")


def _order_query(sql: str, dialect: str) -> tuple[str | None, int, tuple[int, ...] | None]:
    """The query with its sort keys appended and their number, or the positions of keys that are selected already."""
    from nl2sql_gate.sqltext import top_level_order, with_keys_appended

    if "order" not in sql.lower():
        return None, 0, None
    order = top_level_order(sql, dialect)
    if not order.is_ordered:
        return None, 0, None
    if order.key_positions is not None:
        return None, 0, tuple(order.key_positions)
    rewritten = with_keys_appended(sql, dialect)
    return (None, 0, None) if rewritten is None else (rewritten[0], rewritten[1], None)


def _varying(item: Item, side: Side) -> list[Warned]:
    if not any(side.varies):
        return []
    count = sum(len(columns) for columns in side.varies)
    words = f"{count} column{'s differ' if count > 1 else ' differs'} between two runs of the golden SQL and is not compared"
    return [Warned("varying_columns", words, item.id, item.place)]


def _changes(side: Side) -> bool:
    """Whether an eval query or the state shows an effect of the golden SQL; true where nothing could show one."""
    if side.before is not None and side.after is not None and side.before != side.after:
        return True
    return bool(side.evals) and (not side.evals_before or side.evals_before != side.evals)


def _unobserved(item: Item, sides: list[Side]) -> Reason | None:
    """Why nothing could tell the golden's effect from none at all: the engine shows no state, and no query sees it."""
    if any(_changes(side) or (side.before is not None and side.after is not None) for side in sides):
        return None
    return Reason("unobserved", f"golden SQL of this {item.query_type} item changes nothing that is observed")
