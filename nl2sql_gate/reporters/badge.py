"""A badge: the verdict and the primary metric's figure as a small picture, for a README."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from nl2sql_gate.judgement import Status
from nl2sql_gate.reporters import figures, wording
from nl2sql_gate.reporters.report import Report

_COLORS: dict[Status, str] = {"pass": "#116329", "fail": "#a40e26", "undecided": "#7d4e00", "no_verdict": "#57606a"}
_LABEL = "NL2SQL gate"
_LETTER, _PAD, _HEIGHT = 6.6, 9, 20


class BadgeReporter:
    """An SVG that needs no font of its own and loads nothing."""

    def render(self, report: Report) -> str:
        """The whole file."""
        status = report.verdict.status
        accuracy = report.verdict.accuracy.get(report.primary)
        said = wording.WORDS[status] + (f" · EX {figures.percent(accuracy.value)}" if accuracy is not None else "")
        left, right = (round(len(text) * _LETTER + 2 * _PAD) for text in (_LABEL, said))
        title = f"{_LABEL}: {said}"
        text = 'fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"'
        parts = [
            f'<clipPath id="r"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>',
            '<g clip-path="url(#r)">',
            f'<rect width="{left}" height="{_HEIGHT}" fill="#3d444d"/>',
            f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{_COLORS[status]}"/>',
            "</g>",
            f'<g {text}><text x="{left / 2}" y="14">{escape(_LABEL)}</text>',
            f'<text x="{left + right / 2}" y="14">{escape(said)}</text></g>',
        ]
        size = f'width="{left + right}" height="{_HEIGHT}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(title)}>'
        return f"{head}<title>{escape(title)}</title>{''.join(parts)}</svg>\n"
