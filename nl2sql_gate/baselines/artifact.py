"""A baseline in the artifact of the target branch's last green complete run on GitHub."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from nl2sql_gate.errors import BaselineError
from nl2sql_gate.github import artifacts
from nl2sql_gate.github.artifacts import Artifact, NotInArchive
from nl2sql_gate.github.client import Client, GitHubTrouble
from nl2sql_gate.github.event import Event, read_event
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import MAX_BYTES, read_run

FILE = "baseline.json"
LOOKED_AT = 10
"""Archives that are opened before giving up: older ones say nothing about the target branch."""

PERMISSIONS = "permissions: {contents: read, actions: read}"


class ArtifactStore:
    """The artifact named after `artifact:`, else `nl2sql-gate-<gate>`, which a workflow uploads from the folder of reports.

    Taken is the run at the merge base of the pull request where it was green and complete, else the newest such run of the target
    branch; `chosen` says which, and why.
    """

    def __init__(
        self,
        location: str,
        *,
        gate: str = "nl2sql",
        environment: Mapping[str, str] | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = location or f"nl2sql-gate-{gate}"
        self._environment = os.environ if environment is None else environment
        self._wait = wait
        self.chosen = ""

    def fetch(self) -> bytes | None:
        """The baseline, or `None` where the target branch has no green complete run with such an artifact yet."""
        event = read_event(self._environment)
        token = self._environment.get("GITHUB_TOKEN", "")
        if event is None or not event.repository or not token:
            raise self._failed("there is no repository or no token", "Run it in GitHub Actions with the input github_token.")
        client = Client(event.repository, token, api_url=event.api_url, wait=self._wait)
        try:
            return self._fetch(client, event)
        except GitHubTrouble as trouble:
            step = f"Give the job {PERMISSIONS}" if trouble.is_forbidden else "Run the job again, or use another baseline."
            raise self._failed(str(trouble), step) from trouble
        finally:
            client.close()

    def store(self, content: bytes, *, message: str) -> str:
        """Refused: no program may upload artifacts but the workflow's own step."""
        del content, message
        raise self._failed(
            "an artifact is stored by the workflow, not by bless",
            "Upload the folder of reports with actions/upload-artifact on the default branch: its newest green run is taken.",
        )

    def _fetch(self, client: Client, event: Event) -> bytes | None:
        branch = event.base_ref or event.default_branch or event.head_ref
        listed = artifacts.named(client, self._name)
        found = [each for each in listed if each.head_branch == branch and each.head_sha != event.head_sha]
        base = _merge_base(client, event)
        for artifact in _ordered(found, base)[:LOOKED_AT]:
            content = self._green(client, artifact)
            if content is not None:
                at_base = artifact.head_sha == base
                why = "the merge base" if at_base else f"the newest green run of {branch}, since the merge base has none"
                self.chosen = f"{branch}@{artifact.head_sha[:8]}, {why}"
                return content
        return None

    def _green(self, client: Client, artifact: Artifact) -> bytes | None:
        """The baseline in an archive, if its run was complete and passed."""
        try:
            content = artifacts.member(artifacts.download(client, artifact), FILE, max_bytes=MAX_BYTES)
            run = read_run(content, name=f"{artifact.name}/{FILE}")
        except (NotInArchive, BaselineError):
            # A run that broke off leaves half a folder behind. It is no baseline, and the one before it may be.
            return None
        return content if run.complete and _is_green(run) else None

    def _failed(self, detail: str, next_step: str) -> BaselineError:
        return BaselineError(
            "the baseline's artifact cannot be had",
            where=[f"artifact {self._name}", detail],
            meaning="There is nothing to compare with: a regression would not be seen.",
            next_step=next_step,
        )


def _is_green(run: Run) -> bool:
    """Whether a run passed, or was the first and had nothing to be compared with."""
    verdict = run.verdict or {}
    codes = {reason.get("code") for reason in verdict.get("reasons", ())}
    return verdict.get("status") == "pass" or (verdict.get("status") == "no_verdict" and codes == {"no_baseline"})


def _ordered(found: list[Artifact], base: str) -> list[Artifact]:
    return [*(each for each in found if each.head_sha == base), *(each for each in found if each.head_sha != base)]


def _merge_base(client: Client, event: Event) -> str:
    """The commit from which the pull request departed, as GitHub knows it; else the tip of the target branch at the event."""
    if not (event.base_sha and event.head_sha):
        return event.base_sha
    try:
        found = client.read("the merge base cannot be read", f"compare/{event.base_sha}...{event.head_sha}", per_page=1)
        return str(found["merge_base_commit"]["sha"])
    except (GitHubTrouble, KeyError, TypeError):
        return event.base_sha
