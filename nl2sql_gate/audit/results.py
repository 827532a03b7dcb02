"""Findings in golden results: emptiness, ties, NULL order, numbers as text, disagreement, effects that nothing sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from nl2sql_gate.audit.findings import Finding, found
from nl2sql_gate.golden import VARIES, Golden
from nl2sql_gate.meeting import met_side
from nl2sql_gate.protocols import Scorer
from nl2sql_gate.records import Case, Item, ResultSet, Side

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
FEWEST_NUMBERS = 2


def golden_findings(item: Item, dialect: str, golden: Golden) -> Iterator[Finding]:
    """What the golden answers of one item in one dialect show by themselves."""
    if golden.failure is not None:
        kind = "golden-unstable" if golden.failure.code == "unstable" else "golden-error"
        yield found(kind, item, golden.failure.message, dialect)
        return
    for warned in golden.warnings:
        if warned.code == "golden_alternative_fails":
            yield found("golden-error", item, f"one alternative: {warned.message}", dialect)
    if item.query_type == "dql":
        for side in golden.sides:
            yield from _rows(item, dialect, side)
            yield from _keys(item, dialect, side)
    else:
        yield from _effect(item, dialect, golden.sides)


def _rows(item: Item, dialect: str, side: Side) -> Iterator[Finding]:
    rows = side.result.rows
    if not rows:
        yield found("golden-empty", item, "0 rows", dialect)
    elif all(cell is None for row in rows for cell in row):
        yield found("golden-all-null", item, f"{len(rows)} row(s), every cell NULL", dialect)
    if any(side.varies):
        columns = ", ".join(side.result.columns[index] for index in sorted(side.varies[0]))
        yield found("golden-clock", item, f"{columns} differs between two runs", dialect)


def _keys(item: Item, dialect: str, side: Side) -> Iterator[Finding]:
    """Keys are known where the order was recognised; there is one tuple of keys a row."""
    if side.order.kind != "keys":
        return
    for position, values in enumerate(zip(*side.order.keys, strict=True), start=1):
        if any(value is None for value in values) and any(value is not None for value in values):
            count = sum(value is None for value in values)
            yield found("null-order", item, f"key {position} is NULL in {count} of {len(values)} rows", dialect)
        if _numbers_as_text(values):
            yield found("numeric-text", item, f"key {position} is text such as {values[0]!r} and {values[-1]!r}", dialect)


def _numbers_as_text(values: tuple[object, ...]) -> bool:
    """Texts that are all numbers, and that sort otherwise as numbers."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < FEWEST_NUMBERS or not all(_NUMBER.fullmatch(text.strip()) for text in texts):
        return False
    return sorted(texts) != sorted(texts, key=Decimal)


def _effect(item: Item, dialect: str, sides: tuple[Side, ...]) -> Iterator[Finding]:
    for side in sides:
        changed = side.before is not None and side.after is not None and side.before != side.after
        seen = bool(side.evals) and bool(side.evals_before) and side.evals_before != side.evals
        asked = bool(side.evals) and bool(side.evals_before)
        if changed and asked and not seen:
            yield found("effect-unseen", item, "its result is the same before and after the golden SQL", dialect)
        if not changed and side.before is not None and not seen:
            yield found("no-effect", item, "neither the data nor the catalogue differ afterwards", dialect)


def disagreements(item: Item, goldens: Mapping[str, Golden], scorer: Scorer) -> Iterator[Finding]:
    """Alternatives of one dialect, and goldens of two dialects, that do not give the same result."""
    sides = {name: golden.sides for name, golden in goldens.items() if golden.sides and item.query_type == "dql"}
    for name, alternatives in sides.items():
        for number, other in enumerate(alternatives[1:], start=2):
            if not _agree(item, name, alternatives[0], other, scorer):
                yield found("alternatives-disagree", item, f"alternative {number} differs from the first", name)
                break
    names = list(sides)
    for name in names[1:]:
        pairs = ((one, other) for one in sides[names[0]] for other in sides[name])
        if not any(_same(item, name, one, other, scorer) for one, other in pairs):
            first, second = (_shown(sides[each][0].result) for each in (names[0], name))
            yield found("dialects-disagree", item, f"{names[0]}: {first}; {name}: {second}", name)


def _agree(item: Item, dialect: str, one: Side, other: Side, scorer: Scorer) -> bool:
    """Whether two alternatives give the same answer, one of them perhaps with more columns."""
    narrow, wide = sorted((one, other), key=lambda side: len(side.result.columns))
    if len(narrow.result.columns) == len(wide.result.columns):
        return _same(item, dialect, one, other, scorer)
    case = Case(item, dialect, "dql", (met_side(narrow),), met_side(wide), columns="superset")
    return scorer.score(case).value >= 1


def _same(item: Item, dialect: str, one: Side, other: Side, scorer: Scorer) -> bool:
    if one.order.kind == "free" or other.order.kind != "free":
        one, other = other, one
    case = Case(item, dialect, "dql", (met_side(one),), met_side(other), columns=item.columns or "position")
    return scorer.score(case).value >= 1


def _shown(result: ResultSet) -> str:
    first = ", ".join("NULL" if cell is None else str(cell) for cell in result.rows[0])[:80] if result.rows else ""
    return f"{len(result.rows)} row(s)" + (f", first ({first})" if first else "")


def firm(golden: Golden) -> bool:
    """Whether nothing in the golden results varies by nature."""
    return not any(cell == VARIES for side in golden.sides for row in side.result.rows for cell in row)
