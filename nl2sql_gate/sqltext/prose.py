"""SQL that stands in a reply without any marks around it: alone, behind a label, between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nl2sql_gate.sqltext.lexis import code_at
from nl2sql_gate.sqltext.parse import is_understood
from nl2sql_gate.sqltext.split import is_blank, iter_statements
from nl2sql_gate.sqltext.statement_words import LOOKED_AT, english_words, is_plausible, starts_statement

_MOST_STARTS = 25
_MOST_CUTS = 8
_LINES_LOOKED_AT = 200

_START = re.compile(
    r"^(?:[^\n:;]{0,120}:)?[ \t>*_#-]*+(?:\d{1,3}[.)][ \t]++)?[*_]*+"
    r"(?=\(*[ \t]*(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|REPLACE|CREATE|ALTER|DROP|TRUNCATE|VALUES|EXPLAIN|PRAGMA|DECLARE"
    r"|BEGIN|EXEC|EXECUTE|CALL|SHOW|DESCRIBE|SET|USE|FROM|TABLE|GRANT|REVOKE|COPY|ATTACH|VACUUM|START|COMMENT|RENAME|SUMMARIZE)"
    r"(?!\w))",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE = re.compile(r"(?<![`\w])`(?=(?:SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\b)([^`]++)`(?!`)", re.IGNORECASE)
_MID_SENTENCE = re.compile(r"(?<![\w'\"`])(?:SELECT|WITH|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE|DROP TABLE)\b")

_LABEL = re.compile(r"[ \t*_#>]*+[A-Z][A-Za-z]*+(?:[ \t]++[A-Za-z]++){0,5}+[*_]*+:(?!:)[*_]*+(?=\s|\Z)")
_MARKDOWN = re.compile(
    r"[ \t]*+(?:#{1,6}[ \t]|\*\*\w|\|[ \t].*\|[ \t]*\Z|[-=_*]{3,}[ \t]*\Z|\+[-+=]{3,}\+|\[\(|```|~~~|</?\w+>[ \t]*\Z)"
)
_BULLET = re.compile(r"[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++")
_SENTENCE_END = re.compile(r"[.:!?…][\"'*_)`]*+\s*+\Z")
_CONTINUES = re.compile(
    r"[ \t]*+(?:FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|FETCH|UNION|EXCEPT|INTERSECT|JOIN|LEFT|RIGHT|INNER|OUTER"
    r"|FULL|CROSS|NATURAL|ON|USING|AND|OR|NOT|IN|AS|WHEN|THEN|ELSE|END|CASE|SET|VALUES|RETURNING|WINDOW|QUALIFY|SELECT|WITH|INTO"
    r"|BETWEEN|LIKE|IS|FOR|OVER|PARTITION|DISTINCT|ASC|DESC|NULLS|GO|BEGIN|IF|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\b"
    r"|[ \t]*+[^\w\s\[\"`*#>|]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unmarked:
    """SQL found without marks. `is_whole` where nothing else was in the text."""

    sql: str
    is_whole: bool


@dataclass(slots=True)
class Budget:
    """How much a parser may be asked to read for one reply: replies are hostile, parsers slow."""

    characters: int = 300_000
    calls: int = 40

    def understood(self, sql: str, dialect: str) -> bool:
        """Whether a parser understands `sql`; no, once the budget is spent."""
        if self.calls <= 0 or len(sql) > self.characters:
            return False
        self.calls -= 1
        self.characters -= len(sql)
        return is_understood(sql, dialect)


@dataclass(slots=True)
class _Candidate:
    start: int
    end: int
    is_understood: bool


def find_unmarked(text: str, dialect: str, budget: Budget) -> Unmarked | None:
    """The first SQL in `text` that a parser understands, else the first that looks like SQL, else nothing."""
    whole = text.strip()
    best: _Candidate | None = None
    for start, stop in _starts(whole, dialect):
        if best is not None and best.start <= start < best.end:
            continue
        candidate = _candidate(whole, start, stop, dialect, budget)
        if candidate is not None and (best is None or candidate.is_understood):
            best = candidate
            if candidate.is_understood:
                break
    if best is None:
        best = _in_sentence(whole, dialect, budget)
    if best is None:
        return None
    is_whole = all(is_blank(rest, dialect) for rest in (whole[: best.start], whole[best.end :]))
    return Unmarked(whole[best.start : best.end].strip(), is_whole=is_whole)


def _starts(text: str, dialect: str) -> Iterator[tuple[int, int]]:
    """Where SQL may begin and must have ended, best first."""
    if starts_statement(code_at(text, 0, dialect, length=200)):
        yield 0, len(text)
    for found, _ in zip(_START.finditer(text), range(_MOST_STARTS), strict=False):
        yield found.end(), len(text)
    for found, _ in zip(_INLINE.finditer(text), range(_MOST_STARTS), strict=False):
        yield found.start(1), found.end(1)


def _candidate(text: str, start: int, stop: int, dialect: str, budget: Budget) -> _Candidate | None:
    """The run of statements that begins at `start`, without what follows it."""
    source = text[start:stop].rstrip()
    taken: _Candidate | None = None
    for statement in iter_statements(source, dialect):
        if not is_plausible(code_at(source, statement.start_offset, dialect, length=LOOKED_AT)):
            break
        end = statement.start_offset + len(statement.text)
        is_last = end >= len(source)
        length, is_parsed = _trimmed(statement.text, dialect, budget)
        end = statement.start_offset + length
        if taken is not None and not is_parsed and length < len(statement.text):
            break
        taken = taken or _Candidate(start, start, is_understood=True)
        taken.end = start + end
        taken.is_understood = taken.is_understood and is_parsed
        if length < len(statement.text) or is_last:
            break
    return taken


def _trimmed(statement: str, dialect: str, budget: Budget) -> tuple[int, bool]:
    """How much of `statement` is SQL, and whether a parser understands that much."""
    cuts = _cuts(statement)
    if not cuts:
        if budget.understood(statement, dialect):
            return len(statement), True
        return _shrunk(statement, dialect, budget)
    first = statement[cuts[0] :]
    # Without its WHERE the SQL would say something else: where the lines may be SQL, all of them come first.
    is_doubtful = any(_CONTINUES.match(line) for line in first.split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT])
    tries = [len(statement), cuts[0]] if is_doubtful else [cuts[0], len(statement)]
    for cut in [*tries, *reversed(cuts[1:_MOST_CUTS])]:
        if budget.understood(statement[:cut], dialect):
            return len(statement[:cut].rstrip()), True
    return len(statement[: cuts[0]].rstrip()), False


def _cuts(statement: str) -> list[int]:
    """Offsets of the lines after the first that read as prose."""
    cuts: list[int] = []
    offset, after_blank = 0, False
    for number, line in enumerate(statement.split("\n")):
        if number and line.strip() and reads_as_prose(line, after_blank=after_blank):
            cuts.append(offset)
        after_blank = not line.strip()
        offset += len(line) + 1
        if len(cuts) >= _MOST_CUTS:
            break
    return cuts


def _shrunk(statement: str, dialect: str, budget: Budget) -> tuple[int, bool]:
    """Leave off last lines that cannot belong to the statement until a parser understands the rest.

    A line that could continue a statement is never left off: without its WHERE the SQL would say something else.
    """
    lines = statement.split("\n")
    length = len(statement)
    for line in reversed(lines[-_MOST_CUTS:]):
        if len(lines) == 1 or _CONTINUES.match(line):
            break
        lines.pop()
        length -= len(line) + 1
        if line.strip() and budget.understood(statement[:length], dialect):
            return len(statement[:length].rstrip()), True
    return len(statement), False


def _in_sentence(text: str, dialect: str, budget: Budget) -> _Candidate | None:
    """SQL in the middle of a line of prose; only what a parser understands, as words in capitals prove nothing."""
    for found, _ in zip(_MID_SENTENCE.finditer(text), range(_MOST_CUTS), strict=False):
        source = text[found.start() :]
        statement = next(iter_statements(source, dialect), None)
        if statement is None or not is_plausible(source[:LOOKED_AT]):
            continue
        line = statement.text.partition("\n")[0].rstrip(" \t.:!`'\"*")
        for sql in (statement.text, line):
            if budget.understood(sql, dialect) and not english_words(sql):
                return _Candidate(found.start(), found.start() + len(sql), is_understood=True)
    return None


def reads_as_prose(line: str, *, after_blank: bool) -> bool:
    """Whether `line`, somewhere below the first line of SQL, belongs to a sentence, a label, a table or a heading."""
    line = line.partition("--")[0] if "---" not in line else line
    if not line.strip():
        return False
    if _LABEL.match(line) or _MARKDOWN.match(line):
        return True
    bullet = _BULLET.match(line)
    text = line[bullet.end() :] if bullet else line.strip()
    if not text[:1].isalpha() and not text.startswith(("`", '"', "*")):
        return False
    english = english_words(text)
    ends = _SENTENCE_END.search(text) is not None and " " in text.strip()
    if _CONTINUES.match(text):
        return ends and english > 0
    if ends:
        return True
    return english > 1 or (after_blank and english > 0 and "=" not in text)
