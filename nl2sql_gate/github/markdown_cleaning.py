"""Markdown that a stranger's program wrote, made again from its parts: our own constructs survive, everything else becomes text.

Nothing is searched and replaced: the text is parsed, and each part is written anew with its content escaped, so that what a
reader of this parser and what GitHub's parser would see in it cannot differ.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from nl2sql_gate.github.untrusted import beside, cell_prose, cell_span, code_span, fence, prose, visible

if TYPE_CHECKING:
    from markdown_it.token import Token

_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]")
_LANGUAGES = {"sql", "diff", "sh", "text"}
_DROPPED = {"<sub>", "</sub>", "<code>", "</code>"}


def clean_markdown(text: str) -> str:
    """`text` with headings, lists, tables, alerts, code and folds; links lose their targets, images and other HTML are text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    writer = _Writer()
    written = writer.blocks(parser.parse(visible(text)))
    return "\n\n".join(part for part in written if part.strip()) + writer.closing() + "\n"


class _Writer:
    """Blocks written again. Open folds are counted, so that all are closed in the end."""

    def __init__(self) -> None:
        self._open = 0

    def closing(self) -> str:
        """What closes the folds that are still open."""
        return "\n\n</details>" * self._open

    def blocks(self, tokens: Sequence[Token]) -> list[str]:
        """One text a block."""
        found, place = [], 0
        while place < len(tokens):
            token = tokens[place]
            end = _end(tokens, place)
            found.append(self._block(token, tokens[place + 1 : end]))
            place = end + 1 if end > place else place + 1
        return found

    def _block(self, token: Token, inner: Sequence[Token]) -> str:
        match token.type:
            case "heading_open":
                return f"{'#' * int(token.tag[1:])} {_inline(inner)}"
            case "paragraph_open":
                return _inline(inner)
            case "bullet_list_open":
                return "\n".join(f"- {_indented(item)}" for item in self._items(inner))
            case "ordered_list_open":
                return "\n".join(f"{number}. {_indented(item)}" for number, item in enumerate(self._items(inner), 1))
            case "blockquote_open":
                return self._quote(inner)
            case "table_open":
                return _table(inner)
            case "fence" | "code_block":
                language = token.info.strip()
                return fence(token.content, language if language in _LANGUAGES else "")
            case "html_block":
                return self._html(token.content)
            case "hr":
                return "---"
            case _:
                return prose(token.content)

    def _items(self, tokens: Sequence[Token]) -> list[str]:
        items, place = [], 0
        while place < len(tokens):
            end = _end(tokens, place)
            items.append("\n\n".join(self.blocks(tokens[place + 1 : end])))
            place = end + 1
        return items

    def _quote(self, inner: Sequence[Token]) -> str:
        lines = "\n\n".join(self.blocks(inner)).split("\n")
        first = next((token.content for token in inner if token.type == "inline"), "")
        alert = _ALERT.match(first)
        if alert:
            # The alert's own line was escaped like any other text.
            lines = [f"[!{alert[1]}]", *"\n".join(lines).split(f"\\[\\!{alert[1]}\\]", 1)[-1].strip("\n ").split("\n")]
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def _html(self, content: str) -> str:
        parser = _Folds()
        parser.feed(content)
        parser.close()
        closed = min(parser.closed, self._open + parser.opened)
        self._open += parser.opened - closed
        if parser.opened:
            summary = html.escape(" ".join(parser.summary.split())) or "details"
            return f"<details><summary><code>{summary}</code></summary>" + "\n\n</details>" * closed
        return "</details>" * closed or prose(parser.text)


class _Folds(HTMLParser):
    """Folds in a block of HTML: how many open and close, the text of the summary, and all other text."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = self.closed = 0
        self.summary = self.text = ""
        self._in_summary = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.opened += tag == "details" and not self.opened
        self._in_summary = self._in_summary or tag == "summary"

    def handle_endtag(self, tag: str) -> None:
        self.closed += tag == "details"
        self._in_summary = self._in_summary and tag != "summary"

    def handle_data(self, data: str) -> None:
        if self._in_summary:
            self.summary += data
        else:
            self.text += data


def _end(tokens: Sequence[Token], place: int) -> int:
    """Where the block that opens at `place` closes; `place` itself for a block of one token."""
    depth = 0
    for at in range(place, len(tokens)):
        depth += tokens[at].nesting
        if depth <= 0:
            return at
    return len(tokens) - 1


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _inline(tokens: Sequence[Token], *, in_cell: bool = False) -> str:
    return " ".join(_words(token.children or [], in_cell=in_cell) for token in tokens if token.type == "inline").strip()


def _words(children: Sequence[Token], *, in_cell: bool) -> str:
    """Inline parts. Text beside text is joined first: a mention must not be put together from two harmless halves."""
    write, span = (cell_prose, cell_span) if in_cell else (prose, code_span)
    written = ""
    plain = ""
    for child in children:
        if child.type == "code_inline":
            written = beside(beside(written, _spaced(plain, write)), span(child.content))
            plain = ""
        elif child.type in {"softbreak", "hardbreak"}:
            written = beside(written, _spaced(plain, write)) + (" " if in_cell else "\n")
            plain = ""
        elif child.type == "image" or (child.type in {"text", "html_inline"} and child.content not in _DROPPED):
            plain += child.content
    return beside(written, _spaced(plain, write))


def _spaced(text: str, write: Callable[[str], str]) -> str:
    """`text` written, with the blanks around it: prose beside code keeps its distance."""
    if not text.strip():
        return " " if text else ""
    before, after = (" " if edge.isspace() else "" for edge in (text[0], text[-1]))
    return f"{before}{write(text)}{after}"


def _table(tokens: Sequence[Token]) -> str:
    rows: list[list[str]] = []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in {"th_open", "td_open"}:
            rows[-1].append(_inline(tokens[place + 1 : _end(tokens, place)], in_cell=True))
    if not rows:
        return ""
    width = len(rows[0])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'--|' * width}", *lines[1:]])
