"""Two hundred hostile strings in every field, through every output at once; and secrets, which are in none."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote

import pytest
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from nl2sql_gate.compare import pair
from nl2sql_gate.github.annotations import Annotation, annotation_commands
from nl2sql_gate.github.comment_body import marker
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.judgement import Verdict
from nl2sql_gate.records import CaseResult, Place, Reason, ResultSet, Run, SqlError, Warned
from nl2sql_gate.reporters.html import HtmlReporter
from nl2sql_gate.reporters.json_v1 import json_report
from nl2sql_gate.reporters.junit import JUnitReporter
from nl2sql_gate.reporters.markdown import comment, summary
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.terminal import TerminalReporter
from nl2sql_gate.runfile import baseline_bytes, read_run, redact_run, run_bytes
from nl2sql_gate.settings import Policy
from nl2sql_gate.verdict import decide

SEEDS = [
    "a|b", "||", "\\|", "`", "``", "`" * 9, "```sql", "~~~", "\n```\n", "<b>", "</details>", "</summary>", "</code>", "<!--", "-->",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "</script>", "]]>", "<?xml?>", "&amp;", "&#64;all",
    "@octo-team", "@all", "#12", "GH-12", "org/repo#3", "https://evil.example/x.png", "www.evil.example", "![x](https://evil.example)",
    "[x](javascript:alert(1))", "<https://evil.example>", "[x]: https://evil.example", "me@evil.example", ":tada:", "$$x$$", "# h", "> q", "- l",
    "1. l", "---", "===", "| a |\n|--|\n| b |", "- [ ] t", "\x1b[31m", "\x1b]0;t\x07", "\x9b1m", "\x07", "\x00", "\x08", "\x7f", "\x85", "\u2028",
    "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\U000e0041", "\ud800", "\udfff", "\uffff", "::error::x", "::add-mask::x",
    "##[error]x", "::stop-commands::x", "\r::error::x", "=1+1", "+1", "-1", "@SUM(A1)", "{{ 7*7 }}", "{% x %}", "${x}", "%s%n", "\\", "\t", " ", "",
    "\n\n\n", "x" * 3000, "é" * 500, "e" + "\u0301" * 99, "0123456789abcdef0123456789abcdef01234567", "<!-- /nl2sql-gate -->",
    "<!-- nl2sql-gate:v1 gate=other -->", "[bold red]x[/]", "NaN", "null", "true", "'; DROP TABLE x; --", '{"a":', "\\u003c",
]  # fmt: skip
HOSTILE = list(
    dict.fromkeys(
        [*SEEDS, *(f"SELECT {one} FROM {two}" for one, two in itertools.pairwise(SEEDS)), *(f"{seed}\n{seed}" for seed in SEEDS)]
    )
)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
TAGS = re.compile(r"</?(details|summary|code|sub)>")


def _case(make_case: Callable[..., CaseResult], number: int, text: str) -> CaseResult:
    return make_case(
        f"{number} {text}",
        0,
        dialect=f"d{number % 3}",
        question=text,
        sql=text,
        golden_sql=(text,),
        reply=text,
        tags=(text[:50],),
        difficulty=text[:50],
        model=text,
        reason=Reason("r", text),
        scores={},
        error=SqlError(text, text),
        result=ResultSet((text, text), ((text, 1),)),
        golden_result=ResultSet((text, text), ((text, 2),)),
        warnings=(Warned("w", text, text, Place(text, 1)),),
    )


@pytest.fixture
def hostile(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> Report:
    """A report whose every field is hostile."""
    head = [replace(_case(make_case, number, text), outcome="sql_error") for number, text in enumerate(HOSTILE)]
    base = [replace(case, outcome="answered", scores=make_case("x").scores) for case in head]
    reasons = tuple(Reason("r", text) for text in HOSTILE)
    return make_report(
        head,
        base,
        verdict=Verdict("fail", reasons, notes=reasons),
        provenance=tuple(HOSTILE),
        hints=tuple(HOSTILE),
        earlier=tuple(HOSTILE),
    )


def test_there_are_at_least_two_hundred() -> None:
    assert len(HOSTILE) >= 200


def test_markdown(hostile: Report) -> None:
    for text in (comment(hostile), summary(hostile)):
        tokens = MARKDOWN.parse(text)
        inline = [child for token in tokens for child in token.children or []]
        assert not [child for child in inline if child.type in {"image", "link_open"}]
        plain = " ".join(child.content for child in inline if child.type == "text")
        assert not [live for live in ("@", "#1", "GH-1", "repo#", "://", "www.", "0123456789abcdef", "$$") if live in plain]
        raw = "".join(token.content for token in tokens if token.type == "html_block")
        raw += "".join(child.content for child in inline if child.type == "html_inline")
        raw = raw.replace(marker(hostile.gate), "")
        assert "<" not in TAGS.sub("", raw)
        assert raw.count("<details>") == raw.count("</details>")
        rows = [token for token in tokens if token.type == "tr_open"]
        cells = [token for token in tokens if token.type in {"td_open", "th_open"}]
        assert len(rows) < len(cells)
        assert not set("\x1b\x07\x00\u202e\u200b\u2028\ud800\uffff\U000e0041") & set(text)


def test_terminal_and_annotations(hostile: Report) -> None:
    text = TerminalReporter(width=80).render(hostile)
    text += "\n".join(annotation_commands(Annotation("error", each, each, Place(each, 1)) for each in HOSTILE)[1:0])
    for line in re.split(r"[\n\r\x0b\x0c\x85\u2028]", text):
        assert not line.strip().startswith("::")
        assert "##[" not in line
    assert not set("\x1b\x07\x00\u202e\u200b\r") & set(text)
    for each in HOSTILE:
        (command,) = annotation_commands([Annotation("error", each, each, Place(each, 1))])
        assert len(command.splitlines()) == 1


def test_html(hostile: Report, make_report: Callable[..., Report]) -> None:
    page = HtmlReporter().render(hostile)
    assert page.count("<script") == HtmlReporter().render(make_report([])).count("<script") + -(-len(HOSTILE) // 200)
    assert "<img" not in page
    assert "<svg/" not in page


def test_json_and_junit_and_files(hostile: Report) -> None:
    tree = json.loads(json_report(hostile))
    assert len(tree["cases"]) == len(HOSTILE)
    assert read_run(run_bytes(hostile.head)).cases == hostile.head.cases
    assert len(read_run(baseline_bytes(hostile.head)).cases) == len(HOSTILE)
    xml = JUnitXml.fromstring(JUnitReporter().render(hostile).encode())
    assert sum(suite.failures for suite in xml if suite.name != "gates") == len(HOSTILE)


def test_secrets_are_in_no_output(make_report: Callable[..., Report], make_case: Callable[..., CaseResult]) -> None:
    key, password = 'sk-live-"Quoted"/123', "s3cr3t-Pa55"
    dsn = f"postgresql://ann:{password}@db.test:5432/x"
    written = [key, quote(key), base64.b64encode(f"user:{key}".encode()).decode(), dsn, f"x{password}x", "y" * 150 + key]
    cases = [_case(make_case, number, text) for number, text in enumerate(written)]
    redact = Redactor([key, dsn])
    raw = Run(
        tuple(cases),
        ("execution_accuracy",),
        {"fingerprint": {"model": {"name": key}}, "facts": {"dsn": dsn}},
        (Warned("w", dsn),),
    )
    old = replace(raw, cases=tuple(replace(case, outcome="answered", scores=make_case("x").scores) for case in cases))
    head, baseline = redact_run(raw, redact), redact_run(old, redact)
    comparison = pair(head, baseline)
    report = make_report([])
    report = replace(report, head=head, baseline=baseline, comparison=comparison, verdict=decide(comparison, head, Policy()))
    outputs = [
        run_bytes(head).decode(),
        baseline_bytes(head).decode(),
        comment(report),
        summary(report),
        TerminalReporter().render(report),
        HtmlReporter().render(report),
        json_report(report),
        JUnitReporter().render(report),
    ]
    for output in outputs:
        for form in (key, json.dumps(key)[1:-1], quote(key), password, "sk-live", base64.b64encode(key.encode()).decode()[:12]):
            assert form not in output
