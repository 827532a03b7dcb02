"""Former runs for the trend: one JSON line each, kept beside a baseline."""

from __future__ import annotations

import json
import math
from typing import Any

from nl2sql_gate.reporters.report import Report, Trend

KEPT = 200
"""Lines that a history keeps: more than a picture can show."""


def history_line(report: Report, *, label: str) -> str:
    """The line of this run; `label` is what the axis shows, such as a commit or a date."""
    accuracy = report.verdict.accuracy.get(report.primary)
    entry = {
        "gate": report.gate,
        "label": label,
        "metric": report.primary,
        "n": accuracy.n if accuracy is not None else 0,
        "status": report.verdict.status,
        "value": accuracy.value if accuracy is not None else None,
    }
    return json.dumps(entry, sort_keys=True, ensure_ascii=False)


def appended(history: bytes, line: str) -> bytes:
    """The history with one line more, and without those that are too old to matter."""
    lines = [each for each in history.decode("utf-8", "replace").splitlines() if each.strip()]
    return ("\n".join([*lines, line][-KEPT:]) + "\n").encode()


def trends(history: bytes, *, gate: str, metric: str, most: int = 30) -> tuple[Trend, ...]:
    """The last runs of a gate by a metric, the oldest first. Lines that nobody can read are passed over: it is only a picture."""
    found = []
    for line in history.decode("utf-8", "replace").splitlines():
        entry = _entry(line)
        if entry.get("gate") != gate or entry.get("metric") != metric:
            continue
        value, n = entry.get("value"), entry.get("n")
        if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1 and isinstance(n, int):
            found.append(Trend(str(entry.get("label", "")), float(value), n, str(entry.get("status", ""))))
    return tuple(found[-most:])


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
