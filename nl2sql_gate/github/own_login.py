"""Under which login a token comments: the job's own bot, an app's, or a person's. By REST an app's token is not told its name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nl2sql_gate.github.client import Client, GitHubTrouble

BOT = "github-actions[bot]"
"""The login of the token that every job has."""

_QUERY = "query { viewer { login } }"


class OwnLogin:
    """Whose comments are ours. Asked for only where somebody else's comments carry our marker, or ours may not be edited.

    Anybody can write a marker, so a comment is ours by its author alone.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._name = BOT
        self._denied: set[str] = set()
        self._is_asked = False
        self._is_sure = False

    def among(self, authors: Collection[str]) -> str:
        """Our login, given who has written comments with our marker; empty where none of them is ours."""
        if not self._is_sure and any(author != self._name for author in authors):
            self._ask()
        # GraphQL may name an app without the suffix, which no person's login can have.
        names = (self._name, f"{self._name}[bot]")
        return next((name for name in names if name in authors and name not in self._denied), "")

    def wrote(self, login: str) -> None:
        """A comment that we made bears this login: that is certain."""
        self._name, self._is_sure = login, True
        self._denied.discard(login)

    def may_not_edit(self, login: str) -> bool:
        """Take note of a refusal to edit a comment of `login`; whether that can mean that it is not ours."""
        if self._is_sure or login in self._denied:
            return False
        if self._ask() and login in {self._name, f"{self._name}[bot]"}:
            return False
        self._denied.add(login)
        return True

    def _ask(self) -> bool:
        """Whether our login is certain now."""
        if self._is_asked:
            return self._is_sure
        self._is_asked = True
        try:
            answer = self._client.call(
                "the token's login cannot be read", lambda: self._client.github.requester.graphql_query(_QUERY, {})[1]
            )
        except GitHubTrouble:
            # Not every host has GraphQL; the first comment that we make tells it too.
            return False
        name = _login_in(answer)
        if name:
            self._name, self._is_sure = name, True
        return self._is_sure


def _login_in(answer: Any) -> str:
    for key in ("data", "viewer", "login"):
        answer = answer.get(key) if isinstance(answer, dict) else None
    return answer if isinstance(answer, str) else ""
