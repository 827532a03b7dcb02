"""The sensitivity of metrics as a table of text, as CSV, as JSON, and as a picture."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape

from nl2sql_gate.mutation_testing.sensitivity import EXECUTION, Seen, by_error

SHORT = {
    "execution_accuracy": "EX",
    "execution_accuracy_bird": "EX BIRD",
    "exact_column_and_exact_cell": "EE",
    "exact_column_and_partial_cell": "EP",
    "semantic_column_and_exact_cell": "SE",
    "semantic_column_and_partial_cell": "SP",
    "no_column_and_partial_cell": "NP",
    "unified_column_and_semantic_row": "UNI",
}
"""Technique → what stands above its column."""

_CELL, _ROW, _LEFT, _TOP = 64, 20, 330, 64
_COLUMNS = ("error", "technique", "n", "ex", "exp", "exr", "f1")


def as_text(rows: Sequence[Seen]) -> str:
    """A line for each kind of error: EX of both, then F1 (EXP/EXR) of each technique, as means in [0, 1]."""
    table = by_error(rows)
    techniques = list(dict.fromkeys(row.technique for row in rows))
    width = max((len(error) for error in table), default=5)
    head = "error".ljust(width) + "     n" + "".join(f"  {SHORT.get(name, name):>15}" for name in techniques)
    lines = [head]
    for error, found in table.items():
        count = max(row.n for row in found.values())
        lines.append(error.ljust(width) + f"  {count:>4}" + "".join(f"  {_cell(found[name]):>15}" for name in techniques))
    lines.append("EX: share taken for right. Others: F1 (EXP/EXR). 1.00 is an error that the metric does not see.")
    return "\n".join(lines) + "\n"


def as_csv(rows: Sequence[Seen]) -> str:
    """A line for each kind of error and technique, means unrounded, empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow(["" if value is None else value for value in asdict(row).values()])
    return out.getvalue()


def as_json(rows: Sequence[Seen]) -> str:
    """The rows as objects."""
    return json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1) + "\n"


def as_svg(rows: Sequence[Seen]) -> str:
    """A picture: a row for each kind of error, a column for each technique, the darker the more of the error goes unseen."""
    table = by_error(rows)
    techniques = list(dict.fromkeys(row.technique for row in rows))
    width, height = _LEFT + _CELL * len(techniques) + 10, _TOP + _ROW * len(table) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        "<title>What each metric still gives to a wrong answer, by kind of error</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT - 8}" y="{_TOP - 30}" text-anchor="end" fill="#555555">mean EX or F1; dark: goes unseen</text>',
    ]
    parts += [
        f'<text x="{_LEFT + _CELL * at + _CELL // 2}" y="{_TOP - 8}" text-anchor="middle">{escape(SHORT.get(name, name))}</text>'
        for at, name in enumerate(techniques)
    ]
    for line, (error, found) in enumerate(table.items()):
        top = _TOP + _ROW * line
        count = max(row.n for row in found.values())
        parts.append(f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(error)} ({count})</text>')
        parts += [_square(found[name], _LEFT + _CELL * at, top) for at, name in enumerate(techniques)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _square(row: Seen, left: int, top: int) -> str:
    value = row.ex if row.technique in EXECUTION else row.f1
    if value is None:
        return f'<text x="{left + _CELL // 2}" y="{top + 14}" text-anchor="middle" fill="#999999">–</text>'
    shade = round(255 - 190 * min(1.0, max(0.0, value)))
    ink = "#ffffff" if shade < 150 else "#000000"  # noqa: PLR2004 - light text where the square is dark
    return (
        f'<rect x="{left + 1}" y="{top + 1}" width="{_CELL - 2}" height="{_ROW - 2}" fill="rgb({shade},{shade},255)"/>'
        f'<text x="{left + _CELL // 2}" y="{top + 14}" text-anchor="middle" fill="{ink}">{value:.2f}</text>'
    )


def _cell(row: Seen) -> str:
    if row.technique in EXECUTION:
        return "–" if row.ex is None else f"{row.ex:.2f}"
    return "–" if row.f1 is None else f"{row.f1:.2f} ({row.exp:.2f}/{row.exr:.2f})"
