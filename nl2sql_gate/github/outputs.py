"""The action's outputs: the table behind `action.yml`, and the figures of the metrics under their own names."""

from __future__ import annotations

import json
from collections.abc import Mapping

OUTPUTS: dict[str, str] = {
    "verdict": "pass, fail, undecided or no_verdict.",
    "exit_code": "The exit code of the gate; the step fails where it is not 0.",
    "cases": "Number of cases of the run.",
    "measured": "Number of cases that have a value by the primary metric.",
    "broke": "Number of cases that passed in the baseline and fail now.",
    "fixed": "Number of cases that failed in the baseline and pass now.",
    "metrics": "Every metric as one JSON object: its value, and its change from the baseline where there is one.",
    "report_directory": "Folder with the report files, relative to the workspace.",
    "run_file": "Path of run.json.",
    "summary_file": "Path of summary.md.",
    "comment_file": "Path of comment.md.",
    "html_file": "Path of report.html.",
    "json_file": "Path of report.json.",
    "junit_file": "Path of junit.xml.",
}
"""Outputs of every run. A metric has two more: `<metric>` and `<metric>_delta`."""

NAMED_METRICS = (
    "execution_accuracy",
    "execution_accuracy_bird",
    "execution_accuracy_spider",
    "soft_f1_bird",
    "r_ves",
    "exact_match",
    "llm_judge",
)
"""Metrics whose outputs `action.yml` declares. Others are set as well, and all are in `metrics`."""

_DIGITS = 6


def declared() -> dict[str, str]:
    """Every output that the action declares, with its description."""
    named = {}
    for name in NAMED_METRICS:
        named[name] = f"{name} as a share from 0 to 1, where that metric is computed."
        named[f"{name}_delta"] = f"Change of {name} from the baseline."
    return {**OUTPUTS, **named}


def metric_outputs(values: Mapping[str, float], deltas: Mapping[str, float]) -> dict[str, str | float | None]:
    """The outputs of all metrics: each by name, and all as JSON."""
    given: dict[str, str | float | None] = {name: round(value, _DIGITS) for name, value in values.items()}
    given |= {f"{name}_delta": round(delta, _DIGITS) for name, delta in deltas.items()}
    together = {
        name: {"value": round(value, _DIGITS), **({"delta": round(deltas[name], _DIGITS)} if name in deltas else {})}
        for name, value in sorted(values.items())
    }
    return {**given, "metrics": json.dumps(together, separators=(",", ":"))}
