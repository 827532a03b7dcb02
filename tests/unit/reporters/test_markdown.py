"""The Markdown report: verdict first, whole at any size, and foreign text without powers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from nl2sql_gate.github.comment_body import marker
from nl2sql_gate.github.limits import COMMENT_BYTES, SUMMARY_BYTES, size
from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import CaseKey, CaseResult, Place, Reason, ResultSet, SqlError, Warned
from nl2sql_gate.reporters.markdown import comment, summary
from nl2sql_gate.reporters.report import Links, Report

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
VOID = {"br", "img", "hr", "input"}
OURS = {
    "details",
    "summary",
    "code",
    "sub",
    "pre",
    "p",
    "em",
    "strong",
    "h3",
    "ul",
    "li",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
}


class Page(HTMLParser):
    """Elements of a rendered report, whether they are closed, and the text outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.plain = ""
        self.text = ""
        self.comments: list[str] = []
        self.feed(html)
        self.close()
        self.unbalanced += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.unbalanced.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data
        if "code" not in self.open:
            self.plain += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def page(text: str) -> Page:
    return Page(MARKDOWN.render(text))


def whole(text: str) -> Page:
    """The rendered report, after checking that nothing in it was cut in two."""
    shown = page(text)
    assert not shown.unbalanced
    assert shown.seen <= OURS
    fences = [token for token in MARKDOWN.parse(text) if token.type == "fence"]
    for token in fences:
        assert token.map is not None
        assert text.split("\n")[token.map[1] - 1].strip().startswith("```")
    outside = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", outside, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().split("\n")}
        assert len(widths) == 1
    return shown


