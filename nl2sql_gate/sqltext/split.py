"""Split SQL scripts into statements, each an exact slice of its source.

A scanner, not a parser: it knows what is code and what is a literal, a quoted name or a comment in each dialect, and the few
statements that hold semicolons. It never fails; what it cannot make sense of, the database will refuse in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nl2sql_gate.sqltext.blocks import TO_END_OF_BATCH, block_at, end_of_block
from nl2sql_gate.sqltext.lexis import GO_LINE, after_trivia, code_run, end_of_counted, lexis_of

_COPY = re.compile(r"COPY\b", re.IGNORECASE)
_FROM_STDIN = re.compile(r"\bFROM\s++STDIN\b", re.IGNORECASE)
_END_OF_DATA = re.compile(r"^\\\.[ \t]*+\r?$", re.MULTILINE)
_DELIMITER = re.compile(r"DELIMITER[ \t]++(\S{1,16}+)(?!\S)[^\n]*+", re.IGNORECASE)
_MOST_DELIMITERS = 16
_META = re.compile(r"\\[^\n]*+")


@dataclass(frozen=True, slots=True)
class Statement:
    r"""One statement of a script.

    `text` is a slice of the source from `start_offset` on, comments included, without delimiter and outer blanks. `line` counts
    from 1 and is that of the first word, comments before it passed over.
    `kind`: `sql`; `copy` (PostgreSQL's COPY … FROM stdin, with the lines up to `\.` in `data`); `meta` (a line for psql).
    `repeat` is N of `GO N`.
    """

    text: str
    start_offset: int
    line: int
    kind: Literal["sql", "copy", "meta"] = "sql"
    data: str = ""
    repeat: int = 1


def split_statements(sql: str, dialect: str) -> list[Statement]:
    """The statements of `sql` in order; empty ones and those that are only a comment are left out.

    MySQL's DELIMITER is obeyed, T-SQL's GO ends a statement. In T-SQL variables live as long as their batch: run `split_batches`.
    """
    return list(iter_statements(sql, dialect))


def split_batches(sql: str, dialect: str = "sqlserver") -> list[Statement]:
    """The batches of a T-SQL script: what stands between lines that hold only GO. Semicolons stay where they are."""
    return list(_Scanner(sql, dialect, delimiter=None).statements())


def iter_statements(sql: str, dialect: str) -> Iterator[Statement]:
    """As `split_statements`, one at a time: a long dump is never held twice."""
    return _Scanner(sql, dialect, delimiter=";").statements()


def is_blank(sql: str, dialect: str) -> bool:
    """Whether `sql` holds nothing but blanks, comments and delimiters."""
    return next(iter_statements(sql, dialect), None) is None


class _Scanner:
    """Reads one script from its start to its end."""

    def __init__(self, sql: str, dialect: str, *, delimiter: str | None) -> None:
        self.sql = sql
        self.dialect = dialect
        self.lexis = lexis_of(dialect)
        self.delimiter = delimiter
        self.delimiters = {delimiter}
        self.position = 0
        self.batch_end = -1
        self.counted_to = 0
        self.line = 1

    def statements(self) -> Iterator[Statement]:
        sql, size = self.sql, len(self.sql)
        while True:
            first = after_trivia(sql, self.position, self.dialect)
            if first >= size:
                return
            if self._client_command(first):
                continue
            if sql[first] == "\\" and self.dialect == "postgres":
                yield self._meta(first)
                continue
            end = self._end(first)
            text = sql[self.position : end]
            start = self.position + len(text) - len(text.lstrip())
            self.position = end + (len(self.delimiter or "") if self._delimiter_at(end) else 0)
            if end > first:
                yield self._statement(text.strip(), start=start, first=first)

    def _statement(self, text: str, *, start: int, first: int) -> Statement:
        line = self._line(first)
        if self.dialect == "postgres" and _COPY.match(self.sql, first) and _FROM_STDIN.search(self.sql, first, start + len(text)):
            return Statement(text, start, line, kind="copy", data=self._copy_data())
        repeat = self._go_count() if self.delimiter is None else 1
        return Statement(text, start, line, repeat=repeat)

    def _end(self, first: int) -> int:
        """The offset of the delimiter (or GO line) that ends the statement whose first word is at `first`."""
        if self.delimiter != ";":
            return self._end_of_run(first, self.delimiter)
        if self.lexis.go_batches:
            if self.batch_end < first:
                self.batch_end = self._end_of_run(first, None)
            batch = self.batch_end
            if TO_END_OF_BATCH.match(self.sql, first):
                return batch
            block = block_at(self.sql, first, self.dialect)
            return end_of_block(self.sql, first, dialect=self.dialect, block=block, stop=batch) if block else batch
        block = block_at(self.sql, first, self.dialect)
        if block is not None:
            return end_of_block(self.sql, first, dialect=self.dialect, block=block, stop=len(self.sql))
        return self._end_of_run(first, ";")

    def _end_of_run(self, position: int, delimiter: str | None) -> int:
        run = code_run(self.dialect, delimiter)
        size = len(self.sql)
        while position < size:
            matched = run.match(self.sql, position)
            position = matched.end() if matched else position
            if position >= size or (delimiter and self.sql.startswith(delimiter, position)):
                break
            counted = end_of_counted(self.sql, position, self.lexis)
            if counted is None and self.lexis.go_batches:
                break
            position = counted or position + 1
        return min(position, size)

    def _delimiter_at(self, position: int) -> bool:
        return self.delimiter is not None and self.sql.startswith(self.delimiter, position)

    def _client_command(self, first: int) -> bool:
        """Obey what is for the client and no statement: a GO line, DELIMITER. True where there was one."""
        before = self.sql[self.position : first].rstrip(" \t\r")
        if before and not before.endswith("\n"):
            return False
        at = self.position + len(before)
        if at and self.sql[at - 1] != "\n":
            return False
        if self.lexis.go_batches and (go := GO_LINE.match(self.sql, at)):
            self.position = go.end()
            return True
        if self.dialect in {"mysql", "mariadb"} and (command := self._delimiter_command(first)):
            self.delimiter = command.group(1)
            self.position = command.end()
            return True
        return False

    def _delimiter_command(self, first: int) -> re.Match[str] | None:
        command = _DELIMITER.match(self.sql, first)
        if command is not None:
            self.delimiters.add(command.group(1))
        # Each new one costs a compilation, which hostile text could ask for without end.
        return command if len(self.delimiters) <= _MOST_DELIMITERS else None

    def _go_count(self) -> int:
        at = self.position + 1 if self.sql.startswith("\n", self.position) else self.position
        go = GO_LINE.match(self.sql, at)
        return int(go.group(1)) if go and go.group(1) else 1

    def _meta(self, first: int) -> Statement:
        command = _META.match(self.sql, first)
        self.position = command.end() if command else len(self.sql)
        return Statement(self.sql[first : self.position].strip(), first, self._line(first), kind="meta")

    def _copy_data(self) -> str:
        """The lines from the one after COPY to the one before its end mark, and go on behind that."""
        start = self.sql.find("\n", self.position) + 1
        if start == 0:
            self.position = len(self.sql)
            return ""
        end = _END_OF_DATA.search(self.sql, start)
        self.position = end.end() if end else len(self.sql)
        return self.sql[start : end.start() if end else len(self.sql)]

    def _line(self, position: int) -> int:
        self.line += self.sql.count("\n", self.counted_to, position)
        self.counted_to = position
        return self.line
