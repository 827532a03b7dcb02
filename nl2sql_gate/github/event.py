"""The event that started a workflow run, as the gate needs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """Where a run comes from. Empty text and 0 where the event does not say.

    `head_sha` is the commit under test as people know it: on pull requests `GITHUB_SHA` is a merge commit nobody wrote.
    `from_fork` means a read-only token and no secrets; `is_dependabot` likewise. `foreign_commits` are a fork's, in an event
    whose workflow has the base repository's secrets: such a commit must not be what runs.
    """

    name: str
    repository: str = ""
    head_sha: str = ""
    base_sha: str = ""
    merge_sha: str = ""
    base_ref: str = ""
    head_ref: str = ""
    default_branch: str = ""
    pull_request: int = 0
    actor: str = ""
    from_fork: bool = False
    is_dependabot: bool = False
    labels: tuple[str, ...] = ()
    run_id: str = ""
    run_attempt: str = ""
    run_url: str = ""
    api_url: str = "https://api.github.com"
    foreign_commits: tuple[str, ...] = ()

    @property
    def on_default_branch(self) -> bool:
        """Whether the commit stands on the default branch, where baselines may be blessed."""
        return (
            self.name in {"push", "schedule", "workflow_dispatch"}
            and bool(self.head_ref)
            and self.head_ref == self.default_branch
        )

    @property
    def lacks_secrets(self) -> bool:
        """Whether the platform gives this run no secrets and a read-only token."""
        return self.name == "pull_request" and (self.from_fork or self.is_dependabot)

    @property
    def source_url(self) -> str:
        """Where the repository's files can be read as they are at the commit under test; empty where that is unknown."""
        repository_url, runs, _ = self.run_url.partition("/actions/runs/")
        return f"{repository_url}/blob/{self.head_sha}" if runs and self.head_sha else ""


def read_event(environment: Mapping[str, str]) -> Event | None:
    """The event of this workflow run from `GITHUB_*` variables and the event file; `None` outside GitHub Actions.

    An event file that is absent or broken costs what only it knows, never the run.
    """
    if environment.get("GITHUB_ACTIONS") != "true" and not environment.get("GITHUB_EVENT_NAME"):
        return None
    name = environment.get("GITHUB_EVENT_NAME", "")
    payload = _payload(environment.get("GITHUB_EVENT_PATH", ""))
    pull = _mapping(payload.get("pull_request"))
    group = _mapping(payload.get("merge_group"))
    head, base = _mapping(pull.get("head")), _mapping(pull.get("base"))
    repository = environment.get("GITHUB_REPOSITORY", "")
    return Event(
        name=name,
        repository=repository,
        head_sha=_text(head.get("sha") or group.get("head_sha") or environment.get("GITHUB_SHA")),
        base_sha=_text(base.get("sha") or group.get("base_sha") or payload.get("before")),
        merge_sha=environment.get("GITHUB_SHA", ""),
        base_ref=_branch(_text(base.get("ref") or group.get("base_ref") or environment.get("GITHUB_BASE_REF"))),
        head_ref=_branch(_text(head.get("ref") or environment.get("GITHUB_HEAD_REF") or environment.get("GITHUB_REF"))),
        default_branch=_text(_mapping(payload.get("repository")).get("default_branch")),
        pull_request=_number(pull.get("number") or payload.get("number") if pull else 0),
        actor=environment.get("GITHUB_ACTOR", ""),
        from_fork=bool(pull) and _is_fork(head, repository),
        is_dependabot=environment.get("GITHUB_ACTOR") == "dependabot[bot]",
        labels=tuple(_text(_mapping(label).get("name")) for label in pull.get("labels") or []),
        run_id=environment.get("GITHUB_RUN_ID", ""),
        run_attempt=environment.get("GITHUB_RUN_ATTEMPT", ""),
        run_url=_run_url(environment),
        api_url=environment.get("GITHUB_API_URL", "https://api.github.com"),
        foreign_commits=_foreign_commits(name, payload, repository),
    )


def _foreign_commits(name: str, payload: Mapping[str, Any], repository: str) -> tuple[str, ...]:
    """The fork's head, and what merges it into the base, in the events that run the base's workflow for a fork."""
    found: tuple[Any, ...] = ()
    if name == "pull_request_target":
        pull = _mapping(payload.get("pull_request"))
        head = _mapping(pull.get("head"))
        found = (head.get("sha"), pull.get("merge_commit_sha")) if _is_fork(head, repository) else ()
    elif name == "workflow_run":
        run = _mapping(payload.get("workflow_run"))
        found = (run.get("head_sha"),) if _is_fork({"repo": run.get("head_repository")}, repository) else ()
    return tuple(sha for sha in map(_text, found) if sha)


def _payload(path: str) -> dict[str, Any]:
    try:
        payload = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _run_url(environment: Mapping[str, str]) -> str:
    parts = [environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else ""


def _is_fork(head: Mapping[str, Any], repository: str) -> bool:
    # A fork that was deleted meanwhile leaves no repository behind.
    return _text(_mapping(head.get("repo")).get("full_name")).lower() != repository.lower()


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
