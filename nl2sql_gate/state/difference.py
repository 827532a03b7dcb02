"""How the effect of generated SQL differs from golden's: rows, tables, columns, keys, and what else the catalogue shows."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nl2sql_gate.records import State
from nl2sql_gate.state.rows import Findings, compare_rows, projected
from nl2sql_gate.state.tables import TableState

DECIDING = ("table ", "column ", "primary key ", "foreign key ")
"""Objects of the catalogue whose existence decides; all else is reported, and decides under `strict`."""

_RUN_S = 24 * 3600.0
"""Golden and generated SQL run within one run; a date may change at midnight in between."""

_CLOCK = re.compile(
    r"\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime|now\s*\(|getdate|sysdatetime|sysdate|getutcdate"
    r"|clock_timestamp|statement_timestamp|transaction_timestamp|datetime\s*\(\s*'now'|date\s*\(\s*'now'|strftime)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StateDifference:
    """Sentences about the generated SQL, each with `golden` as the measure.

    `collateral` is changed beyond golden's changes, `missing` not changed though golden does, `different` changed in another way.
    `catalogue` is reported, and decides under `state: strict`. `ignored` are columns that differ by nature.
    """

    collateral: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def wrong(self, *, eval_decides: bool, strict: bool) -> tuple[str, ...]:
        """What makes the effect wrong: an eval_query decides what golden changes, but nothing may be changed beyond that."""
        deciding = self.collateral if eval_decides else (*self.collateral, *self.missing, *self.different)
        return (*deciding, *self.catalogue) if strict else deciding


def describe_difference(
    golden_before: State,
    golden_after: State,
    generated_before: State,
    generated_after: State,
    *,
    golden_again: State | None = None,
) -> StateDifference:
    """The difference between two effects that began in the same state.

    `golden_again` is the state after golden's second run: columns that differ between golden's own runs are ignored.
    """
    found = Findings()
    reported: list[str] = []
    ignored = _varying_columns(golden_after, golden_again) | _clock_columns(golden_before, golden_after, generated_after)
    _compare_catalogues(golden_before, golden_after, generated_after, found, reported)
    used: set[str] = set()
    for name in sorted(golden_after.tables.keys() & generated_after.tables.keys()):
        ours, theirs = golden_after.tables[name], generated_after.tables[name]
        if ours is theirs:
            continue
        columns = sorted(column for table, column in ignored if table == name)
        before = golden_before.tables.get(name)
        if ours.is_view:
            if before is None and not _same_rows(ours, theirs, columns):
                found.different.append(f"view {name} returns other rows than golden's")
            continue
        compare_rows(name, before, ours, theirs, ignored=columns, found=found)
        if columns and ours != theirs:
            used |= {f"{name}.{column}" for column in columns}
    nothing_found = not (found.collateral or found.missing or found.different)
    if nothing_found and golden_before != golden_after and generated_before == generated_after:
        found.missing.append("changes nothing, golden does")
    return StateDifference(
        tuple(found.collateral), tuple(found.missing), tuple(found.different), tuple(reported), tuple(sorted(used))
    )


def _same_rows(one: TableState, other: TableState, ignored: list[str]) -> bool:
    columns = [column for column in one.columns if column in other.columns and column not in ignored]
    return projected(one, columns) == projected(other, columns)


def _compare_catalogues(before: State, golden: State, generated: State, found: Findings, reported: list[str]) -> None:
    start, ours, theirs = before.catalogue, golden.catalogue, generated.catalogue
    for thing in sorted(ours.keys() | theirs.keys()):
        if thing in ours and thing in theirs:
            reported += _other_values(thing, ours[thing], theirs[thing])
            continue
        if _inside_missing_table(thing, ours, theirs):
            continue
        was, wanted = thing in start, thing in ours
        if was:
            sentence = f"drops {thing}, which golden keeps" if wanted else f"keeps {thing}, which golden drops"
        else:
            sentence = f"does not create {thing}" if wanted else f"creates {thing}, which golden does not"
        if not thing.startswith(DECIDING):
            reported.append(sentence)
        elif was == wanted:
            found.collateral.append(sentence)
        else:
            found.missing.append(sentence)


def _inside_missing_table(thing: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """A table that one side lacks is said once, without its columns and keys."""
    if thing.startswith("table "):
        return False
    owner = (ours.get(thing) or theirs.get(thing) or {}).get("table")
    return owner is not None and (f"table {owner}" in ours) != (f"table {owner}" in theirs)


def _other_values(thing: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    if thing.startswith("view "):
        # Views are judged by what they return, never by their text.
        return []
    return [
        f"{thing}: {name} is {_shown(theirs.get(name))}, golden's {_shown(ours.get(name))}"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]


def _shown(value: Any) -> str:
    if value is True or value is False:
        return "yes" if value else "no"
    return str(value) if value not in {None, ""} else "none"


def _varying_columns(golden: State, again: State | None) -> set[tuple[str, str]]:
    """Columns in which golden's own two runs differ, as `(table, column)`."""
    found: set[tuple[str, str]] = set()
    if again is None:
        return found
    for name in golden.tables.keys() & again.tables.keys():
        one, other = golden.tables[name], again.tables[name]
        if one is other or one.columns != other.columns or one == other:
            continue
        if one.content.rows is None or other.content.rows is None:
            continue
        found |= {(name, column) for column in one.columns if projected(one, [column]) != projected(other, [column])}
    return found


def _clock_columns(before: State, golden: State, generated: State) -> set[tuple[str, str]]:
    """Columns that the clock fills by default, and in which the two sides differ by no more than the time between them."""
    found: set[tuple[str, str]] = set()
    for thing, description in golden.catalogue.items():
        if not thing.startswith("column ") or not _CLOCK.search(str(description.get("default") or "")):
            continue
        table, column = str(description.get("table")), str(description.get("name"))
        ours, theirs, start = golden.tables.get(table), generated.tables.get(table), before.tables.get(table)
        if ours is None or theirs is None or ours is theirs or start is ours or start is theirs:
            continue
        if column in ours.columns and column in theirs.columns and _moments_apart(ours, theirs, column):
            found.add((table, column))
    return found


def _moments_apart(one: TableState, other: TableState, column: str) -> bool:
    ours, theirs = projected(one, [column]), projected(other, [column])
    lacking, extra = list((ours - theirs).elements()), list((theirs - ours).elements())
    if not lacking or len(lacking) != len(extra):
        return False
    pairs = zip(sorted(_moments(lacking)), sorted(_moments(extra)), strict=False)
    near = [abs(left - right) <= _RUN_S for left, right in pairs]
    return len(near) == len(lacking) and all(near)


def _moments(cells: Iterable[tuple[Hashable, ...]]) -> Iterator[float]:
    """Points in time as seconds; what is none is left out."""
    for (cell,) in cells:
        moment: Any = cell
        if isinstance(cell, str):
            try:
                moment = dt.datetime.fromisoformat(cell)
            except ValueError:
                continue
        if isinstance(moment, dt.datetime):
            yield (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()
        elif isinstance(moment, dt.date):
            yield dt.datetime.combine(moment, dt.time(), dt.UTC).timestamp()
