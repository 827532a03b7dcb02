"""GitHub's API through PyGithub, with patience of our own: bounded waits, and troubles as words instead of stack traces."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from nl2sql_gate.github.untrusted import one_line

if TYPE_CHECKING:
    from github import Github
    from github.GithubException import GithubException
    from github.Repository import Repository

T = TypeVar("T")

PATIENCE_S = 90.0
"""All waiting of one client together, for answers that do not come too: a comment is not worth more of a job's time."""

TIMEOUT_S = 20
_FIRST_PAUSE_S = 1.0
_ATTEMPTS = 6
_SERVER_ERROR = 500
_FORBIDDEN, _NOT_FOUND, _TOO_MANY = 403, 404, 429
_WIDTH = 300


class GitHubTrouble(Exception):
    """GitHub did not do what was asked. `status` is the HTTP status, 0 where there was no answer."""

    def __init__(self, what: str, status: int, said: str) -> None:
        super().__init__(f"{what}: {f'HTTP {status} ' if status else ''}{said}")
        self.what = what
        self.status = status

    @property
    def is_forbidden(self) -> bool:
        """Whether the token lacks the permission: GitHub also says 404 to those who may not know."""
        return self.status in {_FORBIDDEN, _NOT_FOUND}

    @property
    def may_have_happened(self) -> bool:
        """Whether the request may have been carried out although no good answer came."""
        return self.status == 0 or self.status >= _SERVER_ERROR


class Client:
    """One repository seen with one token. Nothing is asked before the first call."""

    def __init__(
        self,
        repository: str,
        token: str,
        *,
        api_url: str = "https://api.github.com",
        patience_s: float = PATIENCE_S,
        timeout_s: int = TIMEOUT_S,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._repository = repository
        self._token = token
        self._api_url = api_url
        self._left_s = patience_s
        self._timeout_s = timeout_s
        self._wait = wait
        self._github: Github | None = None

    @property
    def repository(self) -> Repository:
        """The repository, without having asked for it."""
        return self.github.get_repo(self._repository)

    def read(self, what: str, path: str, **parameters: str | int) -> Any:
        """The JSON at a path below the repository. Raises `GitHubTrouble`."""
        address = f"/repos/{self._repository}/{path}"
        return self.call(what, lambda: self.github.requester.requestJsonAndCheck("GET", address, parameters=parameters)[1])

    def address(self, path: str) -> str:
        """The address of a path below the repository."""
        return f"{self._api_url}/repos/{self._repository}/{path}"

    def headers(self) -> dict[str, str]:
        """What a request of our own to the same API carries."""
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/vnd.github+json", "User-Agent": "nl2sql-gate"}

    @property
    def github(self) -> Github:
        """PyGithub's own client. Its retries are off: they would wait for hours when a limit is reached."""
        if self._github is None:
            # Only here: it takes longer to import than `--help` may take.
            from github import Auth, Github

            self._github = Github(
                auth=Auth.Token(self._token),
                base_url=self._api_url,
                timeout=self._timeout_s,
                user_agent="nl2sql-gate",
                per_page=100,
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,
                lazy=True,
            )
        return self._github

    def call(self, what: str, action: Callable[[], T], *, repeatable: bool = True) -> T:
        """The result of `action`. Limits, server errors and lost connections are waited out while patience lasts.

        What is not `repeatable` (a creation) is tried again only after a refusal, never after a failure in which it may have
        happened. Raises `GitHubTrouble`.
        """
        import requests
        from github import GithubException

        for attempt in range(_ATTEMPTS):
            try:
                return action()
            except GithubException as error:
                pause = _pause(error, attempt)
                sure = error.status < _SERVER_ERROR
                trouble = GitHubTrouble(what, error.status, _said(error))
            except requests.RequestException as error:
                if isinstance(error, requests.Timeout):
                    self._left_s -= self._timeout_s
                pause, sure = _FIRST_PAUSE_S * 2**attempt, False
                trouble = GitHubTrouble(what, 0, f"no answer ({type(error).__name__})")
            if pause is None or pause > self._left_s or attempt == _ATTEMPTS - 1 or not (sure or repeatable):
                raise trouble
            self._left_s -= pause
            self._wait(pause)
        raise AssertionError(what)

    def pause(self, seconds: float) -> None:
        """Wait, where others may be writing too."""
        self._wait(seconds)

    def close(self) -> None:
        """Release connections."""
        if self._github is not None:
            self._github.close()


def _pause(error: GithubException, attempt: int) -> float | None:
    """Seconds after which trying again makes sense; `None` where it never does."""
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    used_up = headers.get("x-ratelimit-remaining") == "0"
    signs = used_up or "retry-after" in headers or "rate limit" in _said(error)
    limited = error.status == _TOO_MANY or (error.status == _FORBIDDEN and signs)
    if not limited and error.status < _SERVER_ERROR:
        return None
    after = _seconds(headers.get("retry-after"))
    if after is not None:
        return after
    reset = _seconds(headers.get("x-ratelimit-reset")) if used_up else None
    return float(_FIRST_PAUSE_S * 2**attempt) if reset is None else max(1.0, reset - time.time())


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None


def _said(error: GithubException) -> str:
    data: Any = error.data
    message = data.get("message", "") if isinstance(data, dict) else str(data or "")
    return one_line(str(message), width=_WIDTH)
