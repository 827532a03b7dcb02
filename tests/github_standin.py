"""A stateful stand-in for GitHub's API on loopback: it checks every request against the public description, and fails as told."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

REPOSITORY = "org/repo"
TOKEN = "ghs_planted"
BEYOND = {
    ("DELETE", "issues/comments"),
    ("GET", "pulls"),
    ("GET", "actions/artifacts"),
    ("GET", "zip"),
    ("GET", "compare"),
    ("POST", "graphql"),
}
"""Routes that the shared description leaves out."""


@dataclass
class Fault:
    """An answer in place of the right one, `times` times. `carried_out` lets the request happen all the same.

    Status 0 is no answer at all: the connection stays open.
    """

    method: str
    path: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "no"
    times: int = 1
    carried_out: bool = False


async def _silence(fault: Fault) -> None:
    if fault.status == 0:
        await asyncio.Event().wait()


@dataclass
class _Request:
    host_url: str
    path: str
    method: str
    body: bytes | None
    content_type: str
    parameters: RequestParameters
    full_url_pattern: str = ""


class GitHub:
    """Comments, check runs, pull requests and artifacts of one repository."""

    def __init__(self, description: dict[str, Any] | None) -> None:
        self.comments: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.archives: dict[int, bytes] = {}
        self.commits: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str]] = []
        self.problems: list[str] = []
        self.login = "github-actions[bot]"
        self.viewer: str | None = self.login
        """What GraphQL says of the token's login; none for a host without GraphQL."""
        self.may_edit_others = True
        self.before_write: Callable[[], None] | None = None
        self.url = ""
        self._next = 1000
        self._description = description
        self._openapi: OpenAPI | None = None
        self._lock = threading.Lock()

    def add_comment(self, body: str, login: str = "someone") -> dict[str, Any]:
        """A comment that is there already."""
        self._next += 1
        made = {
            "id": self._next,
            "body": body,
            "user": {"login": login, "id": 1},
            "url": f"{self.url}/repos/{REPOSITORY}/issues/comments/{self._next}",
        }
        self.comments.append(made)
        return made

    def own(self) -> list[str]:
        """Bodies of the bot's comments."""
        return [each["body"] for each in self.comments if each["user"]["login"] == self.login]

    def methods(self, part: str = "comments") -> list[str]:
        """Methods of the requests to paths with `part`, in order."""
        return [method for method, path in self.requests if part in path]

    def add_artifact(self, name: str, files: dict[str, bytes], *, run_id: int = 5, **more: Any) -> None:
        """An artifact with these files."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in files.items():
                archive.writestr(path, content)
        self._next += 1
        self.archives[self._next] = stream.getvalue()
        url = f"{self.url}/repos/{REPOSITORY}/actions/artifacts/{self._next}"
        self.artifacts.append(
            {
                "id": self._next,
                "name": name,
                "url": url,
                "archive_download_url": f"{url}/zip",
                "expired": False,
                "workflow_run": {"id": run_id},
                **more,
            }
        )

    async def answer(self, request: web.Request) -> web.Response:
        """One request: noted, checked, failed where told, else carried out."""
        body = await request.read()
        path = request.path.removeprefix(f"/repos/{REPOSITORY}/")
        self.requests.append((request.method, path))
        if path == "signed-zip/1":
            return self._signed(request)
        if request.headers.get("Authorization", "").split(" ")[-1] != TOKEN:
            return web.json_response({"message": "Bad credentials"}, status=401)
        self._check(request, path, body)
        fault = next((each for each in self.faults if each.times and each.method == request.method and each.path in path), None)
        if fault is not None:
            fault.times -= 1
            if not fault.carried_out:
                await _silence(fault)
                return web.json_response({"message": fault.message}, status=fault.status, headers=fault.headers)
        with self._lock:
            done = self._carry_out(request, path, json.loads(body) if body else {})
        if fault is not None:
            await _silence(fault)
        return done if fault is None else web.json_response({"message": fault.message}, status=fault.status)

    def _signed(self, request: web.Request) -> web.Response:
        if "Authorization" in request.headers:
            self.problems.append("the token was sent to the host of the archives")
        return web.Response(body=self.archives[int(request.query["id"])])

    def _carry_out(self, request: web.Request, path: str, body: Any) -> web.Response:  # noqa: C901 - a table of routes
        parts = path.split("/")
        match (request.method, parts):
            case ("POST", ["", "graphql"]) if self.viewer is not None:
                return web.json_response({"data": {"viewer": {"login": self.viewer}}})
            case ("GET", ["issues", _, "comments"]):
                return self._page(request, self.comments)
            case ("POST", ["issues", _, "comments"]):
                self._hook()
                return web.json_response(self.add_comment(body["body"], self.login), status=201)
            case ("PATCH" | "DELETE", ["issues", "comments", number]):
                self._hook()
                return self._edit(request.method, int(number), body)
            case ("POST", ["check-runs"]):
                self.checks.append(
                    {
                        "id": 1,
                        "url": f"{self.url}/repos/{REPOSITORY}/check-runs/1",
                        **body,
                        "batches": [body["output"]["annotations"]],
                    }
                )
                return web.json_response({key: value for key, value in self.checks[-1].items() if key != "batches"}, status=201)
            case ("PATCH", ["check-runs", _]):
                self.checks[-1]["batches"].append(body["output"]["annotations"])
                return web.json_response({"id": 1, "url": f"{self.url}/repos/{REPOSITORY}/check-runs/1"})
            case ("GET", ["pulls"]):
                return self._page(request, [each for each in self.pulls if each["label"] == request.query.get("head")])
            case ("GET", ["actions", "runs", run, "artifacts"]):
                found = [each for each in self.artifacts if each["workflow_run"]["id"] == int(run)]
                return web.json_response({"total_count": len(found), "artifacts": found})
            case ("GET", ["actions", "artifacts"]):
                found = [each for each in self.artifacts if each["name"] == request.query.get("name")]
                return web.json_response({"total_count": len(found), "artifacts": found})
            case ("GET", ["actions", "artifacts", number, "zip"]):
                target = self.url.replace("127.0.0.1", "localhost") + f"/repos/{REPOSITORY}/signed-zip/1?id={number}"
                return web.Response(status=302, headers={"Location": target})
            case ("GET", ["compare", span]) if span in self.commits:
                return web.json_response({"merge_base_commit": {"sha": self.commits[span]}})
        return web.json_response({"message": "Not Found"}, status=404)

    def _hook(self) -> None:
        hook, self.before_write = self.before_write, None
        if hook is not None:
            hook()

    def _edit(self, method: str, number: int, body: Any) -> web.Response:
        found = next((each for each in self.comments if each["id"] == number), None)
        if found is None:
            return web.json_response({"message": "Not Found"}, status=404)
        if found["user"]["login"] != self.login and not self.may_edit_others:
            return web.json_response({"message": "Resource not accessible by integration"}, status=403)
        if method == "DELETE":
            self.comments.remove(found)
            return web.Response(status=204)
        found["body"] = body["body"]
        return web.json_response(found)

    def _page(self, request: web.Request, everything: list[dict[str, Any]]) -> web.Response:
        size, page = int(request.query.get("per_page", 30)), int(request.query.get("page", 1))
        shown = everything[(page - 1) * size : page * size]
        headers = {}
        if page * size < len(everything):
            headers["Link"] = f'<{self.url}{request.path}?per_page={size}&page={page + 1}>; rel="next"'
        return web.json_response(shown, headers=headers)

    def _check(self, request: web.Request, path: str, body: bytes) -> None:
        """Hold the request to GitHub's description."""
        if self._description is None or any(request.method == method and part in path for method, part in BEYOND):
            return
        if self._openapi is None:
            self._openapi = OpenAPI.from_dict({**self._description, "servers": [{"url": self.url}]})
        asked = _Request(
            host_url=self.url,
            path=request.path,
            method=request.method.lower(),
            body=body or None,
            content_type=request.content_type,
            parameters=RequestParameters(query=ImmutableMultiDict(dict(request.query)), header=Headers(dict(request.headers))),
            full_url_pattern=self.url + request.path,
        )
        try:
            self._openapi.validate_request(asked)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shall show it
            self.problems.append(f"{request.method} {path}: {error} {error.__cause__ or ''}")
        size = len(json.loads(body).get("body", "").encode()) if body else 0
        if size > 65_536:
            self.problems.append(f"a body of {size} bytes")


@pytest.fixture(scope="session", name="description")
def described(request: pytest.FixtureRequest) -> dict[str, Any] | None:
    """GitHub's own description of the routes; without the shared data requests go unchecked."""
    try:
        folder: Path = request.getfixturevalue("shared_data")
    except pytest.skip.Exception:
        return None
    found: dict[str, Any] = json.loads((folder / "data" / "github-openapi" / "github-api-slice.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(name="github")
def github_at_hand(description: dict[str, Any] | None) -> Iterator[GitHub]:
    """GitHub's stand-in, served from a thread of its own; at the end no request may have been a bad one."""
    state = GitHub(description)
    loop = asyncio.new_event_loop()
    started = threading.Event()
    runners: list[web.AppRunner] = []

    async def start() -> None:
        app = web.Application(client_max_size=10**8)
        app.router.add_route("*", "/{tail:.*}", state.answer)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        runners.append(runner)
        state.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        started.set()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runners[0].cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert started.wait(10)
    yield state
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    assert state.problems == []
