"""Pull requests that have no secrets: replay what is there, say what is missing, and let the base's workflow comment."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from nl2sql_gate.github.checkout import UGLY_WORD

from action_step import BASE, HEAD, Step, pull_request
from github_standin import Fault

FORK = pull_request(fork=True)
SETTINGS = "version: 1\nmodel:\n  base_url: ${MODEL_URL}\n  name: m\n  api_key: ${MODEL_KEY}\n"


@pytest.fixture
def keyless(step: Step) -> Step:
    """A model whose address and key are secrets that a fork does not get."""
    (step.shop.folder / "nl2sql-gate.yml").write_text(SETTINGS)
    return step


def test_without_anything_to_replay_there_is_no_verdict_and_no_red_job(keyless: Step) -> None:
    code, log = keyless.run(payload=FORK, replies="")
    assert code == 0, log
    assert keyless.output["verdict"] == "no_verdict"
    assert "no credentials" in keyless.summary


def test_the_policy_may_fail_such_a_run(keyless: Step) -> None:
    code, log = keyless.run(payload=FORK, replies="", on_no_credentials="fail")
    assert code == 3, log


def test_elsewhere_a_missing_key_is_a_mistake(keyless: Step) -> None:
    code, log = keyless.run(payload=pull_request(), replies="")
    assert code == 2, log
    assert "MODEL_KEY" in log


def test_recorded_replies_are_replayed_and_counted(keyless: Step) -> None:
    code, log = keyless.run(payload=FORK)
    assert code == 0, log
    assert "6 of 6 replies replayed" in keyless.summary
    assert keyless.output["execution_accuracy"] == "1.0"


def test_what_is_not_recorded_says_nothing_and_the_policy_decides(keyless: Step) -> None:
    keyless.shop.write_replies({name: keyless.shop.replies[name] for name in ("q1", "q2")})
    code, log = keyless.run(payload=FORK)
    assert code == 0, log
    assert keyless.output["verdict"] == "no_verdict"
    assert "2 of 6 replayed" in keyless.summary
    code, log = keyless.run(payload=FORK, on_no_credentials="fail")
    assert code == 3, log


def test_what_is_proven_on_the_replayed_fails_all_the_same(keyless: Step) -> None:
    keyless.shop.write_replies({"q1": "SELECT 'wrong'"})
    code, log = keyless.run(payload=FORK, set="policy.required.ids=[q1]")
    assert code == 1, log


def test_the_cache_of_a_run_with_a_key_serves_the_fork(step: Step) -> None:
    """Same model, same prompt, same address: found. The key is no part of what replies are kept by."""
    with step.shop.endpoint() as address:
        (step.shop.folder / "nl2sql-gate.yml").write_text(SETTINGS.replace("${MODEL_URL}", address) + "cache: cache\n")
        step.environment["MODEL_KEY"] = "sk-of-the-base-repository"
        code, log = step.run("push", {"ref": "refs/heads/main"}, replies="")
        assert code == 0, log
    del step.environment["MODEL_KEY"]
    code, log = step.run(payload=FORK, replies="")
    assert code == 0, log
    assert "6 of 6 replies replayed" in step.summary


def test_a_fork_that_may_not_comment_is_no_warning_and_leaves_files_for_the_poster(blessed: Step) -> None:
    blessed.github.faults.append(Fault("POST", "comments", 403, times=99))
    code, log = blessed.run(payload=FORK, baseline="baseline.json", set="policy.required.ids=[q1]")
    assert code == 1, log
    assert "::warning title=nl2sql-gate::" not in log
    assert "poster workflow" in log
    assert "🔴" in blessed.file("comment.md")
    told = json.loads(blessed.file("pr.json"))
    assert (told["format"], told["pull_request"], told["head_sha"]) == ("nl2sql-gate/pr/v1", 5, HEAD)


def _fork_run(sha: str = HEAD) -> dict[str, object]:
    owner = {"owner": {"login": "stranger"}, "full_name": "stranger/repo"}
    return {"workflow_run": {"id": 5, "run_attempt": 1, "head_sha": sha, "head_branch": "change", "head_repository": owner}}


def test_the_poster_comments_what_the_forks_run_left(blessed: Step) -> None:
    github = blessed.github
    github.faults.append(Fault("POST", "comments", 403, times=1))
    blessed.run(payload=FORK, baseline="baseline.json", set="policy.required.ids=[q1]")
    github.add_artifact(
        "nl2sql-gate-nl2sql", {"comment.md": blessed.file("comment.md").encode(), "pr.json": b'{"pull_request": 1}'}
    )
    github.pulls.append({"number": 5, "state": "open", "label": "stranger:change", "head": {"sha": HEAD}})
    code, log = blessed.run("workflow_run", _fork_run(), mode="post")
    assert code == 0, log
    assert "comment on pull request 5 created" in log
    assert "🔴" in github.own()[0]
    assert "issues/5/comments" in {path for method, path in github.requests if method == "POST"}


def test_the_poster_stays_silent_where_the_pull_request_has_moved_on(blessed: Step) -> None:
    blessed.github.pulls.append({"number": 5, "state": "open", "label": "stranger:change", "head": {"sha": "e" * 40}})
    code, log = blessed.run("workflow_run", _fork_run(), mode="post")
    assert code == 0, log
    assert "nothing is posted" in log
    assert blessed.github.own() == []


def test_the_poster_on_another_event_is_a_usage_error(step: Step) -> None:
    code, log = step.run(mode="post")
    assert code == 2
    assert "on: workflow_run" in log


def _check_out(folder: Path, commit: str) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text(f"{commit}\n")


@pytest.mark.parametrize("place", [".", "the-fork"])
def test_a_forks_code_beside_secrets_is_refused_unless_an_ugly_word_is_said(step: Step, place: str) -> None:
    folder = step.shop.folder / place
    folder.mkdir(exist_ok=True)
    _check_out(folder, HEAD)
    if place != ".":
        _check_out(step.shop.folder, BASE)
    # The fork's settings cannot say the word for themselves.
    (step.shop.folder / "nl2sql-gate.yml").write_text(f"allow_untrusted_code: {UGLY_WORD}\n")
    code, log = step.run("pull_request_target", FORK)
    assert code == 2, log
    assert "code of a fork checked out" in log
    assert not (step.shop.folder / "nl2sql-gate-out").exists()
    (step.shop.folder / "nl2sql-gate.yml").unlink()
    code, log = step.run("pull_request_target", FORK, allow_untrusted_code=UGLY_WORD)
    assert code == 0, log


def test_the_bases_own_code_may_run_for_a_fork(step: Step) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "base"]):
        subprocess.run([*git, *arguments], cwd=step.shop.folder, check=True)
    code, log = step.run("pull_request_target", FORK)
    assert code == 0, log
