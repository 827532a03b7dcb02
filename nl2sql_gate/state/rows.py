"""How the rows of one table differ after golden and after generated SQL, told from where both began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from nl2sql_gate.state.tables import TableState, close

FrozenRow = tuple[Hashable, ...]


@dataclass
class Findings:
    """Sentences by what they mean: beyond golden's changes, short of them, other than them."""

    collateral: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)


def compare_rows(
    name: str, before: TableState | None, golden: TableState, generated: TableState, *, ignored: Sequence[str], found: Findings
) -> None:
    """Add to `found` how `generated` differs from `golden`, over the columns that all have, but for the `ignored` ones."""
    if golden is generated:
        return
    if golden.content.rows is None or generated.content.rows is None:
        _compare_large(name, golden, generated, found)
        return
    columns = [
        column
        for column in golden.columns
        if column in generated.columns and column not in ignored and (before is None or column in before.columns)
    ]
    if not columns:
        # Neither shares a column with the table as it was: what was there is no help.
        before = None
        columns = [column for column in golden.columns if column in generated.columns and column not in ignored]
    if before is not None and before.content.rows is None:
        before = None
    ours, theirs = projected(golden, columns), projected(generated, columns)
    if ours == theirs:
        return
    start = projected(before, columns) if before is not None else Counter()
    key = [columns.index(column) for column in golden.key if column in columns]
    maps = [_by_key(rows, key) for rows in (start, ours, theirs)] if key and len(key) == len(golden.key) else []
    if maps and all(found_map is not None for found_map in maps):
        _compare_keyed(name, [m or {} for m in maps], columns, found)
    else:
        _compare_counted(name, start, ours, theirs, found)


def projected(table: TableState, columns: Sequence[str]) -> Counter[FrozenRow]:
    """The rows of `table` over some of its columns."""
    if tuple(columns) == table.columns:
        return table.counted  # type: ignore[return-value]
    positions = [table.columns.index(column) for column in columns]
    counted: Counter[FrozenRow] = Counter()
    for row, count in table.counted.items():
        counted[tuple(row[i] for i in positions)] += count  # type: ignore[index]
    return counted


def _by_key(rows: Counter[FrozenRow], key: Sequence[int]) -> dict[FrozenRow, FrozenRow] | None:
    """Rows by primary key; `None` where it identifies none, as in SQLite with NULLs."""
    found = {tuple(row[i] for i in key): row for row in rows}
    return found if len(found) == rows.total() else None


def _compare_keyed(name: str, maps: Sequence[Mapping[FrozenRow, FrozenRow]], columns: Sequence[str], found: Findings) -> None:
    start, ours, theirs = maps
    beyond: Counter[str] = Counter()
    short: Counter[str] = Counter()
    other, other_columns = 0, set()
    for key in {**start, **ours, **theirs}:
        old, wanted, got = start.get(key), ours.get(key), theirs.get(key)
        if _same(wanted, got):
            continue
        if wanted == old:
            beyond[_change(old, got)] += 1
        elif got == old:
            short[_change(old, wanted)] += 1
        else:
            other += 1
            if wanted is not None and got is not None:
                other_columns |= {columns[i] for i in range(len(columns)) if not close(wanted[i], got[i])}
    for change in ("inserts", "updates", "deletes"):
        if beyond[change]:
            found.collateral.append(f"{change} {_rows(beyond[change])} of {name} more than golden")
        if short[change]:
            found.missing.append(f"{change} {_rows(short[change])} of {name} less than golden")
    if other:
        where = f" (column {', '.join(sorted(other_columns))})" if other_columns else ""
        found.different.append(f"leaves other values than golden in {_rows(other)} of {name}{where}")


def _compare_counted(
    name: str, start: Counter[FrozenRow], ours: Counter[FrozenRow], theirs: Counter[FrozenRow], found: Findings
) -> None:
    lacking, extra = _unpaired(ours - theirs, theirs - ours)
    destroyed = lacking & start  # rows that golden leaves alone
    unmade = lacking - destroyed
    kept = extra & start  # rows that golden takes away
    made = extra - kept
    if destroyed.total():
        found.collateral.append(f"deletes or changes {_rows(destroyed.total())} of {name} that golden keeps")
    if kept.total():
        found.missing.append(f"keeps {_rows(kept.total())} of {name} that golden deletes or changes")
    # A row changed beyond golden's changes shows as one destroyed and one made; one left unchanged as one kept and one unmade.
    more = max(0, made.total() - destroyed.total())
    fewer = max(0, unmade.total() - kept.total())
    # A row that golden deletes and the other side changes shows as one made alone.
    both = min(more, fewer + ((start - ours) & (start - theirs)).total())
    if both:
        found.different.append(f"leaves other values than golden in {_rows(both)} of {name}")
    if more > both:
        found.collateral.append(f"leaves {_rows(more - both)} of {name} that golden does not")
    if fewer > both:
        found.missing.append(f"lacks {_rows(fewer - both)} of {name} that golden leaves")


def _unpaired(lacking: Counter[FrozenRow], extra: Counter[FrozenRow]) -> tuple[Counter[FrozenRow], Counter[FrozenRow]]:
    """What is left when rows that differ only in the noise of floats are paired; few rows, or it is not tried."""
    few = 2_000
    if not any(isinstance(cell, float) for row in lacking for cell in row) or lacking.total() > few:
        return lacking, extra
    left, right = Counter(lacking), Counter(extra)
    for one, other in zip(sorted(lacking.elements(), key=repr), sorted(extra.elements(), key=repr), strict=False):
        if _same(one, other):
            left[one] -= 1
            right[other] -= 1
    return +left, +right


def _compare_large(name: str, golden: TableState, generated: TableState, found: Findings) -> None:
    if golden == generated:
        return
    ours, theirs = golden.content.count, generated.content.count
    if ours == theirs:
        found.different.append(f"leaves other rows than golden in {name} ({ours:,} rows, compared by digest)")
    else:
        found.different.append(f"leaves {theirs:,} rows in {name}, golden {ours:,}")


def _same(one: FrozenRow | None, other: FrozenRow | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or all(map(close, one, other))


def _change(old: FrozenRow | None, new: FrozenRow | None) -> str:
    if old is None:
        return "inserts"
    return "deletes" if new is None else "updates"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
