"""Where a run comes from, by the variables and the event file of the platform."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.github.event import Event, read_event

HEAD, BASE, MERGE = "a" * 40, "b" * 40, "c" * 40


def _event(tmp_path: Path, name: str, payload: Any, **variables: str) -> Event:
    path = tmp_path / "event.json"
    path.write_text(payload if isinstance(payload, str) else json.dumps(payload))
    given = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REPOSITORY": "org/repo",
        "GITHUB_SHA": MERGE,
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_RUN_ID": "77",
        "GITHUB_ACTOR": "ann",
        **variables,
    }
    event = read_event(given)
    assert event is not None
    return event


def _pull(full_name: str | None) -> dict[str, Any]:
    return {
        "number": 5,
        "pull_request": {
            "number": 5,
            "head": {"sha": HEAD, "ref": "feature", "repo": {"full_name": full_name} if full_name else None},
            "base": {"sha": BASE, "ref": "dev"},
            "labels": [{"name": "nl2sql-accept"}],
        },
        "repository": {"default_branch": "main"},
    }


def test_a_pull_request_is_known_by_its_head_not_by_the_merge_commit(tmp_path: Path) -> None:
    event = _event(tmp_path, "pull_request", _pull("org/repo"), GITHUB_REF="refs/pull/5/merge")
    assert (event.head_sha, event.base_sha, event.merge_sha) == (HEAD, BASE, MERGE)
    assert (event.base_ref, event.head_ref, event.pull_request, event.labels) == ("dev", "feature", 5, ("nl2sql-accept",))
    assert event.run_url == "https://github.com/org/repo/actions/runs/77"
    assert not event.from_fork
    assert not event.lacks_secrets
    assert not event.on_default_branch


@pytest.mark.parametrize("full_name", ["stranger/repo", None])
def test_a_fork_lacks_secrets(tmp_path: Path, full_name: str | None) -> None:
    event = _event(tmp_path, "pull_request", _pull(full_name))
    assert event.from_fork
    assert event.lacks_secrets


def test_dependabot_lacks_secrets(tmp_path: Path) -> None:
    assert _event(tmp_path, "pull_request", _pull("org/repo"), GITHUB_ACTOR="dependabot[bot]").lacks_secrets


def test_a_merge_group_has_its_own_commits_and_no_pull_request(tmp_path: Path) -> None:
    payload = {
        "merge_group": {
            "head_sha": HEAD,
            "base_sha": BASE,
            "base_ref": "refs/heads/main",
            "head_ref": "refs/heads/gh-readonly-queue/x",
        }
    }
    event = _event(tmp_path, "merge_group", payload)
    assert (event.head_sha, event.base_sha, event.base_ref, event.pull_request) == (HEAD, BASE, "main", 0)
    assert not event.from_fork


def test_a_push_to_the_default_branch(tmp_path: Path) -> None:
    event = _event(tmp_path, "push", {"before": BASE, "repository": {"default_branch": "main"}})
    assert (event.head_sha, event.base_sha) == (MERGE, BASE)
    assert event.on_default_branch
    assert not _event(tmp_path, "push", {"repository": {"default_branch": "main"}}, GITHUB_REF="refs/tags/main").on_default_branch
    assert not _event(tmp_path, "push", {}, GITHUB_REF="").on_default_branch


@pytest.mark.parametrize(
    "payload", ["", "{broken", "[]", '{"pull_request": 5}', '{"pull_request": {"head": "x", "labels": [1]}}']
)
def test_a_broken_event_file_costs_only_what_it_holds(tmp_path: Path, payload: str) -> None:
    assert _event(tmp_path, "push", payload).head_sha == MERGE


def test_outside_of_actions_there_is_no_event() -> None:
    assert read_event({}) is None
