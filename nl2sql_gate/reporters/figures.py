"""Numbers for people: percent with their counts, differences with their signs, intervals, amounts."""

from __future__ import annotations

import math

from nl2sql_gate.gates.check import places, signed
from nl2sql_gate.judgement import Figure, Row

_SMALLEST_P = 0.001
_MINUTE = 60
_HOUR = 3600
_ROUNDING = 1e-6
_TEN = 10


def percent(share: float) -> str:
    """`75.0 %`; more digits where one would say 100 or 0 of something that is not."""
    for digits in (1, 2, 3):
        text = f"{100 * share:.{digits}f}"
        if float(text) not in {0.0, 100.0} or share in {0.0, 1.0}:
            break
    return f"{text} %"


def share(figure: Figure) -> str:
    """`75.0 % (150/200)`."""
    return share_of(figure.value, figure.total, figure.n) if figure.n else "none measured"


def share_of(value: float, total: float, n: int) -> str:
    """`75.0 % (150/200)`: the share, and what it is of."""
    return f"{percent(value)} ({_plain(total)}/{n})"


def _plain(total: float) -> str:
    return f"{round(total)}" if abs(total - round(total)) < _ROUNDING else f"{total:.2f}"


def points(delta: float) -> str:
    """A difference of shares in points of percent, without the word."""
    return signed(100 * delta)


def interval(low: float, high: float) -> str:
    """`−7.8 … −1.2`, in points."""
    return f"{points(low)} … {points(high)}"


def p_value(p: float) -> str:
    """`p = 0.011`, `p < 0.001`."""
    return "p < 0.001" if p < _SMALLEST_P else f"p = {p:.3f}"


def ratio(value: float) -> str:
    """A ratio as a change in percent: `+5 %`."""
    return f"{signed(100 * (value - 1), 0)} %" if math.isfinite(value) else "∞"


def seconds(value: float) -> str:
    """`0.35 s`, `12.3 s`, `3 min 20 s`, `2 h 5 min`."""
    if value >= _HOUR:
        return f"{int(value // _HOUR)} h {int(value % _HOUR // _MINUTE)} min"
    if value >= _MINUTE:
        return f"{int(value // _MINUTE)} min {int(value % _MINUTE)} s"
    return f"{value:.1f} s" if value >= _TEN else f"{value:.2f} s"


def amount(value: float) -> str:
    """A count with thousands separated, or an amount with at most two decimals."""
    return f"{round(value):,}" if abs(value - round(value)) < _ROUNDING else f"{value:,.2f}"


def money(value: float) -> str:
    """A price in the currency of the settings: `0.4100`, `12.50`."""
    return f"{value:,.2f}" if value >= 1 else f"{value:.4f}"


def figure(row: Row, given: Figure | None) -> str:
    """A figure of a row in the row's unit; `–` where there is none."""
    if given is None:
        return "–"
    if row.unit == "share":
        return share(given)
    if row.unit == "items":
        return f"{_plain(given.total)}/{given.n}"
    if row.unit == "s" or row.name == "latency":
        return seconds(given.value)
    if row.unit == "cost" or row.name == "cost":
        return money(given.value)
    return amount(given.value)


def change(row: Row) -> str:
    """A row's difference in its unit, with the interval where there is one."""
    if row.delta is None:
        return "–"
    if row.unit == "items":
        return signed(row.delta, 0)
    if row.kind in {"ratio", "budget"} or row.unit in {"s", "cost", "tokens", "ratio"}:
        between = f" ({ratio(row.interval[0])} … {ratio(row.interval[1])})" if row.interval and row.kind == "ratio" else ""
        return f"{ratio(row.delta)}{between}"
    between = f" ({interval(*row.interval)})" if row.interval else ""
    return f"{signed(100 * row.delta, places(row.delta, row.limit))}{between}"


def moved(row: Row) -> str:
    """How far a share moved, in points without sign, told apart from the margin that it only comes near."""
    delta = row.delta or 0.0
    return f"{100 * abs(delta):.{places(delta, row.limit)}f}"
