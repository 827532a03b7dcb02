"""The HTML report: one file that opens offline and loads nothing, with every case in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from nl2sql_gate.github.untrusted import one_line
from nl2sql_gate.records import CaseResult, Run
from nl2sql_gate.reporters import figures, html_charts, html_data, wording
from nl2sql_gate.reporters.findings import arrivals, broke, fixed, golden_errors, unmeasured, wrong
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.slices import all_slices

_REASON = 600


@dataclass(frozen=True, slots=True)
class Amount:
    """One line of the table of latency, tokens and cost."""

    name: str
    now: str
    before: str


class HtmlReporter:
    """A page with the verdict, pictures, and a table of all cases."""

    def render(self, report: Report) -> str:
        """The whole file."""
        # Only here: jinja2 takes longer to import than `--help` may take.
        from jinja2 import Environment, StrictUndefined

        style, script = _asset("report.css"), _asset("report.js")
        # Every value is escaped; what the template calls safe is our own style and script, and JSON that cannot end its element.
        environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        environment.globals.update(figures=figures, wording=wording)
        environment.filters["line"] = one_line
        template = environment.from_string(_asset("report.html.j2"))
        return template.render(
            **_page(report),
            style=style,
            script=script,
            policy=_policy(style=style, script=script),
            index=html_data.embedded(html_data.index(report)),
            chunks=(html_data.embedded(chunk) for chunk in html_data.chunks(report)),
        )


def _page(report: Report) -> dict[str, Any]:
    verdict = report.verdict
    new, removed, changed = arrivals(report)
    counts = [
        ("broke", len(broke(report))) if report.comparison is not None else ("wrong", len(wrong(report))),
        ("fixed", len(fixed(report))),
        ("golden SQL fails", len(golden_errors(report))),
        ("not measured", len(unmeasured(report))),
        ("new", len(new)),
        ("removed", len(removed)),
        ("changed", len(changed)),
        ("left out of the test", len(report.comparison.excluded) if report.comparison is not None else 0),
    ]
    latencies = [case.latency_s for case in report.head.cases if case.latency_s is not None]
    named = {row.metric for row in verdict.rows if row.kind == "metric"}
    return {
        "report": report,
        "verdict": verdict,
        "status": verdict.status,
        "headline": one_line(wording.headline(report), width=_REASON),
        "facts": [fact for fact in (wording.evidence(report), wording.sight(report), wording.coverage(report)) if fact],
        "reasons": [one_line(wording.reason_words(reason), width=_REASON) for reason in verdict.reasons],
        "notes": [one_line(wording.reason_words(note), width=_REASON) for note in verdict.notes],
        "rows": wording.main_rows(report),
        "others": [(name, verdict.accuracy[name]) for name in sorted(set(verdict.accuracy) - named)],
        "counts": [(name, count) for name, count in counts if count or name in {"broke", "wrong"}],
        "removed": [(one_line(key.id), one_line(key.dialect)) for key in removed],
        "excluded": report.comparison.excluded if report.comparison is not None else (),
        "warnings": list(dict.fromkeys(report.head.warnings)),
        "intervals": html_charts.intervals(report),
        "trend": html_charts.trend(report.history),
        "latencies": html_charts.histogram(latencies),
        "slices": all_slices(report),
        "amounts": _amounts(report),
        "first_run": wording.is_first_run(report),
    }


def _amounts(report: Report) -> list[Amount]:
    found = []
    for name, words, of in _AMOUNTS:
        now, before = of(report.head), of(report.baseline) if report.baseline is not None else None
        if now is not None:
            found.append(Amount(name, words(now), "–" if before is None else words(before)))
    return found


def _quantile(share: float) -> Callable[[Run], float | None]:
    def of(run: Run) -> float | None:
        values = sorted(case.latency_s for case in run.cases if case.latency_s is not None)
        return values[max(0, -int(-share * len(values) // 1) - 1)] if values else None

    return of


def _total(amount: Callable[[CaseResult], float | None]) -> Callable[[Run], float | None]:
    def of(run: Run) -> float | None:
        values = [value for case in run.cases if (value := amount(case)) is not None]
        return sum(values) if values else None

    return of


_AMOUNTS: tuple[tuple[str, Callable[[float], str], Callable[[Run], float | None]], ...] = (
    ("latency, median", figures.seconds, _quantile(0.5)),
    ("latency, 95th percentile", figures.seconds, _quantile(0.95)),
    ("tokens of prompts", figures.amount, _total(lambda case: case.tokens_in)),
    ("tokens of replies", figures.amount, _total(lambda case: case.tokens_out)),
    ("cost", figures.money, _total(lambda case: case.cost)),
)


def _policy(*, style: str, script: str) -> str:
    """A content security policy that lets in our style and script by their hash, and nothing else from anywhere."""
    parts: Iterable[str] = (
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(parts)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _asset(name: str) -> str:
    return resources.files("nl2sql_gate.reporters").joinpath("assets", name).read_text(encoding="utf-8").rstrip("\n")
