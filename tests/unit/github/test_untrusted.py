"""Foreign text keeps its letters and loses its powers."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nl2sql_gate.github.untrusted import cell_prose, cell_span, code_span, fence, html_text, one_line, prose, visible

MARKDOWN = MarkdownIt("commonmark").enable("table")


def _flat(text: str) -> list[tuple[str, str]]:
    """Type and content of every inline token, and of fences."""
    found = []
    for block in MARKDOWN.parse(text):
        found += [(token.type, token.content) for token in block.children or []]
        if block.type in {
            "fence",
            "html_block",
            "code_block",
            "heading_open",
            "bullet_list_open",
            "ordered_list_open",
            "blockquote_open",
        }:
            found.append((block.type, block.content))
    return found


def test_every_unseen_character_is_named() -> None:
    unseen = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and chr(code) not in "\t\n"
    ]
    assert not [character for character in unseen if character in visible(f"a{character}b")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mERROR\x1b[0m: bad\x07 thing\x00", "ERROR: bad␇ thing␀"),
        ("\x1b]8;;https://evil.example\x07click\x1b]8;;\x07", "click"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("\x9b31mred", "red"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\ud800b", "a⟨U+D800⟩b"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("Käufe 购买 🛒", "Käufe 购买 🛒"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 3),
    ],
)
def test_controls_are_named_and_terminal_sequences_are_gone(text: str, shown: str) -> None:
    assert shown == visible(text)


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert len(one_line(text, width=10)) <= 10


@given(st.text(alphabet=st.sampled_from("`|\\ a\n<>@#*_[]()!")))
def test_a_code_span_ends_where_we_end_it(text: str) -> None:
    tokens = _flat(f"x {code_span(text)} y")
    assert [token for token in tokens if token[0] == "text"] == [("text", "x "), ("text", " y")]
    assert one_line(text).strip() == "".join(content for kind, content in tokens if kind == "code_inline").strip()


@given(st.text(alphabet=st.sampled_from("`|\\ a\n<>@#*_[]()!")))
def test_a_code_span_in_a_table_stays_in_its_cell(text: str) -> None:
    html = MARKDOWN.render(f"| a | b |\n|--|--|\n| {cell_span(text)} | z |\n")
    assert (html.count("<tr>"), html.count("<td>"), html.count("<td>z</td>")) == (2, 2, 1)


@pytest.mark.parametrize("text", ["SELECT `a` FROM `t`", "SELECT 'C:\\Users\\x' || E'\\n'", "<img src=x>", "a\\|b", "``", "|"])
def test_a_table_shows_the_very_letters(text: str) -> None:
    cells = [content for kind, content in _flat(f"| a | b |\n|--|--|\n| {cell_span(text)} | z |\n") if kind == "code_inline"]
    assert [text] == cells


@given(st.text(alphabet=st.sampled_from("`~ a\n<>-=#")))
def test_a_fence_ends_where_we_end_it(text: str) -> None:
    tokens = _flat(f"before\n\n{fence(text, 'sql')}\n\nafter\n")
    assert [kind for kind, _ in tokens] == ["text", "fence", "text"]


ALIVE = [
    "mail @octo-team about #12",
    "GH-12 and owner/repo#3",
    "see https://evil.example/x or www.evil.example",
    "![x](https://evil.example/p.png) [click](javascript:alert(1))",
    "<img src=x onerror=alert(1)> <script>",
    "fixed in 0123456789abcdef0123456789abcdef01234567",
    "$\\color{red}x$",
    ":smile:",
    "**bold** _it_ ~~gone~~",
    "a | b | c",
    "# heading",
    "1. list",
    "- list",
    "> quote",
    "--- \n===",
    "`unbalanced",
    "``a`` `b",
    "<!-- comment -->",
    "&lt;b&gt;",
]


@pytest.mark.parametrize("text", ALIVE)
def test_prose_that_quotes_others_is_only_text_and_code(text: str) -> None:
    tokens = _flat(prose(text))
    assert {"text", "code_inline"} >= {kind for kind, _ in tokens}
    plain = " ".join(content for kind, content in tokens if kind == "text")
    for live in ("@", "://", "www.", "#1", "GH-1", "0123456789abcdef"):
        assert live not in plain


@pytest.mark.parametrize("text", ALIVE)
def test_prose_stays_in_its_cell(text: str) -> None:
    html = MARKDOWN.render(f"| a | b |\n|--|--|\n| {cell_prose(text)} | z |\n")
    assert (html.count("<td>"), html.count("<td>z</td>")) == (2, 1)


def test_prose_keeps_code_and_plain_words_as_they_are() -> None:
    assert prose("accept with `waivers.yml` or the label nl2sql-accept") == "accept with `waivers.yml` or the label nl2sql-accept"
    assert (
        prose("execution_accuracy fell; baseline main@a1b2c3d, 2 days old")
        == "execution_accuracy fell; baseline `main@a1b2c3d`, 2 days old"
    )


def test_text_for_html_is_escaped() -> None:
    assert html_text("</summary><b> @x") == "<code>&lt;/summary&gt;&lt;b&gt; @x</code>"
