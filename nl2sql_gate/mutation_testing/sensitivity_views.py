"""The sensitivity of metrics as a table of text, as CSV, as JSON, and as a picture."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape

from nl2sql_gate.mutation_testing.sensitivity import EXECUTION, TOTAL, Seen, by_error

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

_CELL, _ROW, _LEFT, _TOP, _GAP, _LEAST_WIDTH = 64, 20, 260, 76, 16, 900
_TITLE = "What each metric still gives to a wrong answer, by kind of error"
_LEGEND = (
    "Mean over the mutants of each kind (their number in brackets): EX is the share taken for right, the others are F1. "
    "Dark: the error goes unseen."
)
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
    """A picture: a row for each kind of error, all together first, a column for each technique; what is dark goes unseen."""
    table = by_error(rows)
    techniques = list(dict.fromkeys(row.technique for row in rows))
    errors = sorted(table, key=lambda error: error != TOTAL)
    width = max(_LEFT + _CELL * len(techniques) + 10, _LEAST_WIDTH)
    below = _TOP + _ROW * len(errors) + _GAP
    height = below + _GAP + _ROW * len(techniques)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f"<title>{_TITLE}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="24" font-size="15" font-weight="bold">{_TITLE}</text>',
        f'<text x="10" y="42" fill="#555555">{_LEGEND}</text>',
    ]
    parts += [
        f'<text x="{_LEFT + _CELL * at + _CELL // 2}" y="{_TOP - 8}" text-anchor="middle" font-weight="bold">'
        f"{escape(SHORT.get(name, name))}</text>"
        for at, name in enumerate(techniques)
    ]
    for line, error in enumerate(errors):
        found = table[error]
        top = _TOP + _ROW * line + (_GAP // 2 if error != TOTAL and TOTAL in table else 0)
        count = max(row.n for row in found.values())
        weight = ' font-weight="bold"' if error == TOTAL else ""
        parts.append(f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end"{weight}>{escape(error)} ({count})</text>')
        parts += [_square(found[name], _LEFT + _CELL * at, top) for at, name in enumerate(techniques)]
    parts += [
        f'<text x="{_LEFT}" y="{below + _GAP + _ROW * line}" fill="#333333">{escape(f"{SHORT.get(name, name)}: {name}")}</text>'
        for line, name in enumerate(techniques)
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _square(row: Seen, left: int, top: int) -> str:
    value = row.ex if row.technique in EXECUTION else row.f1
    if value is None:
        return f'<text x="{left + _CELL // 2}" y="{top + 14}" text-anchor="middle" fill="#999999">–</text>'
    shade = round(255 - 190 * min(1.0, max(0.0, value)))
    ink = "#ffffff" if shade < 110 else "#000000"  # noqa: PLR2004 - whichever stands out more
    return (
        f'<rect x="{left + 1}" y="{top + 1}" width="{_CELL - 2}" height="{_ROW - 2}" fill="rgb({shade},{shade},255)"/>'
        f'<text x="{left + _CELL // 2}" y="{top + 14}" text-anchor="middle" fill="{ink}">{value:.2f}</text>'
    )


def _cell(row: Seen) -> str:
    if row.technique in EXECUTION:
        return "–" if row.ex is None else f"{row.ex:.2f}"
    return "–" if row.f1 is None else f"{row.f1:.2f} ({row.exp:.2f}/{row.exr:.2f})"
