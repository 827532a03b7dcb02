"""A small picture: the primary metric by dialect, baseline and now."""

from __future__ import annotations

from nl2sql_gate.github.untrusted import fence
from nl2sql_gate.reporters import figures
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.slices import Slice, slices
from nl2sql_gate.reporters.wording import full_name

MAX_CATEGORIES = 12
_BAR = 20
_NAME = 40


def chart(report: Report) -> str:
    """A Mermaid chart of two to twelve dialects, bars of text for more, nothing for one."""
    found = [one for one in slices(report, "dialect") if one.share is not None]
    if len(found) <= 1:
        return ""
    title = full_name(report.primary).capitalize()
    return _mermaid(found, title) if len(found) <= MAX_CATEGORIES else _text(found)


def _mermaid(found: list[Slice], title: str) -> str:
    compared = [one for one in found if one.old_share is not None]
    # The chart's own syntax takes names in quotes, but no quote inside them: only plain letters are let in.
    names = ", ".join(f'"{_plain(one.value)}"' for one in found)
    with_old = len(compared) == len(found)
    key = "bars: baseline, line: this run" if with_old else "this run"
    now = ", ".join(f"{100 * (one.share or 0):.1f}" for one in found)
    then = ", ".join(f"{100 * (one.old_share or 0):.1f}" for one in found)
    lines = ["xychart-beta", f'  title "{_plain(title)} by dialect ({key})"', f"  x-axis [{names}]", '  y-axis "%" 0 --> 100']
    lines += [f"  bar [{then}]", f"  line [{now}]"] if with_old else [f"  bar [{now}]"]
    return fence("\n".join(lines), "mermaid")


def _plain(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum() or letter in " ._-")[:_NAME] or "?"


def _text(found: list[Slice]) -> str:
    width = max(len(one.value) for one in found)
    return fence(
        "\n".join(f"{one.value.ljust(width)}  {_bar(one.share or 0.0)}  {figures.percent(one.share or 0.0)}" for one in found)
    )


def _bar(share: float) -> str:
    full = round(share * _BAR)
    return "▇" * full + "▁" * (_BAR - full)