def test_the_order_is_verdict_cause_gates_picture_cases_next_provenance(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    base = [make_case(f"o{i}", dialect=d) for i in range(40) for d in ("mysql", "sqlite")]
    head = [make_case(f"o{i}", int(i > 8), dialect=d) for i in range(40) for d in ("mysql", "sqlite")]
    text = comment(make_report(head, base, required=frozenset({"o3"}), hints=("accept it with `waivers.yml`",)))
    whole(text)
    order = [
        "<!-- nl2sql-gate:v1 gate=orders-eval -->",
        "### 🔴 NL2SQL gate orders-eval · fail",
        "[!CAUTION]",
        "9 broke, 0 fixed of 40 items",
        "| | Baseline | This run |",
        "```mermaid",
        "**Broke (18)**",
        "`o3` ⭐",
        "<details><summary><code>o3</code>",
        "**Next**",
        "accept it with `waivers.yml`",
        "<sub>baseline `main@a1b2c3d`, 2 days old",
    ]
    places = [text.index(part) for part in order]
    assert sorted(places) == places


def test_figures_stand_with_their_counts(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    base = [make_case(f"o{i}") for i in range(200)]
    head = [make_case(f"o{i}", int(i >= 9)) for i in range(200)]
    text = comment(make_report(head, base))
    assert "| EX strict | 100.0 % (200/200) | 95.5 % (191/200) | −4.5 (" in text
    assert "| EX of BIRD | 100.0 % (200/200) | 95.5 % (191/200) |" in text
    assert "90 % interval −" in text
    assert "could have been proven" not in text, "a drop is proven: nobody asks what could have been"
    green = comment(make_report(base, base))
    assert green.count("could prove a drop of 2.7 points four times in five") == 2, "in the alert and in the table"
    assert "402 items would halve the drop that could be proven" in green
    assert "Coverage 100.0 % (200/200)" in text


def test_a_green_report_is_short_and_folded(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    cases = [make_case(f"o{i}") for i in range(200)]
    text = comment(make_report(cases, cases))
    assert "[!TIP]" in text
    assert text.index("<details>") < text.index("| | Baseline")
    assert "Broke" not in text
    whole(text)


def test_the_first_run_is_a_note_not_a_warning(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    text = comment(
        make_report([make_case("a"), make_case("b", 0)], hints=("bless it: `nl2sql-gate bless nl2sql-gate-out/run.json`",))
    )
    assert "[!NOTE]" in text
    assert "no baseline" in text
    assert "`nl2sql-gate bless nl2sql-gate-out/run.json`" in text
    assert "**Wrong (1)**" in text


@pytest.mark.parametrize(("status", "alert"), [("undecided", "WARNING"), ("no_verdict", "WARNING"), ("fail", "CAUTION")])
def test_the_alert_fits_the_verdict(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult], status: Any, alert: str
) -> None:
    text = comment(make_report([make_case("a")], [make_case("a")], verdict=Verdict(status, (Reason("x", "because @all"),))))
    assert f"[!{alert}]" in text
    assert "🟢" not in text.split("\n")[1]
    assert "@all" not in page(text).plain


def broken(make_case: Callable[..., CaseResult], count: int, length: int) -> list[CaseResult]:
    sql = "SELECT `a`, '<b>' || x FROM t WHERE y = 1 -- ```\n"
    return [make_case(f"case-{i}", 0, sql=(sql * (length // len(sql) + 1))[:length]) for i in range(count)]


@pytest.mark.parametrize(("count", "length"), [(0, 0), (1, 100), (12, 400), (900, 150), (3000, 400), (1, 200_000), (30, 200_000)])
def test_a_comment_of_any_run_keeps_the_limit_and_is_whole(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult], count: int, length: int
) -> None:
    head = [*broken(make_case, count, length), make_case("right")]
    base = [make_case(case.key.id) for case in head]
    text = comment(make_report(head, base))
    assert size(text) <= COMMENT_BYTES
    assert "verdict" in text
    assert text.startswith("<!--")
    whole(text)
    assert ("runcated" in text) == (count > 25)
    if count > 25:
        assert f"of {count:,} broken cases" in text


def test_a_summary_of_20000_cases_keeps_the_limit(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    report = make_report(broken(make_case, 20_000, 120))
    text = summary(report)
    assert size(text) <= SUMMARY_BYTES
    assert "verdict" in text
    for room in (48_000, 4_000, 1_500):
        assert size(summary(report, max_bytes=room)) <= room


def test_letters_of_many_bytes_are_counted_as_bytes(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    head = [make_case(f"ки-{i}", 0, question="買" * 900, sql="SELECT '買買買買買買買買買買買買買買買買買'") for i in range(400)]
    text = comment(make_report(head, [make_case(case.key.id) for case in head]))
    assert size(text) <= COMMENT_BYTES
    whole(text)


HOSTILE = [
    "a|b",
    "first\nsecond",
    "SELECT f || '|' || l\nFROM t",
    "SELECT `a` FROM `t`",
    "`" * 7,
    "```sql\nSELECT 1\n```\nDone </details>",
    "~~~\n<script>alert(1)</script>",
    "<b>x",
    "a <img src=x onerror=alert(1)> b",
    'near "<": syntax error <!-- no -->',
    "-->",
    "</summary></details></code></sub>",
    "mail @octo-team about #12",
    "GH-12 org/repo#3",
    "https://evil.example/pixel.png",
    "![x](https://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "<https://evil.example>",
    "\x1b[31mERROR\x1b[0m: bad\x07 thing\x00",
    "a\u202eb\u2066c\u200bd\ufeff",
    "\ud83d",
    "\u2028\u2029",
    "$$x$$ $`y`$",
    "| a | b |\n|---|---|\n| c | d |",
    "> [!NOTE]\n> forged",
    "# heading\n- [ ] task\n1. x",
    "::error::forged",
    "=cmd|' /C calc'!A0",
    "&lt;b&gt; &amp; &#64;all",
    "\\",
    "trailing \\",
    "\t\ttabs",
    "",
    " ",
    "x" * 5000,
    "0123456789abcdef0123456789abcdef01234567",
    ":tada:",
    "<!-- nl2sql-gate:v1 gate=other -->",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_nothing_wherever_it_stands(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult], text: str
) -> None:
    wrong = make_case(
        f"id {text}",
        0,
        dialect=f"d {text}",
        question=text,
        sql=text,
        golden_sql=(text,),
        reply=text,
        reason=Reason("error", text),
        error=SqlError(text, text),
        result=ResultSet((text, "n"), ((text, 1),)),
        golden_result=ResultSet((text, "n"), ((text, 2),)),
        tags=(text,),
        difficulty=text or "easy",
        model=text,
        warnings=(Warned("w", text, text, Place(text, 3)),),
    )
    lost = replace(make_case(f"lost {text}"), outcome="unscored", scores={}, reason=Reason("endpoint", text))
    gold = replace(make_case(f"gold {text}"), outcome="golden_error", scores={}, reason=Reason("golden", text))
    prose = replace(make_case(f"none {text}", 0), outcome="no_sql", sql="", result=None, reply=text)
    head = [wrong, lost, gold, prose, *(make_case(f"right {n}", dialect=f"d{n} {text}") for n in range(3))]
    base = [replace(case, outcome="answered", scores=make_case("x").scores, sql="SELECT 1") for case in head]
    verdict = Verdict("fail", (Reason("a", text), Reason("b", f"item {text} broke")), notes=(Reason("n", text),))
    report = make_report(
        head,
        base,
        verdict=verdict,
        gate=f"g {text}",
        provenance=(text, "b"),
        hints=(text,),
        earlier=(text,),
        links=Links("https://host/run", "", "https://host/blob"),
    )
    clean = make_report(
        [*map(_clean, head)],
        [*map(_clean, base)],
        verdict=Verdict("fail", (Reason("a", "t"), Reason("b", "t")), notes=(Reason("n", "t"),)),
        gate="g",
        provenance=("t", "b"),
        hints=("t",),
        earlier=("t",),
        links=report.links,
    )
    body = comment(report)
    shown = whole(body)
    assert page(comment(clean)).links == shown.links
    assert len(shown.comments) == 1
    for live in ("@octo", "#12", "GH-12", "evil.example", "javascript:", "@all", "0123456789abcdef0123"):
        assert live not in shown.plain
    for hidden in "\x1b\x07\x00\u202e\u2066\u200b\ufeff\u2028\ud83d":
        assert hidden not in body


def _clean(case: CaseResult) -> CaseResult:
    """The same case with nothing odd in it, so that what text adds to a report can be told."""
    key = CaseKey(
        case.key.id.split(" ")[0] + (case.key.id[-1] if case.key.id.startswith("right") else ""),
        case.key.dialect.split(" ")[0],
        "shop",
        0,
    )
    return replace(case, key=key)


def test_text_shows_its_very_letters(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    for text in ("SELECT `a` FROM `t`", "SELECT 'C:\\Users\\x' || E'\\n'", "<img src=x>"):
        shown = page(comment(make_report([make_case("a", 0, question=text, sql=text)], [make_case("a")])))
        assert text in shown.text


def test_items_link_to_their_line_in_the_dataset(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    places = {"o1": Place("evals/items (1).json", 17)}
    report = make_report(
        [make_case("o1", 0)],
        [make_case("o1")],
        places=places,
        links=Links(source="https://host/org/repo/blob/abc"),
    )
    assert "https://host/org/repo/blob/abc/evals/items%20%281%29.json#L17" in page(comment(report)).links


def test_rows_are_kept_where_they_may_not_be_shown(
    make_report: Callable[..., Report], make_case: Callable[..., CaseResult]
) -> None:
    case = make_case("a", 0, result=ResultSet(("c",), (("private",),)), golden_result=ResultSet(("c",), (("other",),)))
    assert "private" in comment(make_report([case], [make_case("a")]))
    assert "private" not in comment(make_report([case], [make_case("a")], show_rows=False))


def test_every_group_of_cases_is_named(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    head = [
        make_case("healed"),
        make_case("new"),
        replace(make_case("edited"), digest="other"),
        replace(make_case("gold"), outcome="golden_error", scores={}, reason=Reason("golden", 'column "totl" does not exist')),
        replace(make_case("lost"), outcome="unscored", scores={}, reason=Reason("endpoint", "HTTP 503")),
    ]
    base = [make_case("healed", 0), make_case("edited"), make_case("gold"), make_case("lost"), make_case("gone")]
    text = comment(make_report(head, base))
    for title in ("1 fixed", "1 golden SQL fails", "1 not measured", "1 new", "1 removed", "1 changed since the baseline"):
        assert f"<summary>{title}" in text
    assert '`column "totl" does not exist`' in text
    assert "`HTTP 503`" in text


def test_a_marker_is_one_comment_whatever_the_gate_is_called() -> None:
    assert marker("orders-eval") == "<!-- nl2sql-gate:v1 gate=orders-eval -->"
    for gate in ("a-->b", "a--!>b", "x\ny", "a--b"):
        inner = marker(gate).removeprefix("<!--").removesuffix("-->")
        assert "--" not in inner
        assert ">" not in inner
        assert "\n" not in inner


def test_the_same_report_has_the_same_bytes(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    head = [make_case(f"o{i}", i % 2) for i in range(20)]
    base = [make_case(f"o{i}") for i in range(20)]
    assert comment(make_report(head, base)) == comment(make_report(head, base))
    assert summary(make_report(head, base)) == summary(make_report(head, base))
