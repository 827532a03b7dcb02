"""Summary, outputs and owners, within the platform's limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nl2sql_gate.github.limits import SUMMARY_BYTES, SUMMARY_HARD_BYTES, first_that_fits, shortened, shortened_lines
from nl2sql_gate.github.step_files import append_outputs, append_summary, give_back, room_in_summary


def _read_outputs(text: str) -> dict[str, str]:
    """What the runner reads: name, delimiter, lines up to the delimiter."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        name, mark, delimiter = line.partition("<<")
        if mark:
            value: list[str] = []
            for inner in lines:
                if inner == delimiter:
                    break
                value.append(inner)
            found[name] = "\n".join(value)
    return found


def test_outputs_are_read_back_whatever_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("earlier=1\n")
    values = {"verdict": "fail", "delta": -0.045, "none": None, "text": "two\nlines\nverdict<<EOF\npass\nEOF"}
    append_outputs(path, values)
    assert {"verdict": "fail", "delta": "-0.045", "none": "", "text": values["text"]} == _read_outputs(path.read_text())


def test_delimiters_are_random(tmp_path: Path) -> None:
    for name in ("a", "b"):
        append_outputs(tmp_path / name, {"x": "1"})
    assert (tmp_path / "a").read_text() != (tmp_path / "b").read_text()


def test_a_summary_is_appended_within_the_room_left(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    assert room_in_summary(path) == SUMMARY_BYTES
    path.write_bytes(b"x" * 1_000_000)
    room = room_in_summary(path)
    assert 0 < room < 50_000
    assert append_summary(path, "y" * room)
    assert path.stat().st_size <= SUMMARY_HARD_BYTES
    assert not append_summary(path, "z" * 100_000)
    assert path.stat().st_size <= SUMMARY_HARD_BYTES


def test_a_full_summary_has_no_room(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_bytes(b"x" * SUMMARY_HARD_BYTES)
    assert room_in_summary(path) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_files_go_back_to_the_owner_of_the_workspace(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 1235)
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "run.json").write_text("{}")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.write_text("x")
    (tmp_path / "out" / "link").symlink_to(outside)
    assert give_back([tmp_path / "out", tmp_path / "absent"], owner_of=tmp_path) == []
    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in (tmp_path / "out").rglob("*")}
    assert {(1234, 1235)} == owners
    assert outside.stat().st_uid == os.geteuid()


def test_whole_renderings_are_tried() -> None:
    assert first_that_fits([3, 2, 1], lambda level: "b" * level, max_bytes=2) == ("bb", 2)
    assert first_that_fits([2, 1], lambda level: "é" * level, max_bytes=3) == ("é", 1)
    assert first_that_fits([3, 1], lambda level: "b" * level, max_bytes=0) == ("b", 1)


def test_shortened_text_says_so() -> None:
    assert shortened("abcdef", 3) == "ab…"
    assert shortened("abc", 3) == "abc"
    assert shortened_lines("a\nb\nc\nd", lines=2, width=5) == "a\nb\n… 2 more lines"
