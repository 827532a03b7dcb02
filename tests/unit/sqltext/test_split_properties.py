"""What holds for every script, sensible or not."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nl2sql_gate.sqltext import split_batches, split_statements
from nl2sql_gate.sqltext.lexis import GO_LINE

DIALECTS = ("sqlite", "postgres", "duckdb", "mysql", "mariadb", "sqlserver", "bigquery", "other")
PIECES = st.sampled_from([
    *("SELECT 1", "a", " ", "\n", "\r\n", ";", ";;", "'", "''", '"', "`", "[", "]", "\\", "(", ")", ",", "$", "$$", "$t$", "E'", "N'"),
    *("--", "-- x\n", "#", "/*", "*/", "/*!", "/* x */", "BEGIN", "END", "CASE", "CREATE TRIGGER t ", "CREATE FUNCTION f ", "GO", "\nGO\n"),
    *("END IF", "BEGIN ATOMIC", "CREATE RULE r ", "é", "\u00a0", "CREATE PROC p ", "\nGO 2\n", "IF", "\t"),
])  # fmt: skip
SCRIPTS = st.lists(PIECES, max_size=25).map("".join)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(script=SCRIPTS)
def test_statements_are_exact_slices_in_order(dialect: str, script: str) -> None:
    position = 0
    for statement in split_statements(script, dialect):
        assert statement.start_offset >= position
        assert statement.text == script[statement.start_offset : statement.start_offset + len(statement.text)]
        assert statement.text == statement.text.strip() != ""
        assert 1 <= statement.line <= script.count("\n") + 1
        position = statement.start_offset + len(statement.text)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(script=SCRIPTS)
def test_what_is_left_out_holds_no_code(dialect: str, script: str) -> None:
    """Blanks, delimiters, comments and lines for a client: nothing that a database would run is lost."""
    rest = script
    for statement in reversed(split_statements(script, dialect)):
        rest = rest[: statement.start_offset] + ";" + rest[statement.start_offset + len(statement.text) :]
    assert not any(statement.text.strip(";") for statement in split_statements(rest, dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(script=SCRIPTS)
def test_joining_and_splitting_again_is_stable(dialect: str, script: str) -> None:
    separator = "\nGO\n" if dialect == "sqlserver" else "\n;\n"
    once = [statement.text for statement in split_statements(script, dialect)]
    # MySQL's `--` is a comment at the end of a text and none before a semicolon.
    assume(not any(text.endswith("--") for text in once))
    # GO is T-SQL's only on a line of its own, which joining would give it.
    assume(not any(GO_LINE.search(text) for text in once))
    again = [statement.text for statement in split_statements(separator.join(once), dialect)]
    assert once == again


@given(script=SCRIPTS)
def test_batches_are_exact_slices(script: str) -> None:
    for batch in split_batches(script):
        assert batch.text == script[batch.start_offset : batch.start_offset + len(batch.text)]
