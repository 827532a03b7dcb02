"""Workflow commands of ours are obeyed, those in foreign text are not."""

from __future__ import annotations

import pytest

from nl2sql_gate.github.annotations import Annotation, annotation_commands
from nl2sql_gate.github.commands import add_masks, command, harmless, quoted
from nl2sql_gate.records import Place


def test_a_command_cannot_be_ended_from_within() -> None:
    line = command("error", "50 % off\r\n::error::forged", file="a,b:c\n.json", line=3, title="")
    assert line == "::error file=a%2Cb%3Ac%0A.json,line=3::50 %25 off%0D%0A::error::forged"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1\n::error file=x::forged",
        "##[error]boom",
        "ok\r::add-mask::a",
        "  \t::set-output::x",
        "x ##[command]y",
        "a\r\n::b::",
    ],
)
def test_no_line_of_foreign_text_reads_like_a_command(text: str) -> None:
    lines = harmless(text).splitlines()
    assert not [line for line in lines if line.strip().startswith("::") or "##[" in line]


def test_foreign_text_stands_between_markers_that_it_cannot_know() -> None:
    first, second = quoted("x\n::error::y").splitlines(), quoted("x").splitlines()
    token = first[0].removeprefix("::stop-commands::")
    assert f"::{token}::" == first[-1]
    assert len(token) == 32
    assert first[0] != second[0]


def test_every_line_of_a_secret_is_masked() -> None:
    assert add_masks(["one\ntwo\n", "100%", " "]) == ["::add-mask::100%25", "::add-mask::one", "::add-mask::two"]


def test_no_more_annotations_than_the_platform_shows() -> None:
    errors = [Annotation("error", f"m{number}", "t", Place("items.json", number + 1)) for number in range(15)]
    lines = annotation_commands([*errors, Annotation("warning", "w")])
    assert len(lines) == 11
    assert lines[0] == "::error file=items.json,line=1,title=t::m0"
    assert lines[-1] == "::warning::w"


def test_a_long_annotation_is_shortened_and_its_controls_are_named() -> None:
    (line,) = annotation_commands([Annotation("error", "\x1b[31m" + "x" * 10_000, "\u202e" + "t" * 500)])
    assert len(line) < 4096 + 300
    assert "\x1b" not in line
    assert "\u202e" not in line
