"""Reported faults of reports, through the end of a run as the command has it: files, summary, comment, log, exit code."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from reports import case, run_of

from nl2sql_gate.commands import conclude
from nl2sql_gate.commands.against import Against
from nl2sql_gate.github import comment_body
from nl2sql_gate.github.event import read_event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.records import CaseResult, Reason, ResultSet, SqlError
from nl2sql_gate.settings import Settings

from action_step import pull_request
from github_standin import REPOSITORY, TOKEN, Fault, GitHub

KIND = "report"
HARD_LIMIT = 1_048_576


@dataclass
class Ended:
    """What a run left behind."""

    code: int
    log: str
    out: Path
    summary: str
    github: GitHub
    everywhere: str = field(default="")

    @property
    def comment(self) -> str:
        """The comment on the pull request."""
        return self.github.own()[0] if self.github.own() else (self.out / "comment.md").read_text(encoding="utf-8")


End = Callable[..., Ended]


@pytest.fixture
def end(tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Iterator[End]:
    """End a run whose cases are given, in the environment of a pull request's step."""
    (tmp_path / "event.json").write_text(json.dumps(pull_request()))
    for name in ("summary", "output"):
        (tmp_path / name).touch()
    variables = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": "7",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "CI": "true",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def run(
        head: list[CaseResult], baseline: list[CaseResult] | None = None, *, secrets: tuple[str, ...] = (), **policy: Any
    ) -> Ended:
        settings = Settings.model_validate({"out": str(tmp_path / "out"), "policy": policy, "report": {"comment": "always"}})
        (tmp_path / "out").mkdir(exist_ok=True)
        old = run_of(baseline) if baseline is not None else None
        context = conclude.Context(settings, read_event(variables))
        log = io.StringIO()
        with redirect_stdout(log):
            code = conclude.conclude(run_of(head), Against(old, note="compared with a file"), context, Redactor(secrets))
        found = Ended(code, log.getvalue(), tmp_path / "out", (tmp_path / "summary").read_text(encoding="utf-8"), github)
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(found.out.iterdir())]
        unmasked = [line for line in found.log.splitlines() if not line.startswith("::add-mask::")]
        found.everywhere = "\n".join(
            [*texts, *unmasked, found.summary, (tmp_path / "output").read_text(encoding="utf-8"), *github.own()]
        )
        return found

    return run


def rendered(markdown: str) -> str:
    """The text as GitHub's own parser makes HTML of it."""
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE))


def broken_pairs(count: int, sql_len: int) -> tuple[list[CaseResult], list[CaseResult]]:
    """`count` cases that passed and fail now, with statements of that length."""
    sql = ("SELECT " + "x, " * sql_len)[: sql_len - 3] + "'é'"
    names = [f"q{number}" for number in range(count)]
    return [case(name, 0, sql=sql) for name in names], [case(name, 1) for name in names]


def faults_of(text: str, expect: dict[str, Any]) -> list[str]:  # noqa: C901 - a table of expectations
    """What is wrong with a Markdown text by a case's expectations."""
    html = rendered(text)
    found = []
    if len(text) > expect.get("body_max_chars", 10**9) or len(text.encode()) > expect.get("summary_max_bytes", 10**9):
        found.append(f"too long: {len(text)} characters, {len(text.encode())} bytes")
    lowered = text.lower()
    found += [
        f"does not contain {word!r}"
        for word in (*expect.get("contains", ()), *expect.get("mentions", ()))
        if word.lower() not in lowered
    ]
    if expect.get("balanced_html") and any(
        html.count(f"<{tag}>") + html.count(f"<{tag} ") != html.count(f"</{tag}>")
        for tag in ("details", "summary", "table", "pre", "code")
    ):
        found.append("unbalanced HTML")
    if expect.get("balanced_fences") and len(re.findall(r"^`{3,}", text, re.MULTILINE)) % 2:
        found.append("an open fence")
    if expect.get("table_rows_complete") or expect.get("table_columns_constant"):
        for table in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
            widths = {len(re.findall(r"<t[hd]", row)) for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)}
            found += [f"a table with rows of {sorted(widths)} cells"] if len(widths) > 1 else []
    if expect.get("no_raw_html_from_values") and re.search(r"<img|<b>|<!-- no", html):
        found.append("raw HTML from a value")
    outside = re.sub(r"<(code|pre)[^>]*>.*?</\1>|<!--.*?-->", "", html, flags=re.DOTALL)
    if expect.get("no_live_mentions") and "@" in outside:
        found.append(f"a live mention: {outside[max(0, outside.index('@') - 60) : outside.index('@') + 60]}")
    if expect.get("no_live_issue_refs") and re.search(r"#\d", outside):
        found.append("a live reference")
    if expect.get("no_control_chars") and re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
        found.append("control characters")
    literal = expect.get("shows_literally")
    if literal and literal not in unescaped(html):
        found.append(f"does not show {literal!r}")
    return found


