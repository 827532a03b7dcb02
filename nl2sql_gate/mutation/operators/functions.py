"""Errors in functions: rounding, integer division, parts of dates and texts, and what another dialect means by the same word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.site import Site, replaced
from nl2sql_gate.sqltext.parse import Tree

_PARTS = {"YEAR": "MONTH", "QUARTER": "MONTH", "MONTH": "YEAR", "WEEK": "MONTH", "DAY": "MONTH", "HOUR": "DAY", "MINUTE": "HOUR"}
_WEEKDAYS = {"DOW": "ISODOW", "ISODOW": "DOW", "DAYOFWEEK": "ISODOW"}
_FORMATS = (("%m", "%d"), ("%d", "%m"), ("%Y", "%m"), ("%H", "%M"), ("%w", "%d"))
_TIMES = {exp.Year: exp.Month, exp.Month: exp.Day, exp.Day: exp.Month, exp.Quarter: exp.Month}
_EXACT = (exp.Cast, exp.TryCast)


def round_digits(query: Query) -> Iterator[Site]:
    """One digit more or less."""
    for node in query.all(exp.Round):
        digits = node.args.get("decimals")
        number = int(digits.this) if isinstance(digits, exp.Literal) and digits.is_int else 0 if digits is None else None
        if number is not None:
            new = node.copy()
            new.set("decimals", exp.Literal.number(number + (1 if number == 0 else query.draw.choice((-1, 1)))))
            yield replaced(node, new)


def round_remove(query: Query) -> Iterator[Site]:
    """Not rounded."""
    for node in query.all(exp.Round):
        yield replaced(node, node.this.copy())


def integer_division(query: Query) -> Iterator[Site]:
    """What made a quotient exact lost: a factor of 1.0, a decimal point, a cast; where whole numbers divide to whole ones."""
    if query.dialect in {"mysql", "bigquery", "oracle", "duckdb", "snowflake"}:
        return
    # Only there the mean of whole numbers is a whole number.
    means = (exp.Div, exp.Avg) if query.dialect == "tsql" else (exp.Div,)
    for node in query.all(exp.Mul, exp.Literal, *_EXACT):
        quotient: Tree = node.find_ancestor(*means, exp.Query)
        if quotient is None or isinstance(quotient, exp.Query):
            continue
        while isinstance(quotient.parent, exp.Paren | exp.Mul | exp.Div):
            quotient = quotient.parent
        if isinstance(node, exp.Mul):
            for factor, rest in ((node.this, node.expression), (node.expression, node.this)):
                if _is_point(factor) and float(factor.this) == 1 and _is_whole(query, quotient, factor):
                    yield replaced(node, rest.copy())
        elif _is_point(node) and float(node.this) not in {0.0, 1.0} and _is_whole(query, quotient, node):
            yield replaced(node, exp.Literal.number(node.this.partition(".")[0]))
        elif isinstance(node, _EXACT) and node.to.is_type(*exp.DataType.REAL_TYPES) and _is_whole(query, quotient, node):
            yield replaced(node, node.this.copy())


def _is_point(node: Tree) -> bool:
    """Whether it is a whole number written with a point."""
    return isinstance(node, exp.Literal) and not node.is_string and bool(re.fullmatch(r"\d+\.0*", node.this))


def _is_whole(query: Query, quotient: Tree, aside: Tree) -> bool:
    """Whether nothing in a quotient has a fraction but what stands `aside`."""
    apart = {id(node) for node in aside.walk()}
    for node in quotient.walk():
        if isinstance(node, exp.Column):
            known = query.meaning(node)
            if known is not None and known.kind == "number" and not known.whole:
                return False
        elif id(node) not in apart:
            fraction = isinstance(node, exp.Literal) and not node.is_string and "." in node.this
            if (
                fraction
                or isinstance(node, exp.Avg | exp.Extract)
                or (isinstance(node, _EXACT) and node.to.is_type(*exp.DataType.REAL_TYPES))
            ):
                return False
    return True


def date_part_swap(query: Query) -> Iterator[Site]:
    """The month for the year, the day for the month."""
    for node in query.all(exp.Extract):
        part = _PARTS.get(node.this.name.upper())
        if part is not None:
            yield Site(replaced(node.this, exp.var(part)).changes, node, f"EXTRACT({part} …)")
    for node in query.all(exp.TimestampTrunc, exp.DateTrunc):
        unit = node.args.get("unit")
        part = _PARTS.get(unit.name.upper()) if unit is not None else None
        if part is not None:
            new = exp.var(part) if isinstance(unit, exp.Var) else exp.Literal.string(part)
            yield Site(replaced(unit, new).changes, node, part)
    for node in query.all(*_TIMES):
        if type(node) in _TIMES:
            yield replaced(node, _TIMES[type(node)](this=node.this.copy()))
    yield from _formats(query)


def _formats(query: Query) -> Iterator[Site]:
    for node in query.all(exp.TimeToStr, exp.Anonymous):
        if isinstance(node, exp.TimeToStr):
            literal = node.args.get("format")
        else:
            literal = node.expressions[0] if node.name.upper() == "STRFTIME" and node.expressions else None
        if not isinstance(literal, exp.Literal):
            continue
        found = next(((old, new) for old, new in _FORMATS if old in literal.this), None)
        if found is not None:
            yield replaced(literal, exp.Literal.string(literal.this.replace(*found, 1)))


def substring_offset(query: Query) -> Iterator[Site]:
    """A part of a text that begins, or ends, one letter off: counted from nought instead of one."""
    for node in query.all(exp.Substring):
        for name in ("start", "length"):
            number = node.args.get(name)
            if isinstance(number, exp.Literal) and number.is_int:
                step = 1 if int(number.this) <= 1 else -1
                yield Site(replaced(number, exp.Literal.number(int(number.this) + step)).changes, node, f"{name} {step:+d}")
            elif isinstance(number, exp.Add) and isinstance(number.expression, exp.Literal):
                yield replaced(number, number.this.copy())


def function_drop(query: Query) -> Iterator[Site]:
    """ABS, TRIM or the cut of a time to its day forgotten."""
    for node in query.all(exp.Abs, exp.Trim, exp.Date, exp.TsOrDsToDate, exp.Ceil, exp.Floor):
        if isinstance(node.this, exp.Column) and len([value for value in node.args.values() if isinstance(value, exp.Expr)]) == 1:
            yield replaced(node, node.this.copy())


def dialect_function(query: Query) -> Iterator[Site]:
    """A function as another dialect means it: bytes for letters, NULL passed over, another first day of the week, other case."""
    for kinds, rewrite in _FOREIGN:
        for node in query.all(*kinds):
            new = rewrite(node, query.dialect)
            if new is not None:
                yield replaced(node, new)


def _bytes(node: Tree, dialect: str) -> Tree | None:
    text = node.this.copy()
    match dialect:
        case "postgres":
            return exp.Anonymous(this="OCTET_LENGTH", expressions=[text])
        case "mysql":
            return exp.Anonymous(this="LENGTH", expressions=[text])
        case "duckdb":
            return exp.Anonymous(this="STRLEN", expressions=[text])
        case "tsql":
            return exp.Anonymous(this="DATALENGTH", expressions=[text])
        case "sqlite":
            return exp.Length(this=exp.Cast(this=text, to=exp.DataType.build("blob", dialect="sqlite")))
        case _:
            return None


def _other_like(node: Tree, dialect: str) -> Tree | None:
    if isinstance(node.parent, exp.Escape) or node.args.get("negate") or isinstance(node.this, exp.Lower | exp.Upper):
        return None
    left, pattern = node.this.copy(), node.expression.copy()
    if dialect in {"postgres", "duckdb", "snowflake", "redshift"}:
        other = exp.ILike if isinstance(node, exp.Like) else exp.Like
        return other(this=left, expression=pattern)
    if dialect == "sqlite" and isinstance(pattern, exp.Literal):
        glob = "".join({"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"}.get(letter, letter) for letter in pattern.this)
        return exp.Glob(this=left, expression=exp.Literal.string(glob))
    return None


def _joined(node: Tree, dialect: str) -> Tree | None:
    if dialect in {"postgres", "duckdb"} and isinstance(node, exp.DPipe):
        parts = list(node.flatten()) if not isinstance(node.parent, exp.DPipe) else []
        return exp.Anonymous(this="CONCAT", expressions=[part.copy() for part in parts]) if parts else None
    if dialect == "mysql" and isinstance(node, exp.Concat):
        return exp.Anonymous(this="CONCAT_WS", expressions=[exp.Literal.string(""), *(part.copy() for part in node.expressions)])
    return None


def _weekday(node: Tree, dialect: str) -> Tree | None:
    if isinstance(node, exp.Extract):
        part = _WEEKDAYS.get(node.this.name.upper()) if dialect in {"postgres", "duckdb"} else None
        return exp.Extract(this=exp.var(part), expression=node.expression.copy()) if part is not None else None
    return exp.Anonymous(this="WEEKDAY", expressions=[node.this.copy()]) if dialect == "mysql" else None


def _truncated(node: Tree, dialect: str) -> Tree | None:
    name = {"postgres": "TRUNC", "oracle": "TRUNC", "snowflake": "TRUNC", "mysql": "TRUNCATE"}.get(dialect)
    digits = node.args.get("decimals")
    if name is None or (digits is None and dialect == "mysql"):
        return None
    return exp.Anonymous(this=name, expressions=[node.this.copy(), *([digits.copy()] if digits is not None else [])])


_FOREIGN: tuple[tuple[tuple[type, ...], Callable[[Tree, str], Tree | None]], ...] = (
    ((exp.Length,), _bytes),
    ((exp.Like, exp.ILike), _other_like),
    ((exp.DPipe, exp.Concat), _joined),
    ((exp.Extract, exp.DayOfWeek), _weekday),
    ((exp.Round,), _truncated),
)


OPERATORS = (
    Operator(
        "round_digits", "function", round_digits,
        "rounds to one digit more or less", "a row whose value has more digits",
    ),
    Operator(
        "round_remove", "function", round_remove,
        "does not round", "a row whose value has more digits",
    ),
    Operator(
        "integer_division", "function", integer_division,
        "divides whole numbers to a whole number", "a row whose quotient is no whole number",
    ),
    Operator(
        "date_part_swap", "function", date_part_swap,
        "takes the month for the year, the day for the month", "two rows of one period in different parts of it",
    ),
    Operator(
        "substring_offset", "function", substring_offset,
        "cuts a text one letter off", "a row whose text has another letter there",
    ),
    Operator(
        "function_drop", "function", function_drop,
        "forgets ABS, TRIM, FLOOR or the cut to the day", "a row that the function changes",
    ),
    Operator(
        "dialect_function", "function", dialect_function,
        "uses a function as another dialect means it", "a row with a letter of two bytes, other case, NULL, or on a Sunday",
    ),
)  # fmt: skip
