"""What `serve` can be told to get wrong, and when.

`KIND:SHARE` meets a share of the attempts, `KIND:PATTERN` every attempt at the items whose id matches. A number is a share; an id
that is a number is written `id=43`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256

from nl2sql_gate.errors import SettingsError

ERROR_STATUSES = range(400, 600)
KINDS = {
    "hang": "never answers",
    "reset": "closes the connection without an answer",
    "empty": "answers with no text",
    "cut-off": "answers with the first half of the reply, finish_reason length",
    "endless": "answers with a reply of one gibibyte",
    "bomb": "answers with a packed megabyte that unpacks to one gibibyte",
}
"""Beside these, every HTTP error status is a kind: 400 to 599."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request: the case's header or the user's text, which attempt at it this is (from 1), the item where it is known."""

    subject: str
    number: int
    item_id: str = ""


@dataclass(frozen=True, slots=True)
class FaultRule:
    """One fault, for the items of a `pattern`, or for a `share` of all attempts."""

    kind: str
    share: float = 0.0
    pattern: str = ""

    def meets(self, request: Attempt, seed: int) -> bool:
        """Whether this attempt fails."""
        if self.pattern:
            return fnmatchcase(request.item_id, self.pattern)
        drawn = sha256(f"{seed}\0{self.kind}\0{request.subject}\0{request.number}".encode("utf-8", "replace")).digest()
        return int.from_bytes(drawn[:8], "big") < self.share * 2**64


def parse_fault(text: str) -> FaultRule:
    """The rule that `text` writes down, like `429:0.1` or `hang:orders-0*`. Raises `SettingsError` where it is none."""
    kind, _, when = text.partition(":")
    if kind not in KINDS and not (kind.isdecimal() and int(kind) in ERROR_STATUSES):
        raise _wrong(text, f"{kind!r} is no kind of fault")
    if not when:
        raise _wrong(text, "after the colon stands a share from 0 to 1, or a pattern of item ids")
    try:
        share = float(when)
    except ValueError:
        return FaultRule(kind, pattern=when.removeprefix("id="))
    if not 0 <= share <= 1:
        raise _wrong(text, "a share is at least 0 and at most 1")
    return FaultRule(kind, share=share)


def first_fault(rules: tuple[FaultRule, ...], request: Attempt, *, seed: int) -> str:
    """The kind of the first rule that meets this attempt; empty where none does."""
    return next((rule.kind for rule in rules if rule.meets(request, seed)), "")


def _wrong(text: str, problem: str) -> SettingsError:
    return SettingsError(
        f"--fault {text} cannot be understood",
        where=[problem],
        meaning="Nothing is served.",
        next_step=f"Kinds: {', '.join(KINDS)}, an HTTP status from 400 to 599. Example: --fault 429:0.1 --fault 'hang:orders-0*'",
    )
