"""What literals become when a model gets them slightly wrong: a day, a unit, a letter's case."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from sqlglot import exp

from nl2sql_gate.sqltext.parse import Tree

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})((?:[ T]\d{2}:\d{2}.*)?)")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_YEAR = re.compile(r"(?:19|20)\d{2}")


def shifted_date(literal: Tree, draw: Random) -> Tree | None:
    """The literal a day earlier or later, where it is a date; a month where it is a month, a year where it is a year."""
    step = draw.choice((-1, 1))
    if not (isinstance(literal, exp.Literal) and literal.is_string):
        return None
    text = literal.this
    try:
        if found := _DATE.fullmatch(text):
            day = date(*(int(part) for part in found.groups()[:3])) + timedelta(days=step)
            return exp.Literal.string(f"{day.isoformat()}{found.group(4)}")
        if found := _MONTH.fullmatch(text):
            months = int(found.group(1)) * 12 + int(found.group(2)) - 1 + step
            return exp.Literal.string(f"{months // 12:04d}-{months % 12 + 1:02d}")
    except (ValueError, OverflowError):
        return None
    return exp.Literal.string(str(int(text) + step)) if _YEAR.fullmatch(text) else None


def shifted_number(literal: Tree, draw: Random) -> Tree | None:
    """The number one more or less in its last digit."""
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        number = Decimal(literal.this)
    except ArithmeticError:
        return None
    if not number.is_finite() or abs(number) >= Decimal(10) ** 15:
        return None
    step = Decimal(1).scaleb(int(number.as_tuple().exponent)) if literal.this.replace(".", "").isdigit() else Decimal(1)
    # Less than nothing is no mistake that anybody makes of a nought.
    changed = number + (draw.choice((-1, 1)) * step if number > 0 else step)
    return exp.Literal.number(format(changed, "f"))


def other_case(literal: Tree) -> Tree | None:
    """The text in lower case, or with a capital where it has none; nothing where it has no letters."""
    if not (isinstance(literal, exp.Literal) and literal.is_string) or _DATE.fullmatch(literal.this):
        return None
    text = literal.this
    changed = text.lower() if text != text.lower() else text[:1].upper() + text[1:]
    if changed == text:
        changed = text.upper()
    return exp.Literal.string(changed) if changed != text else None


def other_value(node: Tree, draw: Random) -> Tree | None:
    """Another value of the same kind for a literal that is written to a row."""
    if isinstance(node, exp.Boolean):
        return exp.Boolean(this=not node.this)
    found = shifted_date(node, draw) or shifted_number(node, draw) or other_case(node)
    if found is None and isinstance(node, exp.Literal) and node.is_string:
        return exp.Literal.string(f"{node.this}?")
    return found
