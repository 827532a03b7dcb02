"""A fork's code with the repository's secrets is refused."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.checkout import UGLY_WORD, checked_out, refuse_untrusted_code
from nl2sql_gate.github.event import Event

HEAD, BASE = "a" * 40, "b" * 40
EVENT = Event("pull_request_target", "org/repo", head_sha=HEAD, merge_sha=BASE, pull_request=5, from_fork=True)


def test_the_head_of_a_fork_is_refused() -> None:
    with pytest.raises(UsageError, match="code of a fork"):
        refuse_untrusted_code(EVENT, HEAD)


@pytest.mark.parametrize(
    ("event", "commit", "word"),
    [
        (EVENT, BASE, ""),
        (EVENT, "", ""),
        (EVENT, HEAD, UGLY_WORD),
        (replace(EVENT, from_fork=False), HEAD, ""),
        (replace(EVENT, name="pull_request"), HEAD, ""),
    ],
)
def test_everything_else_goes_on(event: Event, commit: str, word: str) -> None:
    refuse_untrusted_code(event, commit, word=word)


def test_the_commit_of_a_checkout(tmp_path: Path) -> None:
    assert checked_out(tmp_path) == ""
    assert checked_out(tmp_path / "absent") == ""
    for arguments in (["init", "-q"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    assert len(checked_out(tmp_path)) == 40
