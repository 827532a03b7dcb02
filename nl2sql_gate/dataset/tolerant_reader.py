"""The tolerant JSON reader: a small recursive descent that notes every deviation with its offset."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from nl2sql_gate.dataset.documents import MAX_DEPTH, MOST_ODDITIES, SyntaxFault

_BLANK = re.compile(r"[ \t\r\n\f\v\u00a0]*")
_WORD = re.compile(r"[^\W\d][\w$]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]*'), "'": re.compile(r"[^'\\\x00-\x1f]*")}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX_ESCAPES = {"u": 4, "x": 2, "U": 8}
_WORDS = {"true": True, "false": False, "null": None}
_PYTHON_WORDS = {"True": True, "False": False, "None": None}
_SURROGATE = re.compile("[\ud800-\udfff]")
_LAST_CODE_POINT = 0x10FFFF


class TolerantReader:
    """Reads one text once."""

    def __init__(self, text: str, *, first_line: int = 1) -> None:
        self._text = text
        self._at = 0
        self._first_line = first_line
        self._found: list[tuple[str, str, int]] = []
        self._counts: dict[str, int] = {}
        self._last: dict[str, int] = {}

    def read(self) -> tuple[list[int], list[Any], bool]:
        """(offset of each top-level item, the items, whether they stand in a list). Raises `SyntaxFault`."""
        if self._text.startswith("\ufeff"):
            self._note("byte_order_mark", "the file begins with a byte order mark", 0)
            self._at = 1
        self._skip()
        is_list = self._text.startswith("[", self._at)
        starts = [self._at]
        if is_list:
            starts, values = [], []
            for offset in self._elements("]"):
                starts.append(offset)
                values.append(self._value(1))
        else:
            values = [self._value(0)]
        self._skip()
        if self._at < len(self._text):
            self._fail("there is more text after the end of the first value")
        return starts, values, is_list

    def found(self) -> list[tuple[str, str, int]]:
        """The deviations as (code, message, offset): of each kind the first few, then how many more there are."""
        more = {code: count - MOST_ODDITIES for code, count in self._counts.items() if count > MOST_ODDITIES}
        return self._found + [
            (code, f"{count} more of this kind, the last here", self._last[code]) for code, count in more.items()
        ]

    def _note(self, code: str, message: str, offset: int) -> None:
        # A file written with Python's repr() deviates at every string: counted, not kept.
        self._counts[code] = self._counts.get(code, 0) + 1
        self._last[code] = offset
        if self._counts[code] <= MOST_ODDITIES:
            self._found.append((code, message, offset))

    def _fail(self, message: str, offset: int | None = None) -> NoReturn:
        raise SyntaxFault(message, self._at if offset is None else offset)

    def _skip(self) -> None:
        """Step over blanks and comments."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            start = self._at
            if self._text.startswith(("//", "#"), start):
                end = self._text.find("\n", start)
                self._at = len(self._text) if end < 0 else end
            elif self._text.startswith("/*", start):
                end = self._text.find("*/", start + 2)
                if end < 0:
                    self._fail("a comment that begins here is not closed", start)
                self._at = end + 2
            else:
                return
            self._note("comment", "a comment, which JSON does not have", start)

    def _peek(self) -> str:
        self._skip()
        return self._text[self._at : self._at + 1]

    def _elements(self, closing: str) -> Any:
        """Offsets of the elements up to `closing`; whoever iterates reads each element before asking for the next."""
        opened = self._at
        self._at += 1
        comma = -1
        while True:
            char = self._peek()
            if char == closing:
                if comma >= 0:
                    # Counting lines for each of a million commas would take the square of the file's length.
                    place = self._describe(comma) if self._counts.get("trailing_comma", 0) < MOST_ODDITIES else ""
                    self._note("trailing_comma", f"{closing!r} right after a comma ({place})", self._at)
                self._at += 1
                return
            if not char:
                self._fail(f"the file ends before the {self._text[opened]!r} of {self._describe(opened)} is closed")
            if char == ",":
                self._fail("a comma with nothing before it")
            yield self._at
            char = self._peek()
            if char == ",":
                comma = self._at
                self._at += 1
            elif char == closing:
                comma = -1
            elif char:
                self._fail(f"expected ',' or {closing!r}, found {char!r}")
            else:
                self._fail(f"the file ends before the {self._text[opened]!r} of {self._describe(opened)} is closed")

    def _describe(self, offset: int) -> str:
        line = self._text.count("\n", 0, offset) + self._first_line
        return f"line {line}, column {offset - self._text.rfind(chr(10), 0, offset)}"

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} levels deep")
        char = self._peek()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return [self._value(depth + 1) for _ in self._elements("]")]
        if char in {'"', "'"}:
            return self._string()
        if not char:
            self._fail("the file ends where a value should stand" if self._text.strip("\ufeff \t\r\n") else "the file is empty")
        number = _NUMBER.match(self._text, self._at)
        return self._number(number) if number else self._word()

    def _object(self, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for offset in self._elements("}"):
            key = self._key()
            if self._peek() != ":":
                self._fail(f"expected ':' after the key {key!r}")
            self._at += 1
            element = self._value(depth + 1)
            if key in value:
                if value[key] != element:
                    self._fail(f"the key {key!r} comes twice in one object, with different values", offset)
                self._note("duplicate_key", f"the key {key!r} comes twice in one object, with the same value", offset)
            value[key] = element
        return value

    def _key(self) -> str:
        if self._text[self._at] in "\"'":
            return self._string()
        word = _WORD.match(self._text, self._at)
        if not word:
            self._fail(f"expected a key in quotes, found {self._text[self._at]!r}")
        self._note("bare_key", f"the key {word.group()} without quotes", self._at)
        self._at = word.end()
        return word.group()

    def _number(self, found: re.Match[str]) -> int | float:
        try:
            value = json.loads(found.group())
        except ValueError:  # thousands of digits, which Python refuses to convert
            self._fail("a number with too many digits")
        if value in {float("inf"), float("-inf")}:
            self._fail(f"{found.group()} is too large a number")
        self._at = found.end()
        return value  # type: ignore[no-any-return]

    def _word(self) -> bool | None:
        word = _WORD.match(self._text, self._at)
        name = word.group() if word else ""
        if name in _WORDS:
            value = _WORDS[name]
        elif name in _PYTHON_WORDS:
            value = _PYTHON_WORDS[name]
            self._note("python_literal", f"{name} where JSON has {str(name).lower() if value is not None else 'null'}", self._at)
        elif name:
            hint = "; JSON has no such number" if name.lower() in {"nan", "infinity", "inf"} else ""
            self._fail(f"{name[:40]} is no JSON value{hint}")
        else:
            found = re.split(r"[\s,\]}]", self._text[self._at : self._at + 40], maxsplit=1)[0]
            self._fail(f"expected a value, found {found or self._text[self._at]!r}")
        self._at += len(name)
        return value

    def _string(self) -> str:
        quote = self._text[self._at]
        start = self._at
        if quote == "'":
            self._note("single_quotes", "a string in single quotes", start)
        self._at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN[quote].match(self._text, self._at)
            if plain:
                parts.append(plain.group())
                self._at = plain.end()
            char = self._text[self._at : self._at + 1]
            if char == quote:
                self._at += 1
                return _joined("".join(parts))
            if not char:
                self._fail("a string that begins here is not closed", start)
            if char == "\\":
                parts.append(self._escape())
            elif char == "\x00":
                self._fail("a NUL character in a string")
            else:
                self._note("control_character", f"a raw {_name(char)} in a string", self._at)
                parts.append(char)
                self._at += 1

    def _escape(self) -> str:
        start = self._at
        letter = self._text[start + 1 : start + 2]
        if letter in _HEX_ESCAPES:
            digits = self._text[start + 2 : start + 2 + _HEX_ESCAPES[letter]]
            is_whole = len(digits) == _HEX_ESCAPES[letter] and re.fullmatch(r"[0-9A-Fa-f]+", digits)
            if is_whole and int(digits, 16) <= _LAST_CODE_POINT:
                if letter != "u":
                    self._note("python_escape", f"the escape \\{letter}{digits}, which JSON does not have", start)
                self._at += 2 + len(digits)
                return chr(int(digits, 16))
        elif letter in _ESCAPES:
            self._at += 2
            return _ESCAPES[letter]
        elif letter == "'":
            self._note("python_escape", "the escape \\', which JSON does not have", start)
            self._at += 2
            return "'"
        return self._fail(f"\\{letter} is no escape of JSON")


def _joined(text: str) -> str:
    """Two halves of a surrogate pair are one character, as in the standard library's reader."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _name(char: str) -> str:
    return {"\n": "line break", "\r": "carriage return", "\t": "tab"}.get(char, f"control character U+{ord(char):04X}")
