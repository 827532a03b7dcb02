"""Secrets that a runner is told to mask, before anything else is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from nl2sql_gate.github.commands import add_masks
from nl2sql_gate.github.redaction import Redactor


def in_actions(environ: Mapping[str, str]) -> bool:
    """Whether a runner reads what is printed: elsewhere a command that masks a secret would print it."""
    return environ.get("GITHUB_ACTIONS") == "true"


def mask(redactor: Redactor, environ: Mapping[str, str] = os.environ) -> None:
    """Make the runner mask the secrets known so far. Before anything else is printed: what was printed before stays as it was."""
    if in_actions(environ):
        for line in add_masks(redactor.values()):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()
