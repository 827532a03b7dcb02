"""One comment of the gate on a pull request, edited in place, whoever else edits it at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nl2sql_gate.github import comment_body
from nl2sql_gate.github.client import Client, GitHubTrouble
from nl2sql_gate.github.comment_body import Section
from nl2sql_gate.github.own_login import OwnLogin

if TYPE_CHECKING:
    from github.IssueComment import IssueComment

_ROUNDS = 5
_SECOND_LOOK_S = 2.0
_GONE = {404, 410}
_FORBIDDEN = 403

PERMISSIONS = """\
permissions:
  contents: read
  pull-requests: write"""

Render = Callable[[tuple[str, ...], int], str]
"""The text of a section, from what was said earlier (one line each) and the bytes there are for it."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who comments: the gate, the workflow run, the leg of a matrix."""

    gate: str
    run: tuple[int, int] = (0, 1)
    leg: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a comment, in words for the log; `is_there` says whether the pull request shows the new text.

    `failed` tells that it should, and that something stood in the way.
    """

    is_there: bool
    words: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be said: how the text is made, the status and the commit it is about.

    With `only_update` an existing comment is kept true, and none is created.
    """

    render: Render
    status: str
    commit: str
    only_update: bool = False


def post(client: Client, number: int, speaker: Speaker, message: Message) -> Posted:
    """Bring the gate's comment on pull request `number` up to date. Never raises: a comment does not change a verdict."""
    try:
        return _post(client, number, speaker, message)
    except GitHubTrouble as trouble:
        return Posted(is_there=False, words=_advice(trouble), failed=True)


def _post(client: Client, number: int, speaker: Speaker, message: Message) -> Posted:
    said = Section(comment_body.leg_name(speaker.leg), speaker.run, ((message.status, message.commit),))
    us = OwnLogin(client)
    for _ in range(_ROUNDS):
        own = _own(client, number, speaker, us)
        old = comment_body.sections(own[0].body) if own else {}
        if comment_body.is_stale(old, said):
            return Posted(is_there=False, words="a later run has commented already; its comment stands")
        if not own and message.only_update:
            return Posted(is_there=False, words="nothing to say in a comment")
        old = comment_body.without_the_gone(old, said, speaker.gate)
        section = comment_body.merged(old, said)[said.leg]
        earlier = tuple(f"{status} at {commit[:8]}" if commit else status for status, commit in section.said[1:])
        if later := comment_body.later_commit(old, said):
            # Other legs have gone on to a newer commit: a late report must not stand beside theirs as if it were of it.
            section = comment_body.behind(section, later, speaker.gate)
        else:
            text = message.render(earlier, comment_body.room(old, said.leg))
            section = replace(section, text=comment_body.clean(text))
        try:
            _write(client, number, own, comment_body.body(speaker.gate, {**old, section.leg: section}), us)
        except GitHubTrouble as trouble:
            # Deleted between our look and our write; or created, though the answer got lost: look again.
            if (own and trouble.status in _GONE) or (not own and trouble.may_have_happened):
                continue
            # An app may not edit what another bot wrote: then it is not ours, and we look for ours, or make it.
            if own and trouble.status == _FORBIDDEN and us.may_not_edit(own[0].user.login):
                continue
            raise
        if _settled(client, number, speaker, section, us):
            return Posted(is_there=True, words=f"comment on pull request {number} {'updated' if own else 'created'}")
    words = "the comment kept changing under our hands; the report is in the run's summary"
    return Posted(is_there=False, words=words, failed=True)


def _own(client: Client, number: int, speaker: Speaker, us: OwnLogin) -> list[IssueComment]:
    """The gate's comments on all pages, the oldest first. The login matters too: anybody can write a marker."""
    issue = client.repository.get_issue(number)
    found = client.call("the comments cannot be read", lambda: list(issue.get_comments()))
    marked = [each for each in found if each.user is not None and comment_body.is_own(each.body or "", speaker.gate)]
    login = us.among({each.user.login for each in marked})
    return sorted((each for each in marked if each.user.login == login), key=lambda each: each.id)


def _write(client: Client, number: int, own: list[IssueComment], text: str, us: OwnLogin) -> None:
    if own:
        client.call("the comment cannot be edited", lambda: own[0].edit(text))
    else:
        issue = client.repository.get_issue(number)
        created = client.call("the comment cannot be created", lambda: issue.create_comment(text), repeatable=False)
        us.wrote(created.user.login)


def _settled(client: Client, number: int, speaker: Speaker, section: Section, us: OwnLogin) -> bool:
    """Whether the oldest comment says what we said; second ones are removed then.

    Legs that run at the same time may make two comments, or overwrite each other's section between a look and a write: where
    there are legs, a second look comes after a pause.
    """
    if not _is_shown(own := _own(client, number, speaker, us), section):
        return False
    if section.leg:
        client.pause(_SECOND_LOOK_S)
        if not _is_shown(own := _own(client, number, speaker, us), section):
            return False
    there = comment_body.sections(own[0].body)
    for each in own[1:]:
        # What a leg said of an earlier run is no reason to keep a second comment: this one may have let go of it.
        fresh = {leg for leg, found in comment_body.sections(each.body).items() if found.run >= section.run}
        if fresh <= there.keys():
            _delete(client, each)
    return True


def _delete(client: Client, second: IssueComment) -> None:
    try:
        client.call("a second comment cannot be deleted", second.delete)
    except GitHubTrouble as trouble:
        # Another leg saw it too, and was faster.
        if trouble.status not in _GONE:
            raise


def _is_shown(own: list[IssueComment], section: Section) -> bool:
    shown = comment_body.sections(own[0].body).get(section.leg) if own else None
    return shown is not None and (shown.run > section.run or (shown.run == section.run and shown.said == section.said))


def _advice(trouble: GitHubTrouble) -> str:
    words = f"{trouble}. The verdict stands, and the report is in the run's summary."
    if not trouble.is_forbidden:
        return words
    indented = "\n".join(f"    {line}" for line in PERMISSIONS.splitlines())
    step = "Pull requests of forks never get it; the poster workflow comments for them."
    return f"{words}\nThe token may not comment here. Give the job:\n{indented}\n{step}"
