"""Action inputs (`INPUT_…`) as arguments of the command line: the same words, checked by us, since the runner checks nothing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.options import BY_NAME, OPTIONS


@dataclass(frozen=True, slots=True)
class Input:
    """An input that is no option of a run."""

    name: str
    help: str
    default: str = ""


EXTRA: tuple[Input, ...] = (
    Input("config", "Settings file, relative to the workspace.", "nl2sql-gate.yml"),
    Input("only", "Items to run, one ID[:DIALECT] a line."),
    Input("set", "Other settings, one KEY=VALUE a line, for example policy.alpha=0.01."),
    Input("working_directory", "Folder of the workspace in which the gate runs.", "."),
    Input("github_token", "Token for the pull-request comment and stored baselines.", "${{ github.token }}"),
)
KNOWN = tuple(option.name for option in OPTIONS) + tuple(each.name for each in EXTRA)
_HOST_PATH = re.compile(r"^/(?:home/runner/work|__w)/(?P<repository>[^/]+)/(?P=repository)/?")


def read_inputs(environ: Mapping[str, str]) -> dict[str, str]:
    """The inputs that are set, by name. The runner keeps hyphens and upper-cases; both spellings are taken.

    Raises `SettingsError` for an input that does not exist: a misspelled one would otherwise do nothing.
    """
    found: dict[str, str] = {}
    unknown: list[str] = []
    for variable, value in environ.items():
        if not variable.startswith("INPUT_"):
            continue
        name = variable.removeprefix("INPUT_").lower().replace("-", "_").replace(" ", "_")
        if name not in KNOWN:
            near = difflib.get_close_matches(name, KNOWN, n=1)
            unknown.append(f"{name}" + (f": did you mean {near[0]!r}?" if near else ""))
        elif value.strip():
            found[name] = value.strip()
    if unknown:
        raise SettingsError(
            f"the action has no input {', '.join(part.partition(':')[0] for part in unknown)}",
            where=[part for part in unknown if ":" in part],
            meaning="The run did not start.",
            next_step="Correct the names under with:. Any other setting goes through set:, one KEY=VALUE a line.",
        )
    return found


def arguments_from_inputs(environ: Mapping[str, str]) -> list[str]:
    """Arguments of `nl2sql-gate run`. A settings file that nobody named may be absent."""
    inputs = read_inputs(environ)
    arguments = ["run"]
    config = inputs.get("config")
    if config and config != EXTRA[0].default:
        arguments += ["--config", workspace_path(config)]
    for name, value in inputs.items():
        option = BY_NAME.get(name)
        if option is None:
            continue
        values = [part.strip() for part in re.split(r"[,\n]", value) if part.strip()] if option.many else [value]
        for each in values:
            arguments += [option.flag, workspace_path(each) if option.path else each]
    for name, flag in (("only", "--only"), ("set", "--set")):
        for line in inputs.get(name, "").splitlines():
            if line.strip():
                arguments += [flag, line.strip()]
    return arguments


def workspace_path(path: str) -> str:
    """`path` relative to the workspace where it is the runner's own absolute path: in the container that one does not exist."""
    return _HOST_PATH.sub("", path) or "." if _HOST_PATH.match(path) else path
