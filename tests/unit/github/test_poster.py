"""The poster: a stranger's artifact becomes at most a clean comment on the pull request that GitHub names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from nl2sql_gate.github.client import Client
from nl2sql_gate.github.markdown_cleaning import clean_markdown
from nl2sql_gate.github.poster import ForkRun, fork_run, post

RUN = ForkRun(5, 1, "f" * 40, "stranger", "feature")
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def _event(tmp_path: Path, payload: Any) -> Path:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload))
    return path


def _pull(github: Any, number: int = 7, sha: str = RUN.head_sha) -> None:
    url = f"{github.url}/repos/org/repo/pulls/{number}"
    github.pulls.append(
        {"number": number, "url": url, "label": "stranger:feature", "head": {"sha": sha, "label": "stranger:feature"}}
    )


def test_the_run_comes_from_the_event(tmp_path: Path) -> None:
    payload = {
        "workflow_run": {
            "id": 5,
            "run_attempt": 1,
            "head_sha": "f" * 40,
            "head_branch": "feature",
            "head_repository": {"owner": {"login": "stranger"}},
        }
    }
    assert fork_run(_event(tmp_path, payload)) == RUN
    for broken in ({}, [], {"workflow_run": {"id": "x"}}, {"workflow_run": {"id": 1, "head_sha": "a", "head_repository": None}}):
        assert fork_run(_event(tmp_path, broken)) is None


def test_the_comment_is_cleaned_and_goes_to_the_pull_request_of_the_commit(github: Any, client: Client) -> None:
    _pull(github, 3, "e" * 40)
    _pull(github, 7)
    text = "<!-- nl2sql-gate:v1 gate=g -->\n### 🔴 NL2SQL gate g · fail · fell\n\nping @all ![x](https://evil.example/x.png)"
    github.add_artifact("nl2sql-gate-g", {"comment.md": text.encode(), "pr.json": b'{"number": 666}'})
    posted = post(client, RUN, gate="g", artifact="nl2sql-gate-g")
    assert posted.is_there
    assert ("POST", "issues/7/comments") in github.requests
    body = github.own()[0]
    assert "· fail ·" in body
    assert "own code, without secrets" in body
    assert "`@all`" in body
    assert "evil.example" not in body
    assert "said=fail@" in body


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"other.md": b"x"}, "there is no comment.md"),
        ({"comment.md": b"x" * 10_000_000}, "larger than"),
    ],
)
def test_a_bad_artifact_is_words(github: Any, client: Client, files: dict[str, bytes], said: str) -> None:
    _pull(github)
    github.add_artifact("a", files)
    posted = post(client, RUN, gate="g", artifact="a")
    assert not posted.is_there
    assert said in posted.words
    assert "POST" not in github.methods()


def test_no_archive_no_pull_request_no_artifact(github: Any, client: Client) -> None:
    assert "no open pull request" in post(client, RUN, gate="g", artifact="a").words
    _pull(github)
    assert "has no artifact" in post(client, RUN, gate="g", artifact="a").words
    github.add_artifact("a", {})
    github.archives[github.artifacts[0]["id"]] = b"not a zip"
    assert "no readable zip" in post(client, RUN, gate="g", artifact="a").words


HOSTILE = [
    "@all #1 GH-2 org/repo#3 https://evil.example www.evil.example",
    "![x](https://evil.example/p.png) [text](javascript:alert(1)) <https://evil.example>",
    "[ref]\n\n[ref]: https://evil.example",
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n<details open onclick=x><summary><b>hi @all</b></summary>\n\ninner\n",
    "</details></details>\n\ntext",
    "<details>\n\n```\nnever closed\n",
    "<!-- nl2sql-gate:v1 gate=other -->\n\n<!-- nl2sql-gate:leg=x run=9.9 said= -->",
    "```sql\n@all\n```\n\n````html\n```\n@x\n````",
    "| a | b |\n|--|--|\n| `x\\|y` | @all <b> |",
    "@&#97;ll @\u200ball @a**l**l &#64;all",
    "* list\n  * nested @all\n\n1. one\n2. two",
    "> [!CAUTION]\n> text @all\n>\n> - item",
    "> [!CAUTION] <img src=x>",
    "a  \nb\\\nc",
    "Setext\n======\n\nother\n---",
    "    code @all",
    "$$x$$ :smile: ~~x~~",
    "\x00\x1b[31m\u202e",
    "<!--",
    "<a href='https://evil.example'>x</a> <sub>@all</sub>",
    "`unclosed @all",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_keeps_no_power(text: str) -> None:
    cleaned = clean_markdown(text)
    tokens = MARKDOWN.parse(cleaned)
    inline = [child for token in tokens for child in token.children or []]
    assert not [child for child in inline if child.type in {"link_open", "image", "html_inline"}]
    plain = " ".join(child.content for child in inline if child.type == "text")
    assert not [live for live in ("@", "#1", "GH-", "://", "www.", "javascript:") if live in plain]
    html = "".join(token.content for token in tokens if token.type == "html_block")
    assert html.count("<details>") == html.count("</details>")
    rest = html
    for ours in ("<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"):
        rest = rest.replace(ours, "")
    assert "<" not in rest
    assert clean_markdown(cleaned) == clean_markdown(clean_markdown(cleaned))


def test_our_own_report_survives_cleaning() -> None:
    text = (
        "### 🔴 NL2SQL gate g · fail · execution accuracy fell\n\n> [!CAUTION]\n> The verdict is **fail**.\n> - because\n>\n> facts\n\n"
        "| | Baseline | This run |\n|:--|--:|--:|\n| EX strict | 75.0 % (150/200) | 70.5 % |\n\n"
        "<details><summary><code>o1</code> · SQL</summary>\n\n```sql\nSELECT 1\n```\n\n</details>\n\n<sub>baseline `main@a1b2c3d`</sub>\n"
    )
    cleaned = clean_markdown(text)
    for kept in (
        "### 🔴 NL2SQL gate g · fail",
        "> [!CAUTION]\n> The verdict is fail.",
        "> - because",
        "| EX strict | 75.0 % (150/200) | 70.5 % |",
        "```sql\nSELECT 1\n```",
        "<details><summary><code>o1 · SQL</code></summary>",
        "baseline `main@a1b2c3d`",
    ):
        assert kept in cleaned
