"""The environment that a program of the user's may see: without the runner's tokens, the action's inputs and command files."""

from __future__ import annotations

from collections.abc import Mapping

HIDDEN_PREFIXES = ("ACTIONS_", "INPUT_", "STATE_")
HIDDEN = frozenset(
    {"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}
)


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the runner's tokens, the action's inputs (keys among them) and the runner's command files."""
    return {
        name: value for name, value in environment.items() if name not in HIDDEN and not name.upper().startswith(HIDDEN_PREFIXES)
    }
