"""WordPiece tokens as BERT's uncased models want them (Devlin et al. 2019): clean, split, lower, cut into known pieces."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

_LONGEST_WORD = 100


class WordPiece:
    """A vocabulary file, one piece a line; the line number is the token."""

    def __init__(self, vocabulary: Path) -> None:
        lines = vocabulary.read_text(encoding="utf-8").splitlines()
        self._tokens = {piece: number for number, piece in enumerate(lines)}
        self._unknown = self._tokens["[UNK]"]
        self._start, self._end = self._tokens["[CLS]"], self._tokens["[SEP]"]

    def encode(self, text: str, *, longest: int) -> list[int]:
        """Tokens of `text` between the start and end marks, cut to `longest` in all."""
        tokens = [self._start]
        for word in _words(text):
            tokens += self._pieces(word)
            if len(tokens) >= longest:
                break
        return [*tokens[: longest - 1], self._end]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                token = self._tokens.get(piece)
                if token is not None:
                    pieces.append(token)
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


def _words(text: str) -> Iterator[str]:
    spaced = "".join(_spaced(character) for character in text)
    for word in spaced.split():
        plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
        yield from _parts(plain)


def _spaced(character: str) -> str:
    code = ord(character)
    if code in {0, 0xFFFD}:
        return ""
    if character.isspace():
        return " "
    if unicodedata.category(character) in {"Cc", "Cf"}:
        return ""
    return f" {character} " if _is_chinese(code) else character


def _parts(word: str) -> Iterator[str]:
    """The word cut at each mark of punctuation, the marks included."""
    start = 0
    for place, character in enumerate(word):
        if _is_mark(character):
            if place > start:
                yield word[start:place]
            yield character
            start = place + 1
    if start < len(word):
        yield word[start:]


def _is_mark(character: str) -> bool:
    # All of ASCII's signs count, although Unicode calls some of them symbols.
    code = ord(character)
    signs = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126  # noqa: PLR2004 - ASCII
    return signs or unicodedata.category(character).startswith("P")


_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def _is_chinese(code: int) -> bool:
    return any(first <= code <= last for first, last in _CHINESE)
