"""The HTML report as text: hostile values stay data, and the badge beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import CaseResult, Place, Reason, ResultSet, Score, SqlError, Warned
from nl2sql_gate.reporters import html_charts
from nl2sql_gate.reporters.badge import BadgeReporter
from nl2sql_gate.reporters.html import HtmlReporter
from nl2sql_gate.reporters.junit import JUnitReporter
from nl2sql_gate.reporters.markdown import MarkdownReporter
from nl2sql_gate.reporters.report import Report, Trend
from nl2sql_gate.reporters.terminal import TerminalReporter


class Outline(HTMLParser):
    """Elements with their attributes, and the content of scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._script: dict[str, str | None] | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        if tag == "script":
            self._script = dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts.append((self._script, data))


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "${alert(1)}`",
    "\u2028\u2029\u202e\x00\x1b[31m",
    "\ud800",
    "&lt;script&gt;",
    "</style><style>*{}",
    "x" * 100_000,
    "a\nb\r\nc",
]


def _hostile(make_report: Callable[..., Report], make_case: Callable[..., CaseResult], text: str) -> Report:
    odd = make_case(
        f"i{text}",
        0,
        dialect=f"d{text}",
        question=text,
        sql=text,
        golden_sql=(text, text),
        reply=text,
        rule=text,
        model=text,
        tags=(text,),
        difficulty=f"h{text}",
        reason=Reason("r", text),
        error=SqlError(text, text),
        result=ResultSet((text,), ((text,),)),
        golden_result=ResultSet((text,), (("other",),)),
        warnings=(Warned("w", text),),
    )
    report = make_report(
        [odd, make_case("right", dialect="sqlite", difficulty="easy")],
        [replace(odd, scores=make_case("x").scores), make_case("right"), make_case(f"gone {text}")],
        verdict=Verdict("fail", (Reason("a", text),), notes=(Reason("n", text),)),
        gate=f"g{text}",
        provenance=(text,),
        hints=(text,),
        history=(Trend(text, 0.5, 3, "pass"), Trend(text, 0.6, 3, "fail")),
    )
    return replace(report, head=replace(report.head, warnings=(Warned("w", text, text, Place(text, 2)),)))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_add_no_element_and_no_attribute(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult], text: str
) -> None:
    page = HtmlReporter().render(_hostile(make_report, make_case, text))
    expected = HtmlReporter().render(_hostile(make_report, make_case, "z"))
    assert Outline(page).elements == Outline(expected).elements
    assert not set("\x00\x1b\u202e\u2028") & set(page)
    page.encode()
    for attributes, content in Outline(page).scripts:
        if attributes.get("type") == "application/json":
            assert not set("<>&") & set(content)
            json.loads(content)


def _data(page: str) -> tuple[dict[str, Any], list[Any]]:
    scripts = [
        json.loads(content) for attributes, content in Outline(page).scripts if attributes.get("type") == "application/json"
    ]
    return scripts[0], [case for chunk in scripts[1:] for case in chunk]


def test_every_case_is_in_it_with_its_details(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    head = [make_case(f"o{i}", int(i % 2)) for i in range(450)]
    index, details = _data(HtmlReporter().render(make_report(head, [make_case(f"o{i}") for i in range(450)])))
    assert [row[0] for row in index["rows"]] == [f"o{i}" for i in range(450)]
    assert len(details) == 450
    assert details[0]["old"] == {"sql": "SELECT 1", "outcome": "answered", "value": 1.0}
    assert details[0]["result"] == {"columns": ["n"], "rows": [["2"]], "total": 1, "width": 1}
    assert details[0]["commands"][1].endswith("--only o0:sqlite")


def test_rows_are_kept_where_they_may_not_be_shown(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    rows = ResultSet(("c",), (("private",),))
    head = [make_case("a", 0, result=rows, golden_result=rows)]
    assert "private" in HtmlReporter().render(make_report(head))
    assert "private" not in HtmlReporter().render(make_report(head, show_rows=False))


def test_nothing_comes_from_elsewhere(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    page = HtmlReporter().render(make_report([make_case("a")], [make_case("a")]))
    assert "default-src 'none'" in unescape(page)
    assert "unsafe" not in page
    names = {name for _, attributes in Outline(page).elements for name in attributes}
    assert not names & {"src", "style", "onclick", "onload", "srcset", "action"}
    assert not re.findall(r"url\(|@import|https?://", page)


def test_the_same_report_has_the_same_bytes(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    head = [make_case(f"o{i}", i % 2) for i in range(5)]
    assert HtmlReporter().render(make_report(head, head)) == HtmlReporter().render(make_report(head, head))


def test_a_report_without_anything_renders(make_report: Callable[..., Report]) -> None:
    page = HtmlReporter().render(make_report([], verdict=Verdict("no_verdict", (Reason("no_credentials", "no key"),))))
    assert "no key" in page


def test_a_badge_says_verdict_and_figure(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    svg = ET.fromstring(BadgeReporter().render(make_report([make_case("a"), make_case("b", 0)])))  # noqa: S314 - our own
    assert svg.get("aria-label") == "NL2SQL gate: no verdict · EX 50.0 %"
    assert not [each for each in svg.iter() if "href" in str(each.attrib)]


def test_many_small_slices_do_not_push_the_cases_out_of_sight(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    """A tag with an item or two says nothing by its interval; metrics and large slices are drawn."""
    base = [make_case(f"o{n}", tags=(f"tag-{n % 40}", "all", "half" if n % 2 else "other half")) for n in range(80)]
    head = [replace(each, scores={**each.scores, "execution_accuracy": Score(float(n > 9))}) for n, each in enumerate(base)]
    report = make_report(head, base)
    drawn = html_charts.intervals(report)
    assert drawn is not None
    assert [whisker.name for whisker in drawn.whiskers] == ["EX strict", "EX of BIRD", "tag all", "tag other half", "tag half"]
    assert drawn.left_out == 40
    assert "40 smaller slices are not drawn" in HtmlReporter().render(report)


def test_the_number_of_a_trial_is_only_said_where_there_are_several(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    one = [make_case(f"o{n}", 0, trial=1) for n in range(3)]
    several = [make_case("o1", 0, trial=number) for number in (1, 2)]
    for reporter in (TerminalReporter(), JUnitReporter(), MarkdownReporter()):
        assert "trial 1" not in reporter.render(make_report(one))
    assert "trial 2" in JUnitReporter().render(make_report(several))
