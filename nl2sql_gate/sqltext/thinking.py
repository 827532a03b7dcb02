"""What a model thought aloud before it answered, taken out of a reply."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue"
_MARK = re.compile(
    rf"(?P<open><(?:{_NAMES})>|\[THINK\]|◁think▷)|(?P<close></(?:{_NAMES})>|\[/THINK\]|◁/think▷)|^(?P<fence>[ \t>]*+(?:```|~~~))",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_ANY_CHANNEL = "<|channel|>"
_END_OF_TURN = re.compile(r"<\|(?:im_end|eot_id|end|return|endoftext|end_of_text)\|>|</s>\s*\Z")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A reply without its thinking. `is_unfinished` where the thinking never came to an end."""

    text: str
    is_unfinished: bool = False


def without_thinking(reply: str) -> Spoken:
    """What of `reply` is said to the user.

    A closing tag without an opening one ends thoughts too: some servers swallow the first. Tags inside a fenced block or a
    literal are text, unless a closing tag stands alone on its line.
    """
    if _ANY_CHANNEL in reply:
        before, found, final = reply.rpartition(_FINAL_CHANNEL)
        reply = final if found else before
        if not found:
            return Spoken("", is_unfinished=True)
    reply = _before_end_of_turn(reply)
    marks = list(_MARK.finditer(reply))
    kept: list[str] = []
    position, index, in_fence = 0, 0, False
    while index < len(marks):
        mark = marks[index]
        index += 1
        is_text = in_fence or _is_quoted(reply, mark)
        if mark.lastgroup == "fence":
            in_fence = not in_fence
        elif mark.lastgroup == "close":
            if not is_text or _stands_alone(reply, mark):
                kept, position, in_fence = [], mark.end(), False
        elif not is_text:
            close = next((i for i in range(index, len(marks)) if marks[i].lastgroup == "close"), None)
            if close is not None:
                kept.append(reply[position : mark.start()])
                position, index = marks[close].end(), close + 1
            elif _starts_line(reply, mark):
                return Spoken("".join([*kept, reply[position : mark.start()]]), is_unfinished=True)
            else:
                break
    return Spoken("".join([*kept, reply[position:]]))


def _before_end_of_turn(reply: str) -> str:
    end = _END_OF_TURN.search(reply)
    return reply[: end.start()] if end and reply[: end.start()].strip() else reply


def _is_quoted(reply: str, mark: re.Match[str]) -> bool:
    return reply[max(0, mark.start() - 1) : mark.start()] in {"'", '"', "`", "%"}


def _starts_line(reply: str, mark: re.Match[str]) -> bool:
    before = reply[max(0, mark.start() - 200) : mark.start()].rstrip(" \t")
    return not before or before.endswith("\n")


def _stands_alone(reply: str, mark: re.Match[str]) -> bool:
    after = reply[mark.end() : mark.end() + 200].lstrip(" \t\r")
    return _starts_line(reply, mark) and (not after or after.startswith("\n"))
