"""Workflow commands: what a runner reads from the log, and text that it must not read as such."""

from __future__ import annotations

import re
import secrets

_V2 = re.compile(r"^([^\S\n]*)::", re.MULTILINE)
_V1 = "##["
"""The older form of a command, which a runner finds anywhere in a line."""


def command(name: str, message: str = "", **properties: str | int) -> str:
    """One command as a line, escaped so that neither the message nor a property can end it or start another."""
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value not in {"", 0})
    return f"::{name}{' ' if given else ''}{given}::{_data(message)}"


def add_masks(values: list[str]) -> list[str]:
    """Commands that mask `values` in logs and summaries from here on; each line of a value is masked by itself."""
    lines = {line.strip() for value in values for line in value.splitlines() if line.strip()}
    return [command("add-mask", line) for line in sorted(lines)]


def quoted(text: str, *, token: str = "") -> str:
    """`text` between markers that make the runner ignore any command in it. The token is random: the text cannot know it."""
    token = token or secrets.token_hex(16)
    return f"::stop-commands::{token}\n{harmless(text)}\n::{token}::"


def harmless(text: str) -> str:
    """`text` in which nothing reads like a command, whatever the runner takes for a line end. Colours stay."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _V2.sub(r"\1\\::", lines).replace(_V1, "##\\[")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