def unescaped(html: str) -> str:
    """The text that a reader sees."""
    import html as entities

    return entities.unescape(re.sub(r"<[^>]+>", "", html))


def failed_case(given: dict[str, Any]) -> CaseResult:
    """A broken case with a reported fault's texts."""
    error = given.get("error")
    sql = given.get("sql", "SELECT 2")
    made = case(given["id"], 0, sql=sql, question=given.get("nl_prompt", "?"))
    if error:
        return replace(
            made, outcome="sql_error", error=SqlError(error), reason=Reason("sql_error", error), result=None, scores={}
        )
    return made


def check(entry: dict[str, Any], end: End) -> list[str]:  # noqa: C901 - a table of situations
    """Faults of one reported case."""
    given, expect = entry["given"], entry["expect"]
    if "failed_cases" in given:
        ended = end(*broken_pairs(given["failed_cases"], given["sql_len"]))
        # One broken case of one is no proof; any more are.
        expected = int(given["failed_cases"] > 1)
        return faults_of(ended.comment, expect) + ([] if ended.code == expected else [f"exit code {ended.code}"])
    if "cases" in given:
        head = [case(f"q{n}", n % 2, sql="SELECT " + "y" * (given["sql_len"] - 7)) for n in range(given["cases"])]
        if "existing_summary_bytes" in given:
            Path("summary").write_bytes(b"x" * given["existing_summary_bytes"])
        ended = end(head)
        total = len(ended.summary.encode())
        most = expect.get("summary_total_max_bytes", expect.get("summary_max_bytes"))
        return ([f"{total} bytes in the summary"] if total > most else []) + [
            f"no {word}" for word in expect.get("contains", ()) if word not in ended.summary.lower()
        ]
    if "failed_case" in given:
        broken = failed_case(given["failed_case"])
        ended = end([broken], [case(broken.key.id, 1)])
        return faults_of(ended.comment, expect) + faults_of(ended.summary, expect)
    if "model_reply" in given:
        broken = case(
            "r", 0, outcome="no_sql", sql="", reply=given["model_reply"], reason=Reason("no_sql", "no SQL"), result=None
        )
        return faults_of(end([broken], [case("r", 1)]).comment, expect)
    if "cells" in given:
        cells = (
            Decimal("1.10"),
            dt.date(2024, 1, 2),
            dt.timedelta(hours=26),
            b"\xde\xad",
            uuid.UUID(int=5),
            Decimal("NaN"),
        )
        ended = end(
            [case("t", 0, result=ResultSet(tuple("abcdef"), (cells,)), golden_result=ResultSet(tuple("abcdef"), (cells,)))]
        )
        for name in ("run.json", "report.json", "baseline.json"):
            json.loads((ended.out / name).read_text(), parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
        return []
    if "existing_comments" in given:
        return check_sticky(given, expect, end)
    if "comment_http" in given:
        return check_refused(given, expect, end)
    if "stdout_values" in given:
        return check_log(given["stdout_values"], expect, end)
    assert "dsn" in given, f"no reading of {sorted(given)}"
    words = f"could not connect to {given['dsn']}: {given['event']}"
    broken = case("d", 0, outcome="unscored", sql="", result=None, scores={}, reason=Reason("engine", words))
    ended = end([broken, case("e", 1)], secrets=(given["dsn"],))
    return [f"{secret} leaks" for secret in expect["absent_everywhere"] if secret in ended.everywhere]


def check_sticky(given: dict[str, Any], expect: dict[str, Any], end: End) -> list[str]:
    """The own comment is found on whatever page it is."""
    github: GitHub = given["github"]
    for number in range(1, given["existing_comments"] + 1):
        own = number == given["own_comment_at"]
        github.add_comment(comment_body.marker("nl2sql") if own else "text", github.login if own else "someone")
    end(*broken_pairs(1, 20))
    methods = github.methods()
    return [f"no {each}" for each in expect["http"] if each not in methods] + [
        f"a {each}" for each in expect["no_http"] if each in methods
    ]


def check_refused(given: dict[str, Any], expect: dict[str, Any], end: End) -> list[str]:
    """A comment that is refused changes nothing else."""
    given["github"].faults.append(Fault("POST", "comments", given["comment_http"], times=9))
    ended = end(*broken_pairs(12, 20))
    found = [] if ended.code else ["the exit code is 0"]
    found += [f"the log does not mention {word}" for word in expect["mentions"] if word not in ended.log]
    return found + ([] if "🔴" in ended.summary else ["no summary"])


def check_log(values: list[str], expect: dict[str, Any], end: End) -> list[str]:
    """No line of the log that holds a model's words is a command."""
    names = [f"{value}{number}" for number, value in enumerate(values)]
    ended = end([case(name, 0, sql=name, question=name) for name in names], [case(name, 1) for name in names])
    inside, token, found = False, "", []
    for line in re.split(r"\r\n|\r|\n", ended.log):
        if line.startswith("::stop-commands::"):
            inside, token = True, line.rpartition("::")[2]
        elif inside and line == f"::{token}::":
            inside = False
        elif inside or not line.startswith(("::warning", "::error", "::notice", "::add-mask")):
            found += [f"a line starts with {start}" for start in expect["no_line_starts_with"] if line.startswith(start)]
        found += [line for word in ("forged", "boom") if line.startswith(("::error file=x", "##[")) and word in line]
    return found


def test_every_reported_fault_of_reports_is_none_here(shared_data: Path, end: End, github: GitHub) -> None:
    lines = (shared_data / "cases" / "public.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [entry for entry in map(json.loads, lines) if entry["kind"] == KIND]
    assert len(entries) >= 18
    wrong = []
    for entry in entries:
        github.comments.clear()
        github.requests.clear()
        github.faults.clear()
        for name in ("summary", "output"):
            Path(name).write_bytes(b"")
        entry["given"]["github"] = github
        wrong += [f"{entry['id']}: {fault}" for fault in check(entry, end)]
    assert wrong == []


@pytest.mark.parametrize(("count", "length"), [(0, 0), (1, 20), (12, 120), (3000, 400), (2, 200_000)])
def test_a_comment_of_any_size_is_valid_and_says_the_verdict_first(end: End, count: int, length: int) -> None:
    head, baseline = broken_pairs(count, length) if count else ([case("q", 1)], [case("q", 1)])
    ended = end(head, baseline, min_drop=0.0)
    expect = {
        "body_max_chars": 60_000,
        "balanced_html": True,
        "balanced_fences": True,
        "table_rows_complete": True,
        "contains": ["verdict"],
    }
    assert faults_of(ended.comment, expect) == []
    assert len(ended.comment.encode()) <= 60_000
    heading = next(line for line in ended.comment.splitlines() if not line.startswith("<!--"))
    assert heading.startswith("### ")
    assert len(ended.summary.encode()) < HARD_LIMIT
    assert ("truncated" in ended.comment.lower()) == (count > 12)


SECRETS = {
    "key": "sk-proj-Zm9v+YmFy/planted=1",
    "token": "ghp_0123456789abcdefghijABCDEFGHIJ0123",
    "dsn": "postgresql://ann:p%40ss-w0rd-planted@db.test:5432/x",
}
FORMS = (
    "sk-proj-Zm9v",
    "sk-proj-Zm9v%2BYmFy%2Fplanted%3D1",
    "c2stcHJvai1abTl2K1ltRnkvcGxhbnRlZD0x",
    "ghp_0123456789abcdef",
    "p%40ss-w0rd-planted",
    "p@ss-w0rd-planted",
)


def test_planted_secrets_are_in_no_output(end: End) -> None:
    """In a reply, the SQL, a question, cells, an error and an id; as they are, URL-encoded, in base64, cut by a report's width."""
    import base64
    from urllib.parse import quote

    key, token, dsn = SECRETS.values()
    texts = [
        key,
        quote(key, safe=""),
        base64.b64encode(key.encode()).decode(),
        token,
        dsn,
        f"{'x' * 180}{token}",
        f"Authorization: Bearer {key}",
    ]
    head, baseline = [], []
    for number, text in enumerate(texts):
        name = f"q{number}"
        error = replace(
            case(f"e{number}", 0),
            outcome="sql_error",
            error=SqlError(f"near {text}"),
            reason=Reason("sql_error", f"near {text}"),
            result=None,
        )
        cells = ResultSet(("c", text), ((text, 1),))
        broken = case(
            name,
            0,
            sql=f"SELECT '{text}'",
            reply=f"```sql\nSELECT '{text}'\n```",
            question=text,
            result=cells,
            golden_result=cells,
            tags=(text,),
        )
        fault = case(
            f"u{number}", 0, outcome="unscored", sql="", result=None, scores={}, reason=Reason("endpoint", f"HTTP 500 {text}")
        )
        head += [broken, error, fault]
        baseline += [case(name, 1, sql=f"SELECT '{text}' AS old"), case(f"e{number}", 1)]
    ended = end(head, baseline, secrets=tuple(SECRETS.values()))
    assert [form for form in FORMS if form in ended.everywhere] == []
    assert "***" in ended.comment
