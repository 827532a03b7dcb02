"""A fork's code with the repository's secrets is refused."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.checkout import UGLY_WORD, VARIABLE, checked_out, guard, refuse_untrusted_code
from nl2sql_gate.github.event import Event, read_event

HEAD, MERGE, BASE = "a" * 40, "c" * 40, "b" * 40
EVENT = Event("pull_request_target", "org/repo", head_sha=HEAD, merge_sha=BASE, pull_request=5, foreign_commits=(HEAD, MERGE))
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]


@pytest.mark.parametrize(
    ("commit", "shown"), [(HEAD, "commit aaaaaaaaaaaa"), (MERGE, "commit cccccccccccc"), ("", "no commit can be told")]
)
def test_a_forks_code_is_refused_and_so_is_what_cannot_be_told(commit: str, shown: str) -> None:
    with pytest.raises(UsageError, match="code of a fork") as caught:
        refuse_untrusted_code(EVENT, commit)
    assert shown in str(caught.value)


@pytest.mark.parametrize(
    ("event", "commit", "word"),
    [(EVENT, BASE, ""), (EVENT, HEAD, UGLY_WORD), (EVENT, "", UGLY_WORD), (replace(EVENT, foreign_commits=()), HEAD, "")],
)
def test_everything_else_goes_on(event: Event, commit: str, word: str) -> None:
    refuse_untrusted_code(event, commit, word=word)


@pytest.mark.parametrize("word", ["", "yes", "true", UGLY_WORD.upper()])
def test_no_other_word_will_do(word: str) -> None:
    with pytest.raises(UsageError):
        refuse_untrusted_code(EVENT, HEAD, word=word)


@pytest.mark.parametrize(
    ("name", "payload", "foreign"),
    [
        (
            "pull_request_target",
            {"pull_request": {"head": {"sha": HEAD, "repo": {"full_name": "fork/repo"}}, "merge_commit_sha": MERGE}},
            (HEAD, MERGE),
        ),
        ("pull_request_target", {"pull_request": {"head": {"sha": HEAD, "repo": {"full_name": "org/repo"}}}}, ()),
        ("pull_request_target", {"pull_request": {"head": {"sha": HEAD, "repo": None}}}, (HEAD,)),
        ("pull_request", {"pull_request": {"head": {"sha": HEAD, "repo": {"full_name": "fork/repo"}}}}, ()),
        ("workflow_run", {"workflow_run": {"head_sha": HEAD, "head_repository": {"full_name": "fork/repo"}}}, (HEAD,)),
        ("workflow_run", {"workflow_run": {"head_sha": HEAD, "head_repository": {"full_name": "org/repo"}}}, ()),
        ("push", {}, ()),
    ],
)
def test_which_commits_are_foreign(tmp_path: Path, name: str, payload: dict[str, Any], foreign: tuple[str, ...]) -> None:
    (tmp_path / "event.json").write_text(json.dumps(payload))
    event = read_event(
        {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_REPOSITORY": "org/repo"}
    )
    assert event is not None
    assert event.foreign_commits == foreign


def test_the_commit_of_a_checkout_is_told_with_and_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked_out(tmp_path / "absent") == ""
    inner = tmp_path / "inner"
    inner.mkdir()
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*GIT, *arguments], cwd=tmp_path, check=True)
    commit = subprocess.run([*GIT, "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()
    assert checked_out(inner) == commit
    subprocess.run([*GIT, "pack-refs", "--all"], cwd=tmp_path, check=True)
    assert checked_out(inner) == commit
    subprocess.run([*GIT, "checkout", "-q", "--detach"], cwd=tmp_path, check=True)
    monkeypatch.setenv("PATH", "")
    assert checked_out(inner) == commit


def test_the_guard_reads_its_word_from_the_environment_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        guard(EVENT, {}, tmp_path)
    guard(EVENT, {VARIABLE: UGLY_WORD}, tmp_path)
    guard(None, {}, tmp_path)
