"""Probes that run golden SQL under another light: one more row at a LIMIT, rows in reverse, another clock, zone, parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from nl2sql_gate.audit.findings import Finding, found
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.execution import Work, run
from nl2sql_gate.golden import Golden, work_of
from nl2sql_gate.protocols import Database, Scorer
from nl2sql_gate.records import Case, Item, ResultSet, Side

SETTINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "postgres": (
        ("time zone Pacific/Auckland", "SET TimeZone = 'Pacific/Auckland'"),
        ("parallel workers", "SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"),
    ),
    "mysql": (("time zone +13:00", "SET time_zone = '+13:00'"),),
    "mariadb": (("time zone +13:00", "SET time_zone = '+13:00'"),),
}
"""Dialect → session settings under which a golden should give the same rows: what is said of it, and the SQL before the query."""
BACKWARDS: dict[str, str] = {"sqlite": "PRAGMA reverse_unordered_selects = ON"}
"""Dialect → what makes the engine read its tables from the other end, in a private copy."""

YEARS_LATER = timedelta(days=730)


def limit_findings(item: Item, dialect: str, database: Database, golden: Golden) -> Iterator[Finding]:
    """A LIMIT without an order, and a LIMIT that cuts rows of equal keys apart."""
    from nl2sql_gate.sqltext import limit_of, top_level_order, with_limit

    for sql, side in zip(item.golden_sql.pick(dialect), golden.sides, strict=False):
        count = len(side.result.rows)
        more = with_limit(sql, dialect, count + 1) if count and limit_of(sql, dialect) == count else None
        if more is None:
            continue
        if not top_level_order(sql, dialect).is_ordered:
            beyond = _result(item, dialect, database, more)
            if beyond is not None and len(beyond.rows) > count:
                yield found("limit-unordered", item, f"{count} of at least {count + 1} rows are taken", dialect)
            continue
        yield from _tie(item, dialect, database, side, more)


def _tie(item: Item, dialect: str, database: Database, side: Side, more: str) -> Iterator[Finding]:
    from nl2sql_gate.sqltext import top_level_order, with_keys_appended

    # The order of the rows may be free; which rows are taken is not.
    if side.order.kind != "keys":
        return
    count = len(side.result.rows)
    positions = top_level_order(more, dialect).key_positions
    if positions is not None:
        beyond = _result(item, dialect, database, more)
        keys = [tuple(row[index] for index in positions) for row in beyond.rows] if beyond else []
    else:
        rewritten = with_keys_appended(more, dialect)
        beyond = _result(item, dialect, database, rewritten[0]) if rewritten else None
        keys = [row[-rewritten[1] :] for row in beyond.rows] if beyond and rewritten else []
    if beyond is None or len(keys) <= count or keys[count] != keys[count - 1]:
        return
    width = len(side.result.columns)
    if beyond.rows[count][:width] != beyond.rows[count - 1][:width]:
        yield found("limit-tie", item, f"rows {count} and {count + 1} share the keys {keys[count]!r}", dialect)


def setting_findings(item: Item, dialect: str, database: Database, golden: Golden, scorer: Scorer) -> Iterator[Finding]:
    """Goldens whose rows change with a session setting that nobody named."""
    for words, before in SETTINGS.get(dialect, ()):
        for sql, side in zip(item.golden_sql.pick(dialect), golden.sides, strict=False):
            again = _result(item, dialect, database, f"{before};\n{sql}")
            if again is not None and not _same(item, dialect, side, again, scorer):
                yield found("golden-settings", item, f"other rows with {words}", dialect)
                break


def clock_findings(item: Item, dialect: str, database: Database, golden: Golden, scorer: Scorer) -> Iterator[Finding]:
    """Goldens that name the clock; where the clock can be set, what two years change is the evidence."""
    from nl2sql_gate.sqltext import names_clock_or_random

    for sql, side in zip(item.golden_sql.pick(dialect), golden.sides, strict=False):
        if not names_clock_or_random(sql, dialect):
            continue
        later = _result(item, dialect, database, sql, clock=datetime.now(UTC) + YEARS_LATER)
        changed = later is not None and not _same(item, dialect, side, later, scorer)
        yield found(
            "golden-clock", item, "other rows in two years" if changed else "names the clock or a random function", dialect
        )
        return


def written_clock(item: Item, dialect: str) -> Iterator[Finding]:
    """Statements that write the time: the rows differ from run to run, so that column is not compared."""
    from nl2sql_gate.sqltext import names_clock_or_random

    if any(names_clock_or_random(sql, dialect) for sql in (*item.golden_sql.pick(dialect), *item.eval_query.pick(dialect))):
        yield found("golden-clock", item, "writes or reads the time; what varies is not compared", dialect)


def order_findings(item: Item, dialect: str, reversed_rows: Database, golden: Golden, scorer: Scorer) -> Iterator[Finding]:
    """Goldens that give other rows when the same data lie in another physical order."""
    for sql, side in zip(item.golden_sql.pick(dialect), golden.sides, strict=False):
        again = _result(item, dialect, reversed_rows, sql)
        if again is not None and not _same(item, dialect, side, again, scorer):
            yield found("golden-order", item, "other rows when the tables are filled in reverse", dialect)
            return


def backward_findings(item: Item, dialect: str, database: Database, golden: Golden, scorer: Scorer) -> Iterator[Finding]:
    """Goldens that give other rows when the engine reads the same tables from the other end."""
    if dialect not in BACKWARDS:
        return
    for sql, side in zip(item.golden_sql.pick(dialect), golden.sides, strict=False):
        try:
            again = _result(item, dialect, database, sql, before=(BACKWARDS[dialect],))
        except SettingsError:
            # A database of somebody's own is not copied.
            return
        if again is not None and not _same(item, dialect, side, again, scorer):
            yield found("golden-order", item, f"other rows with {BACKWARDS[dialect]}", dialect)
            return


def effect_findings(item: Item, dialect: str, database: Database, golden: Golden) -> Iterator[Finding]:
    """A ddl item whose eval query gives the same without the golden SQL, although that changes something."""
    for side in golden.sides:
        if not side.evals or side.before == side.after:
            continue
        untouched = run(database, work_of(item, dialect, ("SELECT 1",)))
        if untouched.setup_error is None and untouched.evals == side.evals:
            yield found("effect-unseen", item, "its result is the same without the golden SQL", dialect)
            return


def _result(
    item: Item, dialect: str, database: Database, sql: str, *, clock: datetime | None = None, before: tuple[str, ...] = ()
) -> ResultSet | None:
    work = work_of(item, dialect, (sql,))
    ran = run(database, Work("dql", work.statements, setup=(*before, *work.setup)), clock=clock)
    return ran.result if isinstance(ran.result, ResultSet) and ran.setup_error is None else None


def _same(item: Item, dialect: str, side: Side, result: ResultSet, scorer: Scorer) -> bool:
    case = Case(item, dialect, "dql", (side,), Side(side.sql, result), columns="position")
    return scorer.score(case).value >= 1
