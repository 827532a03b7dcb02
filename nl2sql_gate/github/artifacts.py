"""Artifacts of workflow runs, taken as what they are: archives from programs that others could change."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import Any

import requests

from nl2sql_gate.github.client import TIMEOUT_S, Client, GitHubTrouble

MAX_ARCHIVE = 256 * 1024 * 1024
_CHUNK = 1 << 16
_REDIRECTED = (301, 302, 303, 307, 308)
_WORST = 300


class NotInArchive(Exception):
    """The archive lacks a file, or it is larger than anybody would make it."""


def member(archive: bytes, name: str, *, max_bytes: int) -> bytes:
    """The file called `name` in any folder of a zip archive. Raises `NotInArchive`; never unpacks more than `max_bytes`."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            found = next((each for each in opened.infolist() if each.filename.rpartition("/")[2] == name), None)
            if found is None:
                message = f"there is no {name} in it"
                raise NotInArchive(message)
            with opened.open(found) as file:
                # The size that an archive states may be a lie: what counts is what comes out.
                content = file.read(max_bytes + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        message = f"it is no readable zip archive ({type(error).__name__})"
        raise NotInArchive(message) from error
    if len(content) > max_bytes:
        message = f"{name} in it is larger than {max_bytes:,} bytes"
        raise NotInArchive(message)
    return content


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact and the run that made it."""

    number: int
    name: str
    head_sha: str = ""
    head_branch: str = ""


def of_run(client: Client, run_id: int) -> list[Artifact]:
    """The artifacts of a workflow run that still exist. Raises `GitHubTrouble`."""
    found = client.read("the artifacts of the run cannot be read", f"actions/runs/{run_id}/artifacts", per_page=100)
    return _artifacts(found)


def named(client: Client, name: str) -> list[Artifact]:
    """The artifacts of that name in the repository that still exist, the newest first. Raises `GitHubTrouble`."""
    return _artifacts(client.read("the artifacts cannot be read", "actions/artifacts", name=name, per_page=100))


def download(client: Client, artifact: Artifact) -> bytes:
    """The archive's content. Raises `GitHubTrouble`, also for an archive beyond any sense."""
    what = f"the artifact {artifact.name!r} cannot be fetched"
    return client.call(what, lambda: _download(client, what, artifact.number))


def _artifacts(answer: Any) -> list[Artifact]:
    found = answer.get("artifacts", []) if isinstance(answer, dict) else []
    made = []
    for each in found:
        run = each.get("workflow_run") or {}
        if not each.get("expired"):
            made.append(
                Artifact(int(each["id"]), str(each["name"]), str(run.get("head_sha", "")), str(run.get("head_branch", "")))
            )
    return sorted(made, key=lambda artifact: -artifact.number)


def _download(client: Client, what: str, number: int) -> bytes:
    # Its address is made here, not taken from the answer: the token goes to the API and nowhere else.
    address = client.address(f"actions/artifacts/{number}/zip")
    response = requests.get(address, headers=client.headers(), timeout=TIMEOUT_S, stream=True, allow_redirects=False)
    if response.status_code in _REDIRECTED:
        response = requests.get(response.headers["location"], timeout=TIMEOUT_S, stream=True)
    if response.status_code >= _WORST:
        raise GitHubTrouble(what, response.status_code, response.reason or "")
    parts, size = [], 0
    for part in response.iter_content(_CHUNK):
        size += len(part)
        if size > MAX_ARCHIVE:
            raise GitHubTrouble(what, 0, f"it is larger than {MAX_ARCHIVE / 1e6:.0f} MB")
        parts.append(part)
    return b"".join(parts)
