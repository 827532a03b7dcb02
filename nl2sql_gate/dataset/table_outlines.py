"""What a setup script says about its tables at a glance: columns with types, and which tables refer to which.

A look, not a parser: it helps to read CSV and to order tables, and where it sees nothing everything still works.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/                                  # comments, dropped below
      |'(?:[^']|'')*'                                       # texts
      |"(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]\n]*\]       # quoted names
      |[\w$\#@]+ | [(),.;] | \S""",
    re.VERBOSE | re.DOTALL,
)
_CREATE = re.compile(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*(?:create|alter)\b", re.IGNORECASE | re.DOTALL)
_TABLE_RULES = frozenset(
    {"constraint", "primary", "foreign", "unique", "check", "key", "index", "fulltext", "spatial", "exclude", "like", "period"}
)  # fmt: skip
_TYPE_ENDS = frozenset(
    {"not", "null", "default", "primary", "unique", "references", "check", "constraint", "generated", "identity", "collate",
     "auto_increment", "autoincrement", "comment", "as", "on", "character"}
)  # fmt: skip


@dataclass(slots=True)
class Outline:
    """One table: its columns' types by lower-case name in order, and the tables that it refers to."""

    columns: dict[str, str] = field(default_factory=dict)
    parents: set[str] = field(default_factory=set)


def outlines(statements: Iterable[str]) -> dict[str, Outline]:
    """Outlines by lower-case table name without schema, from CREATE TABLE and ALTER TABLE among `statements`."""
    found: dict[str, Outline] = {}
    for statement in statements:
        if not _CREATE.match(statement):
            continue
        tokens = [token for token in _TOKEN.findall(statement) if not token.startswith(("--", "/*"))]
        # A T-SQL batch holds many statements, and nothing but these words need separate them.
        starts = [at for at, token in enumerate(tokens) if token.lower() in {"create", "alter"}]
        for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
            _Reader(tokens[start:end], found).read()
    return found


def parents_first(tables: Sequence[str], known: Mapping[str, Outline]) -> list[str]:
    """The tables with those they refer to before them, by name where that leaves a choice; tables in a circle stay by name."""
    names = sorted(tables)
    by_lower = {table_key(name): name for name in names}
    ordered: dict[str, None] = {}
    for first in names:
        # Depth first with a list of our own: a chain of references may be longer than the stack.
        waiting = [(first, False)]
        seen: set[str] = set()
        while waiting:
            name, is_done = waiting.pop()
            if is_done:
                ordered.setdefault(name)
                continue
            if name in ordered or name in seen:
                continue
            seen.add(name)
            waiting.append((name, True))
            outline = known.get(table_key(name))
            parents = sorted(outline.parents, reverse=True) if outline else []
            waiting.extend((by_lower[parent], False) for parent in parents if parent in by_lower)
    return list(ordered)


def table_key(name: str) -> str:
    """The key of a table in `outlines`: lower case, without schema."""
    return name.rpartition(".")[2].lower()


class _Reader:
    """Reads the tokens of one statement."""

    def __init__(self, tokens: list[str], found: dict[str, Outline]) -> None:
        self._tokens = tokens
        self._words = [token.lower() for token in tokens]
        self._found = found

    def read(self) -> None:
        words = self._words
        try:
            at = words.index("table", 0, 6) + 1
        except ValueError:
            return
        while at < len(words) and words[at] in {"if", "not", "exists", "only"}:
            at += 1
        name, at = self._name(at)
        if not name:
            return
        outline = self._found.setdefault(name, Outline())
        if words[0] == "create" and at < len(words) and words[at] == "(":
            self._columns(at + 1, outline)
        for position, word in enumerate(words):
            if word == "references":
                parent, _ = self._name(position + 1)
                outline.parents |= {parent} - {"", name}

    def _name(self, at: int) -> tuple[str, int]:
        """(the last part of a dotted name, in lower case; where the next token stands)."""
        name = ""
        while at < len(self._tokens):
            name = _unquoted(self._tokens[at]).lower()
            at += 1
            if at >= len(self._tokens) or self._tokens[at] != ".":
                break
            at += 1
        return name, at

    def _columns(self, at: int, outline: Outline) -> None:
        """Read the list in parentheses that begins at `at`."""
        depth = 1
        part: list[str] = []
        for position in range(at, len(self._tokens)):
            word = self._words[position]
            depth += (word == "(") - (word == ")")
            if depth == 0 or (depth == 1 and word == ","):
                _add_column(part, outline)
                part = []
                if depth == 0:
                    return
            else:
                part.append(self._tokens[position])


def _add_column(part: list[str], outline: Outline) -> None:
    if not part or part[0].lower() in _TABLE_RULES:
        return
    declared: list[str] = []
    for token in part[1:]:
        if token.lower() in _TYPE_ENDS:
            break
        declared.append(token)
    text = " ".join(declared).lower()
    outline.columns.setdefault(_unquoted(part[0]).lower(), re.sub(r" ?([(),]) ?", r"\1", text))


def _unquoted(token: str) -> str:
    quote = token[:1]
    if quote == "[":
        return token[1:-1]
    return token[1:-1].replace(quote * 2, quote) if quote and quote in '"`' else token
