"""The baseline of the target branch's last green complete run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.baselines.artifact import ArtifactStore
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.records import CaseKey, CaseResult, Run, Score
from nl2sql_gate.runfile import baseline_bytes

HEAD, BASE, TIP, OLD = "a" * 40, "b" * 40, "c" * 40, "d" * 40


def _content(status: str = "pass", *, complete: bool = True, code: str = "x") -> bytes:
    case = CaseResult(CaseKey("a", "sqlite", "shop", 0), "answered", "d", scores={"execution_accuracy": Score(1.0)})
    return baseline_bytes(
        Run((case,), ("execution_accuracy",), {}, complete=complete, verdict={"status": status, "reasons": [{"code": code}]})
    )


@pytest.fixture
def store(github: Any, tmp_path: Path) -> Any:
    """The store as a pull request's job has it."""
    pull = {
        "number": 5,
        "head": {"sha": HEAD, "ref": "feature", "repo": {"full_name": "org/repo"}},
        "base": {"sha": TIP, "ref": "main"},
    }
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": pull, "repository": {"default_branch": "main"}}))
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "org/repo",
        "GITHUB_TOKEN": "ghs_planted",
        "GITHUB_API_URL": github.url,
    }
    return ArtifactStore("", gate="orders", environment=environment, wait=lambda _: None)


def _add(github: Any, sha: str, content: bytes, branch: str = "main", name: str = "nl2sql-gate-orders", **more: Any) -> None:
    github.add_artifact(name, {"nl2sql-gate-out/baseline.json": content}, **more)
    github.artifacts[-1]["workflow_run"] |= {"head_sha": sha, "head_branch": branch}


def test_the_run_at_the_merge_base_is_taken_before_newer_ones(github: Any, store: Any) -> None:
    github.commits[f"{TIP}...{HEAD}"] = BASE
    _add(github, BASE, _content())
    _add(github, TIP, _content("pass", code="newer"))
    assert store.fetch() == _content()
    assert "the merge base" in store.chosen


def test_the_fallback_is_said(github: Any, store: Any) -> None:
    github.commits[f"{TIP}...{HEAD}"] = BASE
    _add(github, OLD, _content())
    assert store.fetch() == _content()
    assert "main@dddddddd" in store.chosen
    assert "since the merge base has none" in store.chosen


def test_only_green_complete_runs_of_the_target_branch_count(github: Any, store: Any) -> None:
    _add(github, OLD, _content(code="good"))
    _add(github, "1" * 40, _content("fail"))
    _add(github, "2" * 40, _content(complete=False))
    _add(github, "3" * 40, _content(code="other"), branch="dev")
    _add(github, "4" * 40, _content(code="other"), name="nl2sql-gate-stock")
    _add(github, "5" * 40, b"{broken")
    _add(github, HEAD, _content(code="own"))
    _add(github, "6" * 40, _content(code="gone"), expired=True)
    github.add_artifact("nl2sql-gate-orders", {"other": b""})
    github.artifacts[-1]["workflow_run"] |= {"head_sha": "7" * 40, "head_branch": "main"}
    assert store.fetch() == _content(code="good")


def test_a_first_run_may_be_a_baseline_though_it_had_none(github: Any, store: Any) -> None:
    _add(github, OLD, _content("no_verdict", code="no_baseline"))
    assert store.fetch() == _content("no_verdict", code="no_baseline")
    github.artifacts.clear()
    _add(github, OLD, _content("no_verdict", code="low_coverage"))
    assert store.fetch() is None


def test_the_token_does_not_go_to_the_host_of_the_archives(github: Any, store: Any) -> None:
    _add(github, OLD, _content())
    store.fetch()
    assert ("GET", "signed-zip/1") in github.requests
    assert github.problems == []


def test_a_missing_permission_is_named(github: Any, store: Any, faults: Any) -> None:
    faults("GET", "actions/artifacts", 403, message="Resource not accessible by integration")
    with pytest.raises(BaselineError) as caught:
        store.fetch()
    assert "actions: read" in str(caught.value)


def test_outside_of_actions_it_says_so() -> None:
    with pytest.raises(BaselineError, match="artifact cannot be had"):
        ArtifactStore("x", environment={}).fetch()


def test_bless_is_told_who_stores() -> None:
    with pytest.raises(BaselineError) as caught:
        ArtifactStore("x", environment={}).store(b"", message="m")
    assert "actions/upload-artifact" in str(caught.value)
