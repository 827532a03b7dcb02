"""Text written by models, datasets and databases, made safe to show: it keeps its letters and loses its powers.

Nothing here is cut or escaped twice: `visible` first (what cannot be seen is named), then one of the Markdown forms.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import reduce

from nl2sql_gate.github.limits import shortened

_ANSI = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|\x1b[\\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c|$)"  # OSC, DCS: titles, links
    "|\x1b[ -/]*[0-~]"
    "|\x9b[0-?]*[ -/]*[@-~]"
)

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\uffff\ufdd0-\ufdef"
    "\ud800-\udfff\ue000-\uf8ff\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bcaf\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff]"
)
"""Controls, formatting and bidi marks, fillers, variation and tag characters, private use, halves of surrogate pairs."""

_MARK = "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_TOO_MANY_MARKS = re.compile(f"({_MARK}{{3}}){_MARK}+")
"""More combining marks on one letter than a language needs: they paint over the lines around."""

_FIRST_PICTURE = 0x2400
_LAST_C0 = 0x1F
_DELETE = 0x7F


def visible(text: str) -> str:
    r"""`text` in which nothing is hidden: terminal sequences are gone, other unseen characters are named, as in ⟨U+202E⟩.

    Line ends become `\n`; tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI.sub("", text.replace("\r\n", "\n"))
    return _TOO_MANY_MARKS.sub(r"\1", _UNSEEN.sub(_named, text))


def one_line(text: str, *, width: int = 0) -> str:
    """`visible` on one line, `⏎` for line ends, shortened to `width` characters where that is not 0."""
    shown = visible(text)
    # Text of a single line is by far the most frequent: results have hundreds of thousands of cells.
    if "\n" in shown or "\t" in shown:
        parts = (part.strip() for part in shown.replace("\t", " ").split("\n"))
        line = " ⏎ ".join(part for part in parts if part)
    else:
        line = shown.strip()
    return shortened(line, width) if width else line


def code_span(text: str, *, width: int = 0) -> str:
    """A Markdown code span that holds `text` and ends where we end it; not for tables.

    In a code span nothing is a mention, a link, an image or HTML.
    """
    line = one_line(text, width=width)
    if not line:
        return "` `"
    ticks = "`" * (longest_run(line, "`") + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def cell_span(text: str, *, width: int = 0) -> str:
    """`code_span` for a table cell: there a pipe ends the cell even in a code span, unless a backslash stands before it."""
    return code_span(text, width=width).replace("|", "\\|")


_ALIVE = re.compile(
    r"@|#\d|\bGH-\d|://|www\.|[`$]|\b[0-9a-f]{7,40}\b|<[a-z/!]|\]\(|:[a-z_+-]+:|\bmailto:|[\w.-]+/[\w.-]+#",
    re.IGNORECASE,
)
"""What a platform turns into a mention, a link, a formula, an image or a picture."""

_SPECIAL = re.compile(r"([\\*\[\]|~!]|(?<!\w)_|_(?!\w))")
_BLOCK_START = re.compile(r"^(\s*)([#>+=-]|\d+[.)])")
_IN_TICKS = re.compile(r"`([^`]+)`")
_POINTS = ",.;:)"


def prose(text: str, *, width: int = 0) -> str:
    """A sentence of ours that quotes others, as Markdown: words that a platform would act upon stand in code spans.

    What stands in single backticks is a code span too. For a table cell use `cell_prose`.
    """
    return _BLOCK_START.sub(r"\1\\\2", _prose(text, width, code_span))


def cell_prose(text: str, *, width: int = 0) -> str:
    """`prose` for a table cell."""
    return _prose(text, width, cell_span)


def beside(left: str, right: str) -> str:
    """Two parts in a row; a code span beside a code span is parted, since their backticks would be read as one."""
    return f"{left} {right}" if left.endswith("`") and right.startswith("`") else left + right


def _prose(text: str, width: int, span: Callable[[str], str]) -> str:
    # Odd places hold what stood between backticks.
    parts = _IN_TICKS.split(one_line(text, width=width))
    written = (span(part) if place % 2 else _words(part, span) for place, part in enumerate(parts))
    return reduce(beside, written, "")


def _words(text: str, span: Callable[[str], str]) -> str:
    return " ".join(_word(word, span) for word in text.split(" "))


def _word(word: str, span: Callable[[str], str]) -> str:
    if not _ALIVE.search(word):
        return _escaped(word)
    bare = word.rstrip(_POINTS)
    return beside(span(bare), _escaped(word[len(bare) :])) if bare else _escaped(word)


def html_text(text: str, *, width: int = 0) -> str:
    """`text` on one line for an HTML block inside Markdown, in a `code` element so that nothing in it is acted upon."""
    return f"<code>{html.escape(one_line(text, width=width))}</code>"


def fence(text: str, language: str = "") -> str:
    """A fenced code block that holds `text`; the fence is longer than any run of backticks in it."""
    shown = visible(text).rstrip("\n")
    ticks = "`" * max(3, longest_run(shown, "`") + 1)
    return f"{ticks}{language}\n{shown}\n{ticks}"


def longest_run(text: str, character: str) -> int:
    """The length of the longest run of `character`."""
    return max((len(run) for run in re.findall(f"{re.escape(character)}+", text)), default=0)


def _escaped(word: str) -> str:
    return _SPECIAL.sub(r"\\\1", word).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _named(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= _LAST_C0:
        return chr(_FIRST_PICTURE + code)
    return "␡" if code == _DELETE else f"⟨U+{code:04X}⟩"
