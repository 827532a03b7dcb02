"""Pictures of the HTML report as geometry: what to draw where, in the units of the drawing. The template makes SVG of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nl2sql_gate.gates.check import signed
from nl2sql_gate.judgement import Row
from nl2sql_gate.reporters import figures, wording
from nl2sql_gate.reporters.report import Report, Trend

_LEFT, _RIGHT, _WIDTH, _LINE = 200.0, 640.0, 660, 30
_HEIGHT, _TOP, _BOTTOM = 180, 20.0, 140.0
_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_STEPS = 5
_BINS = 24
_WHOLE_POINT = 0.01
_MOST_SLICES = 12
_FEWEST_ITEMS = 10


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Whisker:
    """One metric's difference (`at`) with its interval, on the line `y`, and the same in words."""

    name: str
    words: str
    y: int
    low: float
    high: float
    at: float
    status: str


@dataclass(frozen=True, slots=True)
class Intervals:
    """The interval plot. `zero` is where no difference is, `margin` where the smallest drop that matters is.

    `left_out` says how many slices are too small to be drawn.
    """

    whiskers: tuple[Whisker, ...]
    ticks: tuple[Tick, ...]
    zero: float
    margin: float | None
    width: int
    height: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Dot:
    """One run in the trend."""

    x: float
    y: float
    words: str
    status: str


@dataclass(frozen=True, slots=True)
class Line:
    """The trend of the primary metric, the oldest run first."""

    dots: tuple[Dot, ...]
    path: str
    ticks: tuple[Tick, ...]
    ends: tuple[Tick, ...]
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Bar:
    """One bin of a histogram."""

    x: float
    y: float
    width: float
    height: float
    words: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often a value came, in bins of one width."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    width: int
    height: int
    base: float


def intervals(report: Report) -> Intervals | None:
    """Metrics, gates, and the largest slices with a difference and its interval; nothing without a comparison.

    A dataset may have hundreds of tags with an item or two: their intervals say nothing, and would stand before the cases.
    """
    every = [row for row in report.verdict.rows if row.unit == "share" and row.delta is not None and row.interval is not None]
    if not every:
        return None
    small = [row for row in every if row.kind == "slice" and not row.gated]
    drawn = sorted((row for row in small if row.items >= _FEWEST_ITEMS), key=lambda row: -row.items)[:_MOST_SLICES]
    rows = [row for row in every if row.kind != "slice" or row.gated or row in drawn]
    margin = next((row.limit for row in rows if row.kind == "metric" and row.limit), None)
    reach = max(max(map(abs, _places(row))) for row in rows)
    step = next((step for step in _STEPS if max(reach, margin or 0.0) / step <= _MOST_STEPS), 0.5)
    count = max(1, math.ceil(max(reach, margin or 0.0) / step))

    def at(share: float) -> float:
        return round(_LEFT + (share / (count * step) + 1) / 2 * (_RIGHT - _LEFT), 1)

    digits = 0 if step >= _WHOLE_POINT else 1
    ticks = [Tick(at(n * step), signed(100 * n * step, digits)) for n in range(-count, count + 1)]
    whiskers = []
    for number, row in enumerate(rows):
        low, delta, high = _places(row)
        name = wording.row_name(row)
        words = f"{name}: {figures.points(delta)} points, interval {figures.interval(low, high)}"
        status = row.status if row.gated else "shown"
        whiskers.append(Whisker(name, words, _LINE * (number + 1), at(low), at(high), at(delta), status))
    edge = None if margin is None else at(-margin)
    height = _LINE * (len(rows) + 2)
    return Intervals(tuple(whiskers), tuple(ticks), at(0.0), edge, _WIDTH, height, len(every) - len(rows))


def trend(history: tuple[Trend, ...]) -> Line | None:
    """Former runs from left to right; nothing for fewer than two."""
    if len(history) <= 1:
        return None
    lowest = min(run.value for run in history)
    floor = max(0.0, math.floor(lowest * 10 - 0.5) / 10)
    across = (_RIGHT - 60) / (len(history) - 1)
    dots = []
    for number, run in enumerate(history):
        y = _BOTTOM - (run.value - floor) / (1 - floor or 1) * (_BOTTOM - _TOP)
        words = f"{run.label}: {figures.percent(run.value)} of {run.n}" + (f", {run.status}" if run.status else "")
        dots.append(Dot(round(60 + number * across, 1), round(y, 1), words, run.status))
    path = "M" + " L".join(f"{dot.x} {dot.y}" for dot in dots)
    ticks = (Tick(_BOTTOM, figures.percent(floor)), Tick(_TOP, "100 %"))
    ends = (Tick(dots[0].x, history[0].label), Tick(dots[-1].x - 20, history[-1].label))
    return Line(tuple(dots), path, ticks, ends, _WIDTH, _HEIGHT)


def histogram(values: list[float]) -> Histogram | None:
    """Seconds in bins from 0 to the largest; nothing for fewer than two values."""
    if len(values) <= 1 or max(values) <= 0:
        return None
    most = max(values)
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int(value / most * _BINS))] += 1
    width = (_RIGHT - 60) / _BINS
    bars = []
    for number, count in enumerate(counts):
        height = count / max(counts) * (_BOTTOM - _TOP)
        low, high = number * most / _BINS, (number + 1) * most / _BINS
        words = f"{figures.seconds(low)} to {figures.seconds(high)}: {count:,} cases"
        x, y = 60 + number * width, _BOTTOM - height
        bars.append(Bar(round(x, 1), round(y, 1), round(width - 2, 1), round(height, 1), words))
    ticks = tuple(Tick(round(60 + share * (_RIGHT - 60), 1), figures.seconds(share * most)) for share in (0.0, 0.5, 1.0))
    return Histogram(tuple(bars), ticks, _WIDTH, _HEIGHT, _BOTTOM)


def _places(row: Row) -> tuple[float, float, float]:
    low, high = row.interval or (0.0, 0.0)
    return low, row.delta or 0.0, high
