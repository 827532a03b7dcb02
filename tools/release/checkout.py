"""The files of the checkout that carry a version, and what a release changes in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from changelog import released, reopened, section
from pinning import image_of, pinned, unpinned
from versions import Version

IMAGE = "ghcr.io/nl2sql-gate/nl2sql-gate"
ACTION = "nl2sql-gate/nl2sql-gate"
_PYPROJECT = re.compile(r'^version = "(?P<version>[^"]+)"$', re.MULTILINE)
_PACKAGE = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
_OWN_USES = re.compile(rf"(?P<start>uses: {re.escape(ACTION)}@)(?P<ref>\S+)")
FOLLOWED = "v1"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout of this repository."""

    root: Path

    def prepare(self, version: Version, date: str) -> list[Path]:
        """Make it the commit that is tagged: version, changelog, the prebuilt image, our own action by exact version."""
        return [
            self._edit("pyproject.toml", lambda text: _versioned(text, _PYPROJECT, version)),
            self._edit("nl2sql_gate/__init__.py", lambda text: _versioned(text, _PACKAGE, version)),
            self._edit("CHANGELOG.md", lambda text: released(text, version.text, date)),
            self._edit("action.yml", lambda text: pinned(text, f"{IMAGE}:{version.text}")),
            self._edit(".github/workflows/gate.yml", lambda text: _OWN_USES.sub(rf"\g<start>{version.tag}", text)),
        ]

    def reopen(self) -> list[Path]:
        """Make it a branch again: the image built from the Dockerfile, a place for what comes next."""
        return [
            self._edit("CHANGELOG.md", reopened),
            self._edit("action.yml", unpinned),
            self._edit(".github/workflows/gate.yml", lambda text: _OWN_USES.sub(rf"\g<start>{FOLLOWED}", text)),
        ]

    def faults(self, version: Version) -> list[str]:
        """Why this is not the commit of `version`; empty where it is."""
        found = []
        for name, pattern in (("pyproject.toml", _PYPROJECT), ("nl2sql_gate/__init__.py", _PACKAGE)):
            there = _one(self.text(name), pattern)["version"]
            if there != version.text:
                found.append(f"{name} says {there}")
        image = f"docker://{IMAGE}:{version.text}"
        if image_of(self.text("action.yml")) != image:
            found.append(f"action.yml runs {image_of(self.text('action.yml'))}, not {image}")
        refs = {match["ref"] for match in _OWN_USES.finditer(self.text(".github/workflows/gate.yml"))}
        if refs != {version.tag}:
            found.append(f"gate.yml uses our action at {', '.join(sorted(refs))}")
        if not section(self.text("CHANGELOG.md"), version.text, default=""):
            found.append(f"CHANGELOG.md has no section {version.text}")
        return found

    def text(self, name: str) -> str:
        """The content of a file."""
        return (self.root / name).read_text(encoding="utf-8")

    def _edit(self, name: str, change: Callable[[str], str]) -> Path:
        path = self.root / name
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        return path


def _versioned(text: str, pattern: re.Pattern[str], version: Version) -> str:
    match = _one(text, pattern)
    return f"{text[: match.start('version')]}{version.text}{text[match.end('version') :]}"


def _one(text: str, pattern: re.Pattern[str]) -> re.Match[str]:
    found = list(pattern.finditer(text))
    if len(found) != 1:
        message = f"{len(found)} lines match {pattern.pattern!r}"
        raise ValueError(message)
    return found[0]
